// The page that is open, and what it does first.
let site = {};

function historyShown() {
  const known = window.facedriftHistory;
  if (!known) return;
  const own = known.snapshots.find(one => one.snapshot === site.snapshot);
  const newest = known.snapshots.find(one => one.snapshot === known.newest);
  const note = byId("newer");
  if (newest && known.newest !== site.snapshot) {
    const isAlone = known.snapshots.filter(one => one.created.slice(0, 10) === newest.created.slice(0, 10)).length < 2;
    note.append(own?.whole === false ? "" : "This is not the newest snapshot. ", // that it is a part is said below
      el("a", { href: `../${newest.snapshot}/index.html` }, `To the board of ${newest.created.slice(0, isAlone ? 10 : 16).replace("T", " ")}`), ".");
    note.hidden = false;
  }
  const row = one => el("tr", {}, el("th", { scope: "row" }, one.snapshot === site.snapshot ? `${one.created.slice(0, 16).replace("T", " ")} (this page)` : el("a", { href: `../${one.snapshot}/index.html` }, one.created.slice(0, 16).replace("T", " "))),
    el("td", {}, el("code", {}, one.snapshot)), el("td", {}, one.whole ? "whole" : "a part"), el("td", { class: "num" }, one.models));
  byId("history-list").replaceChildren(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "History" },
    el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ["run started", "snapshot", "of the suite"].map(text => el("th", { scope: "col" }, text)), el("th", { scope: "col", class: "num" }, "models"))),
      el("tbody", {}, known.snapshots.map(row)))));
}

document.documentElement.classList.add("on");
pictures();
if (document.body.dataset.page === "index") {
  site = JSON.parse(byId("site-data").textContent);
  filters();
  historyShown();
  byId("board-csv").addEventListener("click", boardCsv);
  addEventListener("hashchange", followHash);
  document.querySelector(".tabs").addEventListener("click", event => { // another tab keeps what was chosen
    const tab = event.target.closest("[data-tab]")?.dataset.tab;
    if (!tab || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", `#${tab}`);
    openTab(tab);
  });
  const asked = parseHash()[0];
  followHash();
  if (!state.tab) openTab("leaderboard");
  addEventListener("load", () => { // the browser goes to the tab that the address names; what to know first is above it
    if (!asked || asked === state.tab) requestAnimationFrame(() => window.scrollTo({ top: 0, behavior: "instant" }));
    (window.requestIdleCallback ?? setTimeout)(drawForPrint);
  }, { once: true });
} else chosenModels();
