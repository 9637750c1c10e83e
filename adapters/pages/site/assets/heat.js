// The heat map: one button a cell, of which one at a time is in the order of tabs; arrow keys move.
const heat = { found: null };

// Paper waits for nothing: the map is drawn once the page has its rest, whichever tab is open.
function drawForPrint() {
  if (!site.data.overediting || heat.found) return;
  load("overediting").then(found => { if (!heat.found) { heat.found = found; drawHeat(); } }, () => {});
}
addEventListener("beforeprint", () => { if (heat.found) drawHeat(); else drawForPrint(); });

shows.overediting = () => {
  if (!site.data.overediting) return;
  load("overediting").then(found => { heat.found = found; drawHeat(); });
};

function mapShown() {
  const asked = get("map");
  return heat.found.maps.find(map => `${map.d}|${map.m}` === asked) ?? heat.found.maps[0];
}

function drawHeat() {
  const map = mapShown();
  if (!map) return;
  const several = new Set(heat.found.maps.map(one => one.d)).size > 1;
  const named = one => `${site.board.models[one.m]?.name ?? one.m}${several ? ` · ${one.d}` : ""}`;
  byId("heat-controls").replaceChildren(
    choice("Model", heat.found.maps.map(one => [`${one.d}|${one.m}`, named(one)]), `${map.d}|${map.m}`, value => set({ map: value, cell: null })));
  const key = el("p", { class: "key" }, "0 %", [0, 2, 4, 6, 8, 10].map(level => el("i", { class: `h${level}` })), "50 % and more",
    el("i", { class: "h1 mark" }, "·"), "found, but below 0.5 %",
    el("i", { class: "own" }), "of the kind that was asked for: no overedit can be there",
    el("i", { class: "blank" }), "a row that was never asked for");
  byId("heat-view").replaceChildren(el("h3", {}, named(map)), key, el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Heat map" }, heatTable(map, named(map))));
  showExamples(map);
}

function heatTable(map, name) {
  const { rows, columns } = heat.found;
  const cells = new Map(map.cells.map(([row, column, count, eligible]) => [`${row},${column}`, [count, eligible]]));
  const asked = new Set(rows.flatMap((row, at) => map.prompts[at] ? [row] : []));
  const line = (row, at) => el("tr", {}, el("th", { scope: "row", title: row }, row),
    columns.map((column, to) => {
      const held = cells.get(`${at},${to}`);
      if (!asked.has(row)) return el("td", { class: "void" });
      if (!held) return el("td", { class: "own" });
      const [count, eligible] = held;
      const rate = count / map.prompts[at];
      const percent = Math.round(100 * rate);
      const text = count && percent === 0 ? "·" : percent;
      const level = count ? Math.min(10, Math.max(1, Math.ceil(rate * 20))) : 0;
      if (!count) return el("td", { class: "h0" }, el("span", { class: "zero" }, ""));
      const label = `${row} asked, ${column} found: ${count} of ${map.prompts[at]} prompts, ${percent} %; ${eligible} eligible (without it before)`;
      return el("td", { class: `h${level}` }, el("button", { type: "button", tabindex: "-1", "aria-label": label, title: label, "data-at": `${at},${to}`,
        "aria-pressed": get("cell") === `${row}|${column}` ? "true" : "false", onclick: () => pick(row, column) }, text));
    }));
  const table = el("table", { class: "heat", "aria-label": `Overedits of ${name}: rows are what was asked, columns what was found` },
    el("thead", {}, el("tr", {}, el("td", { class: "void" }), columns.map(column => el("th", { scope: "col" }, el("span", {}, column))))),
    el("tbody", {}, rows.map(line)));
  const first = table.querySelector("button[aria-pressed=true]") ?? table.querySelector("button");
  first?.setAttribute("tabindex", "0");
  table.addEventListener("keydown", moveInHeat);
  return table;
}

function moveInHeat(event) {
  const edge = { Home: 0, End: -1 }[event.key];
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const from = event.target.dataset?.at;
  if ((!step && edge === undefined) || !from) return;
  event.preventDefault();
  const table = event.currentTarget;
  if (!step) { // the first or last cell of its row; with Ctrl of the whole map
    moveTo(event.target, [...(event.ctrlKey ? table : event.target.closest("tr")).querySelectorAll("button")].at(edge));
    return;
  }
  const [height, width] = [heat.found.rows.length, heat.found.columns.length];
  let [row, column] = from.split(",").map(Number);
  for (;;) {
    row += step[0];
    column += step[1];
    if (row < 0 || column < 0 || row >= height || column >= width) return;
    const next = table.querySelector(`[data-at="${row},${column}"]`);
    if (next) { moveTo(event.target, next); return; }
  }
}

function moveTo(from, next) {
  from.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

function pick(row, column) {
  set({ cell: `${row}|${column}` }, false);
  for (const button of document.querySelectorAll(".heat button[aria-pressed]")) {
    const [at, to] = button.dataset.at.split(",").map(Number);
    button.setAttribute("aria-pressed", heat.found.rows[at] === row && heat.found.columns[to] === column ? "true" : "false");
  }
  showExamples(mapShown());
}

function showExamples(map) {
  const box = byId("heat-examples");
  const cell = get("cell");
  if (!cell) { box.replaceChildren(); return; }
  const [asked, found] = cell.split("|");
  const heading = el("h3", {}, `Asked for “${asked}”, found “${found}”`);
  const missing = () => box.replaceChildren(heading, el("p", {}, "No example of this cell is kept on this page; the table of steps holds all."));
  if (!map.examples) { missing(); return; }
  load(map.examples).then(held => {
    const examples = held.cells[cell];
    if (!examples) { missing(); return; }
    const [row, column] = [heat.found.rows.indexOf(asked), heat.found.columns.indexOf(found)];
    const ofCell = map.cells.find(([at, to]) => at === row && to === column);
    const counted = ofCell ? `${examples.length} of ${ofCell[2]} steps where it was found are shown; it was found in ${ofCell[2]} of ${map.prompts[row]} prompts, of which ${ofCell[3]} are eligible: it was not there before.` : "";
    box.replaceChildren(heading, el("p", { class: "soft" }, counted), el("ul", { class: "pairs" }, examples.map(([photo, session, step, prompt, before, after]) => {
      const picture = (number, what) => el("a", { href: imageOf(held.images[number]), "data-full": true, "data-label": `${photo}, ${session}, step ${step}, ${what}` },
        el("img", { src: thumbOf(held.images[number]), alt: `${photo} ${what} step ${step}`, width: 192, height: 192, loading: "lazy", decoding: "async" }), el("small", {}, what));
      return el("li", {}, el("figure", {}, picture(before, "before"), picture(after, "after"),
        el("figcaption", {}, el("b", {}, held.prompts[prompt]), ` ${photo} · ${session} · step ${step}`)));
    })));
  }, () => box.replaceChildren(heading, el("p", {}, "The examples did not load.")));
}
