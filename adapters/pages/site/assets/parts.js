// Small pieces. Texts become text nodes and nothing else, so no data is ever markup.
const NOTHING = "–";
const OPEN = "…"; // an end of an interval that nothing bounds

function el(tag, attributes = {}, ...children) {
  const made = tag === "svg" || el.inSvg.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) made.append(child instanceof Node ? child : String(child));
  }
  return made;
}
el.inSvg = new Set(["rect", "line", "g"]);

function byId(id) { return document.getElementById(id); }

const loading = new Map();
function load(name) { // data beside the page; a script, because a page in a folder may fetch nothing
  if (!loading.has(name)) {
    loading.set(name, new Promise((done, failed) => {
      const script = el("script", { src: site.data[name] });
      script.addEventListener("load", () => done(window.facedriftData[name]));
      script.addEventListener("error", () => { loading.delete(name); failed(new Error(`${name} did not load`)); });
      document.head.append(script);
    }));
  }
  return loading.get(name);
}

function choice(label, options, value, changed) {
  const select = el("select", { onchange: () => changed(select.value) },
    options.map(([id, text]) => el("option", { value: id, selected: id === value }, text)));
  return el("label", {}, label, " ", select);
}

function fixed(value, digits) {
  const text = value.toFixed(digits);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

function printed(value, column) {
  return value === null || value === undefined ? NOTHING : fixed(value * column.factor, column.digits) + column.suffix;
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function csvLine(cells) {
  return cells.map(cell => {
    const text = cell === null || cell === undefined ? "" : String(cell);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }).join(",");
}

function thumbOf([sha]) { return `${site.thumbnails}${sha.slice(0, 2)}/${sha}.webp`; }
function imageOf([sha, extension]) { return `${site.store}images/sha256/${sha.slice(0, 2)}/${sha}.${extension}`; }
