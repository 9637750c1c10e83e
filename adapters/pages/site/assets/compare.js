// Full size on click, and arrow keys: between the pictures of a page, and inside the large view.
const viewer = { pictures: [], at: 0 };

function openViewer(link) {
  const box = byId("lightbox");
  if (!box?.showModal) return false;
  viewer.pictures = [...document.querySelectorAll("[data-full]")].filter(one => one.offsetParent !== null);
  viewer.at = viewer.pictures.indexOf(link);
  viewer.from = link;
  drawViewer();
  if (!box.open) box.showModal();
  return true;
}

function drawViewer() {
  const link = viewer.pictures[viewer.at];
  const label = link.dataset.label ?? link.querySelector("img").alt;
  const move = step => { viewer.at = (viewer.at + step + viewer.pictures.length) % viewer.pictures.length; drawViewer(); };
  viewer.move = move;
  byId("lightbox").replaceChildren(
    el("img", { src: link.href, alt: label }),
    el("div", { class: "bar-of" }, el("p", {}, `${label} · ${viewer.at + 1} of ${viewer.pictures.length}`),
      el("button", { type: "button", onclick: () => move(-1) }, "Previous"), el("button", { type: "button", onclick: () => move(1) }, "Next"),
      el("button", { type: "button", onclick: () => byId("lightbox").close() }, "Close")));
}

function gridMove(link, key) {
  const strips = [...document.querySelectorAll(".strip")].filter(strip => strip.offsetParent !== null);
  const rows = strips.map(strip => [...strip.querySelectorAll("figure")].map(figure => figure.querySelector("[data-full]")));
  const row = rows.findIndex(one => one.includes(link));
  if (row < 0) return null;
  const column = rows[row].indexOf(link);
  const inRow = step => { for (let at = column + step; at >= 0 && at < rows[row].length; at += step) if (rows[row][at]) return rows[row][at]; return null; };
  const inColumn = step => { for (let at = row + step; at >= 0 && at < rows.length; at += step) if (rows[at][column]) return rows[at][column]; return null; };
  return { ArrowLeft: () => inRow(-1), ArrowRight: () => inRow(1), ArrowUp: () => inColumn(-1), ArrowDown: () => inColumn(1) }[key]?.() ?? null;
}

function pictures() {
  document.addEventListener("click", event => {
    const link = event.target.closest?.("[data-full]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && openViewer(link)) event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    const box = byId("lightbox");
    if (box?.open) {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      if (step) { event.preventDefault(); viewer.move(step); }
      return;
    }
    const link = document.activeElement?.closest?.("[data-full]");
    const next = link && gridMove(link, event.key);
    if (next) { event.preventDefault(); next.focus(); next.scrollIntoView({ block: "nearest", inline: "nearest" }); }
  });
  byId("lightbox")?.addEventListener("close", () => (viewer.pictures[viewer.at] ?? viewer.from)?.focus());
}

function chosenModels() { // which models a comparison shows is in its address, too, and goes along to the next
  const box = byId("compare-models");
  const inputs = [...box.querySelectorAll("input")];
  const apply = () => {
    const hidden = new Set(new URLSearchParams(location.hash.slice(1)).get("hide")?.split(",") ?? []);
    for (const input of inputs) input.checked = !hidden.has(input.value);
    for (const chain of document.querySelectorAll(".chain")) chain.hidden = hidden.has(chain.dataset.model);
    for (const link of document.querySelectorAll(".steps a")) link.hash = location.hash;
  };
  box.addEventListener("change", () => {
    const hidden = inputs.filter(input => !input.checked).map(input => input.value);
    history.replaceState(null, "", hidden.length ? `#${new URLSearchParams({ hide: hidden.join(",") })}` : location.pathname + location.search);
    apply();
  });
  addEventListener("hashchange", apply);
  apply();
}
