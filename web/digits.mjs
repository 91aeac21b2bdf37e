// Draw a digit, and a model reads it as you draw.
import { bars, bytes, failed, find, time } from "./common.mjs";
import { open } from "./hologram/index.mjs";

const pad = find("pad"),
  context = pad.getContext("2d", { willReadFrequently: true }),
  show = bars(find("bars")),
  size = pad.width;
let model,
  isDrawn = false,
  wanted = false;

function clear() {
  context.fillStyle = "#fff";
  context.fillRect(0, 0, size, size);
  isDrawn = false;
  read();
}

function stroke(from, to) {
  context.strokeStyle = "#111";
  context.lineWidth = size / 10;
  context.lineCap = context.lineJoin = "round";
  context.beginPath();
  context.moveTo(...from);
  context.lineTo(...to);
  context.stroke();
  isDrawn = true;
  read();
}

/** What is drawn in 8 x 8 numbers from 0 to 16, as the model was trained: the digit fills the image. */
function image() {
  const { data } = context.getImageData(0, 0, size, size),
    ink = (x, y) => 255 - data[4 * (y * size + x)],
    numbers = new Float32Array(64);
  let [left, right, top, bottom] = [size, -1, size, -1];
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++)
      if (ink(x, y) > 60) [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  if (right < 0) return numbers;
  const side = Math.max(bottom - top + 1, right - left + 1, size / 4),
    [x0, y0] = [(left + right - side) / 2, (top + bottom - side) / 2],
    cell = side / 8;
  for (let i = 0; i < 64; i++) {
    let sum = 0;
    for (let k = 0; k < 64; k++) {
      const x = Math.round(x0 + ((i % 8) + ((k % 8) + 0.5) / 8) * cell),
        y = Math.round(y0 + (Math.floor(i / 8) + (Math.floor(k / 8) + 0.5) / 8) * cell);
      if (x >= 0 && y >= 0 && x < size && y < size) sum += ink(x, y) / 255;
    }
    numbers[i] = Math.round((16 * sum) / 64);
  }
  return numbers;
}

async function readNow() {
  wanted = false;
  if (!model) return;
  const begin = performance.now(),
    { probabilities } = await model.run({ image: image() }),
    took = performance.now() - begin,
    { data } = probabilities,
    best = data.indexOf(Math.max(...data));
  find("answer").textContent = isDrawn ? String(best) : "\u00a0";
  show(Array.from(data, (part, digit) => ({ name: String(digit), part: isDrawn ? part : 0, text: isDrawn ? `${(100 * part).toFixed(0)} %` : "" })));
  find("facts").textContent = isDrawn ? `read in ${time(took)}` : facts;
}

function read() {
  if (!wanted) requestAnimationFrame(readNow);
  wanted = true;
}

let last;
const place = (event) => {
  const box = pad.getBoundingClientRect();
  return [((event.clientX - box.left) * size) / box.width, ((event.clientY - box.top) * size) / box.height];
};
pad.onpointerdown = (event) => {
  find("pen").hidden = true;
  pad.setPointerCapture(event.pointerId);
  last = place(event);
  stroke(last, last);
};
pad.onpointermove = (event) => {
  if (!last) return;
  for (const one of event.getCoalescedEvents?.() ?? [event]) {
    const next = place(one);
    stroke(last, next);
    last = next;
  }
};
pad.onpointerup = pad.onpointercancel = () => (last = undefined);

// By keyboard: a pen that moves, and that is seen.
const pen = { at: [size / 2, size / 4], isDown: false };
function showPen() {
  const mark = find("pen"),
    [left, top] = pen.at.map((one) => `${(100 * one) / size}%`);
  Object.assign(mark.style, { left, top });
  mark.classList.toggle("down", pen.isDown);
  mark.hidden = false;
}
pad.onfocus = () => pad.matches(":focus-visible") && showPen();
pad.onblur = () => (find("pen").hidden = true);
pad.onkeydown = (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === " ") {
    pen.isDown = !pen.isDown;
    if (pen.isDown) stroke(pen.at, pen.at);
  } else if (step) {
    const next = pen.at.map((one, i) => Math.max(10, Math.min(size - 10, one + (step[i] * size) / 20)));
    if (pen.isDown) stroke(pen.at, next);
    pen.at = next;
  } else return;
  showPen();
  event.preventDefault();
};

find("clear").onclick = clear;
find("example").onclick = () => {
  clear();
  const seven = [
    [80, 60],
    [200, 60],
    [130, 225],
  ];
  stroke(seven[0], seven[1]);
  stroke(seven[1], seven[2]);
};

let facts = "";
try {
  clear();
  model = await open("digits.holo");
  facts = `${bytes(model.inspect().fileBytes)}, ready ${time(performance.now())} after the page began to load`;
  document.body.dataset.ready = "true";
  read();
} catch (error) {
  failed(find("facts"), error);
}
