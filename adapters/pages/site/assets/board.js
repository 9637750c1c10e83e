// The leaderboard: switches, search, columns, sorting, ranks that follow from intervals, and its CSV.
const board = { later: null };
const SPAN = { width: 92, height: 10, edge: 3 };

function boardSwitches() {
  return site.board.switches.map(item => ({ ...item, value: item.options.some(([id]) => id === get(item.id)) ? get(item.id) : item.options[0][0] }));
}

function boardLines(switches) {
  const fits = line => switches.every(item => item.value === "*" || line.w[item.id] === item.value);
  return site.board.lines.concat(board.later ?? []).filter(fits);
}

function sortOf() {
  const asked = get("sort", "");
  const id = asked.replace(/^[-+]/, "");
  const column = site.board.columns.find(one => one.id === id);
  if (!column && id !== "model") return { id: site.board.sortedBy, down: isHighGood(site.board.sortedBy) };
  return { id, down: asked.startsWith("-") };
}

function isHighGood(id) { return site.board.columns.find(one => one.id === id)?.better === "high"; }

function figure(line, id) {
  const [value = null, low = null, high = null, n = null, change = null, apart = null] = line.f[id] ?? [];
  return { value, low, high, n, change, apart };
}

// 1 + the models whose whole interval is better; controls have no rank and no say.
function rankOf(line, lines, column) {
  if (site.board.hasRanks) return line.r ?? null;
  const own = figure(line, column.id);
  if (site.board.models[line.m].control || !column.better || own.low === null) return null;
  const rivals = lines.filter(other => other !== line && other.w.dataset === line.w.dataset && !site.board.models[other.m].control);
  const better = rivals.filter(other => {
    const its = figure(other, column.id);
    return its.low !== null && (column.better === "low" ? its.high < own.low : its.low > own.high);
  });
  return [better.length + 1];
}

function sortedLines(lines, sort) {
  const name = line => site.board.models[line.m].name;
  const key = line => sort.id === "model" ? name(line).toLowerCase() : figure(line, sort.id).value;
  return [...lines].sort((a, b) => {
    const controls = site.board.models[a.m].control - site.board.models[b.m].control;
    if (controls) return controls;
    const [left, right] = [key(a), key(b)];
    if ((left === null) !== (right === null)) return left === null ? 1 : -1; // unknown is last, either way
    if (left !== right) return (left < right ? -1 : 1) * (sort.down ? -1 : 1);
    return name(a).localeCompare(name(b));
  });
}

function shownColumns() {
  const ids = new Set(get("cols").split(","));
  const asked = site.board.columns.filter(column => ids.has(column.id));
  return asked.length ? asked : site.board.columns.filter(column => column.shown);
}

function showsChange() { return site.board.hasChanges && get("change", "1") === "1"; }

function barOf(own, column, span) {
  const place = value => SPAN.edge + (SPAN.width - 2 * SPAN.edge) * (span[1] > span[0] ? (value - span[0]) / (span[1] - span[0]) : 0.5);
  const [low, high] = [own.low === null ? 0 : place(own.low), own.high === null ? SPAN.width : place(own.high)];
  return el("svg", { class: "bar", viewBox: `0 0 ${SPAN.width} ${SPAN.height}`, "aria-hidden": "true" },
    el("rect", { class: "track", x: 0, y: 4.5, width: SPAN.width, height: 1 }),
    el("rect", { class: "range", x: low.toFixed(1), y: 2, width: Math.max(1.5, high - low).toFixed(1), height: 6, rx: 2 }),
    el("rect", { class: "mean", x: (place(own.value) - 1.5).toFixed(1), y: 0, width: 3, height: 10, rx: 1 }));
}

function figureCell(line, column, spans) {
  const own = figure(line, column.id);
  const cell = el("td", { class: "num" }, printed(own.value, column));
  if (own.value !== null && (own.low !== null || own.high !== null || column.open)) {
    const [low, high] = [own.low, own.high].map(end => end === null ? OPEN : printed(end, column));
    cell.append(el("small", {}, `${low} to ${high}`));
    if (column.interval) cell.append(barOf(own, column, spans[column.id]));
  }
  if (own.n !== null) cell.append(el("small", {}, `n = ${own.n}`));
  return cell;
}

function changeCell(line, column) {
  const own = figure(line, column.id);
  if (own.change === null) return el("td", { class: "num" }, el("small", {}, "new"));
  const sign = own.change > 0 ? "+" : own.change < 0 ? "−" : "±";
  const worse = column.better === "high" ? own.change < 0 : own.change > 0;
  const kind = own.apart && column.better ? (worse ? "up" : "down") : "";
  const said = own.apart === null ? "" : own.apart ? "intervals apart" : "intervals overlap";
  return el("td", { class: `num ${kind}` }, sign + fixed(Math.abs(own.change) * column.factor, column.digits), el("small", {}, said));
}

function spansOf(lines, columns) {
  return Object.fromEntries(columns.filter(column => column.interval).map(column => {
    const ends = lines.flatMap(line => { const own = figure(line, column.id); return [own.low, own.value, own.high].filter(one => one !== null); });
    return [column.id, [Math.min(...ends), Math.max(...ends)]];
  }));
}

// Which values are good, for eyes and ears: the arrow is read to nobody, the words to all.
function goodOf(column) {
  if (!column?.better) return null;
  return el("small", { class: "good" }, el("span", { "aria-hidden": "true" }, column.better === "high" ? "↑ " : "↓ "), `${column.better} is good`);
}

function changeHead(text, column) {
  const isPercent = column.suffix.includes("%") || column.label.includes("%");
  return el("th", { scope: "col", class: "num" }, text, el("small", {}, isPercent ? "in percentage points" : `in units of ${column.label}`),
    site.board.fairChanges ? null : el("small", {}, "not like with like: see below"));
}

function sortButton(id, label, meaning, sort) {
  const active = sort.id === id;
  const again = () => set({ sort: (active ? !sort.down : isHighGood(id)) ? `-${id}` : `+${id}` });
  const arrow = el("span", { class: "arrow", "aria-hidden": "true" }, active ? (sort.down ? "▾" : "▴") : "");
  return el("th", { scope: "col", class: id === "model" ? null : "num", "aria-sort": active ? (sort.down ? "descending" : "ascending") : null },
    el("button", { type: "button", onclick: again, title: meaning || null, "data-sort": id }, label, arrow), goodOf(site.board.columns.find(one => one.id === id)));
}

function drawBoard() {
  const switches = boardSwitches();
  if (switches.some(item => item.id === "group" && item.value !== "all") && site.data.groups && !board.later) {
    load("groups").then(lines => { board.later = lines; if (state.tab === "leaderboard") drawBoard(); });
  }
  const [columns, sort, lines] = [shownColumns(), sortOf(), boardLines(switches)];
  const by = site.board.columns.find(column => column.id === sort.id) ?? site.board.columns.find(column => column.id === site.board.sortedBy);
  const words = get("q").toLowerCase().split(/\s+/).filter(Boolean);
  const hidden = new Set(get("hide").split(",").filter(Boolean));
  const wanted = line => {
    const model = site.board.models[line.m];
    const text = `${line.m} ${model.name} ${model.lab} ${Object.values(line.w).join(" ")}`.toLowerCase();
    return words.every(word => text.includes(word)) && !(hidden.has("controls") && model.control);
  };
  const shown = sortedLines(lines.filter(wanted), sort);
  const open = switches.filter(item => item.value === "*");
  const change = showsChange();
  const head = el("tr", {}, el("th", { scope: "col", class: "rank" }, "rank"), sortButton("model", "model", "", sort),
    open.map(item => el("th", { scope: "col" }, item.label)),
    columns.flatMap(column => [sortButton(column.id, column.label, column.meaning, sort),
      change && column === by ? changeHead("change", by) : null]),
    change && !columns.includes(by) ? changeHead(`change of ${by.label}`, by) : null);
  const spans = spansOf(shown, columns);
  const body = shown.map(line => {
    const model = site.board.models[line.m];
    const rank = rankOf(line, lines, by);
    return el("tr", { class: model.control ? "control" : null, "data-model": line.m },
      el("td", { class: "rank" }, rank ? rank[0] : NOTHING, rank?.length === 3 && rank[1] !== rank[2] ? el("small", {}, `${rank[1]}–${rank[2]}`) : null),
      el("th", { scope: "row" }, byId(`model-${line.m}`) ? el("a", { href: `#model-${line.m}` }, model.name) : model.name,
        el("small", {}, model.control ? "control" : model.lab), line.o ? el("small", {}, line.o) : null),
      open.map(item => el("td", {}, line.w[item.id])),
      columns.flatMap(column => [figureCell(line, column, spans), change && column === by ? changeCell(line, by) : null]),
      change && !columns.includes(by) ? changeCell(line, by) : null);
  });
  const focused = document.activeElement?.dataset?.sort;
  byId("board").replaceChildren(el("thead", {}, head), el("tbody", {}, body));
  if (focused) document.querySelector(`#board [data-sort="${focused}"]`)?.focus();
  byId("board-status").textContent = `${shown.length} of ${lines.length} rows, sorted by ${orderOf(sort, by)}.`;
  board.shown = { shown, lines, columns, by, open };
}

function orderOf(sort, by) {
  if (sort.id === "model") return `model, ${sort.down ? "Z–A" : "A–Z"}`;
  return `${by.label}, ${sort.down ? "highest" : "lowest"} first`;
}

function boardCsv() {
  const { shown, lines, columns, by, open } = board.shown;
  const change = showsChange();
  const changed = line => { const own = figure(line, by.id); return [own.change, own.apart]; };
  const parts = column => column.interval ? [column.id, `${column.id}_low`, `${column.id}_high`, `${column.id}_n`] : [column.id];
  const rows = [["rank", "model", ...open.map(item => item.id), ...columns.flatMap(parts), ...(change ? [`${by.id}_change`, `${by.id}_apart`] : [])]];
  for (const line of shown) {
    const values = column => { const own = figure(line, column.id); return column.interval ? [own.value, own.low, own.high, own.n] : [own.value]; };
    rows.push([rankOf(line, lines, by)?.[0], line.m, ...open.map(item => line.w[item.id]), ...columns.flatMap(values), ...(change ? changed(line) : [])]);
  }
  save(`${site.suite}-${site.snapshot}-view.csv`, "text/csv", rows.map(csvLine).join("\n") + "\n");
}

function boardControls() {
  const box = byId("board-controls");
  const search = el("input", { type: "search", autocomplete: "off", oninput: () => { set({ q: search.value }); } });
  search.value = get("q");
  const columnBox = column => {
    const input = el("input", { type: "checkbox", checked: shownColumns().includes(column), value: column.id, onchange: () => {
      const ids = [...box.querySelectorAll(".pop [data-column]:checked")].map(one => one.value);
      set({ cols: ids.length ? ids.join(",") : column.id });
      if (!ids.length) input.checked = true; // the last column stays
    }, "data-column": true });
    return el("label", {}, input, " ", column.label);
  };
  const toggle = (label, checked, changed) => el("label", {}, el("input", { type: "checkbox", checked, onchange: event => changed(event.target.checked) }), " ", label);
  box.replaceChildren(
    ...boardSwitches().filter(item => item.options.length > 1).map(item => choice(item.label, item.options, item.value, value => set({ [item.id]: value === item.options[0][0] ? null : value }))),
    el("label", {}, "Search ", search),
    el("details", { class: "chooser" }, el("summary", {}, "Columns"), el("div", { class: "pop" },
      site.board.columns.map(columnBox),
      site.board.hasChanges ? toggle("change since the last snapshot", showsChange(), on => set({ change: on ? null : "0" })) : null)),
    ...(site.board.lines.some(line => site.board.models[line.m].control) ? [toggle("controls", !get("hide").includes("controls"), on => set({ hide: on ? null : "controls" }))] : []));
}

document.addEventListener("keydown", event => {
  if (event.key === "Escape") for (const open of document.querySelectorAll("details.chooser[open]")) { open.open = false; open.querySelector("summary").focus(); }
});
document.addEventListener("click", event => {
  for (const open of document.querySelectorAll("details.chooser[open]")) if (!open.contains(event.target)) open.open = false;
});

shows.leaderboard = () => {
  drawBoard();
  const typed = document.activeElement?.closest?.("#board-controls");
  if (!typed || state.isFresh) boardControls();
  state.isFresh = false;
};

shows.drift = () => {
  const models = [...new Set([...document.querySelectorAll(".chart [data-model]")].map(line => line.dataset.model))];
  const hidden = new Set(get("no-drift").split(",").filter(Boolean));
  const apply = () => {
    for (const item of document.querySelectorAll("#drift [data-model]")) item.toggleAttribute("hidden", hidden.has(item.dataset.model));
  };
  byId("drift-controls").replaceChildren(...models.map(model => el("label", {}, el("input", { type: "checkbox", checked: !hidden.has(model), onchange: event => {
    if (event.target.checked) hidden.delete(model); else hidden.add(model);
    set({ "no-drift": [...hidden].join(",") }, false);
    apply();
  } }), " ", site.board.models[model]?.name ?? model)));
  apply();
};
