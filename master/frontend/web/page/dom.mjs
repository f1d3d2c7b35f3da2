// Elements of the page. What ranks say becomes text, never HTML.

export const $ = (id) => document.getElementById(id);

// on sets what an event of an element does, if the page has that element.
export function on(id, name, f) {
  if ($(id)) $(id)[`on${name}`] = f;
}

function filled(e, text, attributes) {
  if (text !== undefined) e.textContent = text;
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
}

// make makes an element with text.
export const make = (name, text, attributes = {}) => filled(document.createElement(name), text, attributes);

const svgName = "http://www.w3.org/2000/svg";

// svg makes an element of a drawing.
export const svg = (name, attributes = {}, text) => filled(document.createElementNS(svgName, name), text, attributes);

export const dark = matchMedia("(prefers-color-scheme: dark)");

// short cuts a text.
export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// pressable lets a click, Enter and blank on an element do the same.
export function pressable(e, f) {
  e.onclick = f;
  e.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    f();
  };
  return e;
}

// taker returns a button that takes ranks as the focus.
export function taker(text, ranks, take) {
  const button = make("button", text, { type: "button", title: "take as the focus" });
  button.onclick = () => take(ranks);
  return button;
}

// swatch returns a small square of a colour.
export function swatch(colour) {
  const e = svg("svg", { width: 12, height: 12, class: "swatch", "aria-hidden": "true" });
  const square = svg("rect", { width: 12, height: 12 });
  square.style.fill = colour;
  e.append(square);
  return e;
}

// hash returns a number for a text, the same for the same text.
export function hash(text = "") {
  let h = 0;
  for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0;
  return h;
}
