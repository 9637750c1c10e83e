// Group means and distances of one axis and metric, model by model.
shows.bias = () => { if (site.data.bias) load("bias").then(drawBias); };

const POINTS = { digits: 1, factor: 1, suffix: "" };

function drawBias(found) {
  const values = name => [...new Set(found.lines.map(line => line.w[name]))];
  const pick = (name, options) => options.includes(get(`b-${name}`)) ? get(`b-${name}`) : options[0];
  const options = { dataset: values("dataset"), test_set: values("test_set"), axis: values("axis"), metric: found.metrics.map(([id]) => id) };
  const chosen = Object.fromEntries(Object.entries(options).map(([name, list]) => [name, pick(name, list)]));
  const names = { metric: Object.fromEntries(found.metrics), test_set: { all: "all test sets" } };
  const labels = { dataset: "Dataset", test_set: "Test set", axis: "Axis", metric: "Metric" };
  byId("bias-controls").replaceChildren(...Object.entries(options).filter(([, list]) => list.length > 1).map(([name, list]) =>
    choice(labels[name], list.map(id => [id, names[name]?.[id] ?? id.replaceAll("_", " ")]), chosen[name], value => set({ [`b-${name}`]: value === list[0] ? null : value }))));
  const lines = found.lines.filter(line => Object.entries(chosen).every(([name, value]) => line.w[name] === value));
  const groups = found.axes[chosen.axis];
  const pairs = lines[0]?.d.map(pair => [pair.a, pair.b]) ?? [];
  const head = el("tr", {}, el("th", { scope: "col" }, "model"), groups.map(group => el("th", { scope: "col", class: "num" }, group)),
    pairs.flatMap(([a, b]) => [el("th", { scope: "col", class: "num" }, `WD ${a} / ${b}`), el("th", { scope: "col", class: "num" }, "p")]));
  const ends = lines.flatMap(line => Object.values(line.g).flatMap(([, low, high]) => [low, high])).filter(value => typeof value === "number");
  const span = [Math.min(...ends), Math.max(...ends)];
  const body = lines.map(line => el("tr", { class: site.board.models[line.m]?.control ? "control" : null },
    el("th", { scope: "row" }, site.board.models[line.m]?.name ?? line.m),
    groups.map(group => {
      const [value = null, low = null, high = null, n = null] = line.g[group] ?? [];
      return el("td", { class: "num" }, printed(value, POINTS),
        low === null ? null : el("small", {}, `${printed(low, POINTS)} to ${printed(high, POINTS)}`),
        low === null ? null : barOf({ value, low, high }, POINTS, span), el("small", {}, `n = ${n ?? 0}`));
    }),
    line.d.flatMap(pair => [
      el("td", { class: "num" }, printed(pair.wd, POINTS), pair.prominent ? " ★" : "", pair.worst ? el("small", {}, `worse for ${pair.worst}`) : null),
      el("td", { class: "num" }, shownP(pair.p), pair.p_adjusted === null ? null : el("small", {}, `adjusted ${shownP(pair.p_adjusted)}`))])));
  byId("bias-view").replaceChildren(lines.length
    ? el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Group means and distances" }, el("table", { class: "bias" }, el("thead", {}, head), el("tbody", {}, body)))
    : el("p", {}, "Nothing."));
}

function shownP(value) {
  return value === null || value === undefined ? NOTHING : value < 0.001 ? "< 0.001" : value.toFixed(3);
}
