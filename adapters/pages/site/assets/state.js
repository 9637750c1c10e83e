// What is shown is in the address: #tab?name=value&… so that a link brings back the same view.
const state = { tab: "", isFresh: true, values: new URLSearchParams() };
const shows = {};

function parseHash() {
  const [tab, ...rest] = location.hash.slice(1).split("?");
  return [decoded(tab), new URLSearchParams(rest.join("?"))];
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return ""; } // a broken address leads to the first tab
}

function get(name, otherwise = "") { return state.values.get(name) ?? otherwise; }

function set(changes, redraw = true) {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") state.values.delete(name);
    else state.values.set(name, value);
  }
  const query = state.values.toString();
  history.replaceState(null, "", `#${state.tab}${query ? `?${query}` : ""}`);
  if (redraw) shows[state.tab]?.();
}

function followHash() {
  const [name, values] = parseHash();
  const target = name ? byId(name) : null;
  const section = target?.closest("[data-section]");
  if (name && !section) return; // such as the link that skips to the content
  state.values = values;
  state.isFresh = true; // controls are drawn anew, whatever has the focus
  openTab(section?.id ?? document.querySelector("[data-section]").id);
  if (target && target !== section) target.scrollIntoView();
}

function openTab(id) {
  const moved = state.tab && state.tab !== id;
  state.tab = id;
  for (const section of document.querySelectorAll("[data-section]")) section.classList.toggle("current", section.id === id);
  for (const link of document.querySelectorAll("[data-tab]")) {
    if (link.dataset.tab === id) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    } else link.removeAttribute("aria-current");
  }
  set({}, false);
  shows[id]?.();
  if (moved) window.scrollTo({ top: Math.min(window.scrollY, document.querySelector(".tabs").offsetTop), behavior: "instant" });
}

function filters() {
  for (const box of document.querySelectorAll("[data-filter]")) {
    const list = byId(box.dataset.filter);
    const items = [...list.querySelectorAll("[data-item]")];
    const count = document.querySelector(`[data-count="${box.dataset.filter}"]`);
    const section = box.closest("[data-section]").id;
    const apply = () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of items) {
        const text = item.textContent.toLowerCase();
        item.hidden = !words.every(word => text.includes(word));
        shown += !item.hidden;
      }
      count.textContent = `${shown} of ${items.length}`;
    };
    box.addEventListener("input", () => { set({ [`q-${section}`]: box.value }, false); apply(); });
    shows[section] = () => { box.value = get(`q-${section}`); apply(); };
  }
}
