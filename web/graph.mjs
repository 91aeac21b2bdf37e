// A drawing of a graph that can be moved, zoomed and searched, by pointer and by keyboard.
import { find, make } from "./common.mjs";

const view = find("drawing"),
  about = find("about"),
  search = find("search"),
  found = find("found");
let svg,
  boxes = [],
  at = -1, // the box that is chosen
  box = { x: 0, y: 0, w: 1, h: 1 }; // what is seen, in units of the drawing
let whole = { w: 1, h: 1 };

const show = () => svg?.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
const scale = () => box.w / view.clientWidth;

/** Sees so many units of the drawing for each pixel; the point (x, y) stays where it is. */
function zoom(to, x = box.x + box.w / 2, y = box.y + box.h / 2) {
  const limited = Math.min(Math.max(to, 0.2), Math.max(whole.w / view.clientWidth, whole.h / view.clientHeight, 1)),
    by = limited / scale();
  box = { x: x - (x - box.x) * by, y: y - (y - box.y) * by, w: limited * view.clientWidth, h: limited * view.clientHeight };
  show();
}

/** The beginning of the graph, as wide as it can be read. */
function fit() {
  const units = Math.min(Math.max(whole.w / view.clientWidth, 0.8), 1.3),
    first = boxes[0]?.querySelector("rect"),
    middle = first && whole.w > units * view.clientWidth ? first.x.baseVal.value + first.width.baseVal.value / 2 : whole.w / 2;
  box = { w: units * view.clientWidth, h: units * view.clientHeight };
  box.x = middle - box.w / 2;
  box.y = 0;
  show();
}

function move(x, y) {
  box.x += x;
  box.y += y;
  show();
}

/** Chooses a box, and says what it is; undefined: none. */
function choose(to) {
  boxes[at]?.classList.remove("at");
  at = to === undefined || !boxes.length ? -1 : (to + boxes.length) % boxes.length;
  const chosen = boxes[at];
  about.hidden = !chosen;
  if (!chosen) return;
  chosen.classList.add("at");
  about.textContent = chosen.querySelector("title").textContent;
  const { x, y, width, height } = chosen.querySelector("rect"),
    [left, top] = [x.baseVal.value + width.baseVal.value / 2, y.baseVal.value + height.baseVal.value / 2];
  if (left < box.x || left > box.x + box.w || top < box.y || top > box.y + box.h) move(left - box.w / 2 - box.x, top - box.h / 2 - box.y);
}

/** Boxes whose words have these letters; `step` goes to the next one, or with -1 to the one before. */
function seek(step = 0) {
  const words = search.value.trim().toLowerCase(),
    hits = words ? boxes.flatMap((one, i) => (one.querySelector("title").textContent.toLowerCase().includes(words) ? [i] : [])) : [];
  boxes.forEach((one, i) => one.classList.toggle("faded", Boolean(words) && !hits.includes(i)));
  found.textContent = words ? `${hits.length} found` : "";
  if (!hits.length) return;
  const next = step < 0 ? hits.findLast((i) => i < at) : hits.find((i) => (step ? i > at : i >= at));
  choose(next ?? hits.at(step < 0 ? -1 : 0));
}

const keys = {
  ArrowLeft: () => move(-0.15 * box.w, 0),
  ArrowRight: () => move(0.15 * box.w, 0),
  ArrowUp: () => move(0, -0.15 * box.h),
  ArrowDown: () => move(0, 0.15 * box.h),
  PageUp: () => move(0, -0.9 * box.h),
  PageDown: () => move(0, 0.9 * box.h),
  Home: () => fit(),
  "+": () => zoom(scale() / 1.3),
  "=": () => zoom(scale() / 1.3),
  "-": () => zoom(scale() * 1.3),
  0: () => fit(),
  n: () => choose(at + 1),
  p: () => choose(at < 0 ? -1 : at - 1),
  "/": () => search.focus(),
  Escape: () => choose(),
};
view.onkeydown = (event) => {
  if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  keys[event.key]();
};

// ---- pointers: one moves, two zoom

const pointers = new Map();
let moved = 0;
const place = (event) => {
  const { left, top } = view.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
};
view.onpointerdown = (event) => {
  pointers.set(event.pointerId, place(event));
  moved = 0;
};
view.onpointermove = (event) => {
  const before = pointers.get(event.pointerId),
    now = place(event);
  if (!before || !event.buttons) return;
  const far = Math.hypot(now.x - before.x, now.y - before.y);
  moved += far;
  if (moved > 4 && !view.hasPointerCapture(event.pointerId)) view.setPointerCapture(event.pointerId);
  if (pointers.size === 1) move((before.x - now.x) * scale(), (before.y - now.y) * scale());
  else {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1],
      wide = (point) => Math.max(1, Math.hypot(point.x - other.x, point.y - other.y));
    zoom((scale() * wide(before)) / wide(now), box.x + other.x * scale(), box.y + other.y * scale());
  }
  pointers.set(event.pointerId, now);
};
view.onpointerup = view.onpointercancel = (event) => pointers.delete(event.pointerId);
view.onclick = (event) => {
  const hit = event.target.closest(".b");
  if (moved < 5) choose(hit ? boxes.indexOf(hit) : undefined);
};
view.addEventListener(
  "wheel",
  (event) => {
    if (!event.ctrlKey && document.activeElement !== view) return; // the page scrolls, until the drawing is entered
    event.preventDefault();
    const { x, y } = place(event);
    zoom(scale() * Math.exp(event.deltaY * 0.0015), box.x + x * scale(), box.y + y * scale());
  },
  { passive: false },
);
new ResizeObserver(() => svg && view.clientWidth && zoom(scale())).observe(view); // of one that is not shown, nothing is seen

search.oninput = () => seek();
search.onkeydown = (event) => {
  if (event.key === "Enter") seek(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") {
    search.value = "";
    seek();
    view.focus();
  }
};
for (const [id, work] of Object.entries({ nearer: keys["+"], farther: keys["-"], beginning: fit })) find(id).onclick = work;

/** Shows a drawing: SVG, as text. Its style is that of the page. */
export function draw(text) {
  const parsed = new DOMParser().parseFromString(text.replace(/<style>[\s\S]*?<\/style>\s*<rect[^>]*>/, ""), "image/svg+xml").documentElement;
  svg = document.importNode(parsed, true);
  whole = { w: Number(svg.getAttribute("width")), h: Number(svg.getAttribute("height")) };
  for (const name of ["width", "height"]) svg.removeAttribute(name);
  svg.setAttribute("aria-hidden", "true"); // the list of steps says the same in words
  boxes = [...svg.querySelectorAll(".b")];
  at = -1;
  about.hidden = true;
  search.value = found.textContent = "";
  view.replaceChildren(svg);
  fit();
  return boxes.length;
}

/** Says why there is no drawing. */
export function none(error) {
  svg = undefined;
  boxes = [];
  view.replaceChildren(make("p", { className: "wrong", role: "alert", textContent: error.message }));
}
