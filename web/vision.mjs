// A classifier or a detector on a picture or the camera.
import { bars, failed, files, find, latest, offer, time } from "./common.mjs";
import { imageTensor, open } from "./hologram/index.mjs";

const view = find("view"),
  context = view.getContext("2d"),
  show = bars(find("bars")),
  scales = { imagenet: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] }, unit: {} };
const newest = latest();
let model,
  labels = [],
  chosenLabels, // of a file
  picture,
  isWatching = false;

const labelOf = (i) => labels[i] ?? `class ${i}`;

/** {width, height, layout} of the input. */
function form({ name, shape, dtype }) {
  if (shape?.length !== 4) throw new Error(`The model does not take images: its input ${name} has the shape ${shape ? `[${shape.join(", ")}]` : "of nothing known"}, not four sizes.`);
  const [, a, b, c] = shape.map((size) => (typeof size === "number" && size > 0 ? size : undefined)),
    isLast = c === 3 && a !== 3;
  return { layout: isLast ? "nhwc" : "nchw", height: (isLast ? a : b) ?? 224, width: (isLast ? b : c) ?? 224, dtype };
}

function classes(data) {
  const top = Math.max(...data),
    isPart = Math.min(...data) >= 0 && Math.abs(data.reduce((a, b) => a + b, 0) - 1) < 0.01,
    raw = isPart ? Array.from(data) : Array.from(data, (x) => Math.exp(x - top)),
    sum = raw.reduce((a, b) => a + b, 0);
  return raw
    .map((x, i) => ({ name: labelOf(i), part: x / sum }))
    .sort((a, b) => b.part - a.part)
    .slice(0, 5)
    .map((row) => ({ ...row, text: `${(100 * row.part).toFixed(1)} %` }));
}

/** Boxes of YOLO's output, [1, 4 + classes, places], of which the best that do not overlap remain. */
function boxes({ data, shape: [, rows, places] }, { width, height }) {
  const found = [];
  for (let i = 0; i < places; i++) {
    let best = 4;
    for (let k = 5; k < rows; k++) if (data[k * places + i] > data[best * places + i]) best = k;
    const score = data[best * places + i];
    if (score < 0.35) continue;
    const [x, y, w, h] = [0, 1, 2, 3].map((k) => data[k * places + i]);
    found.push({ score, kind: best - 4, x: (x - w / 2) / width, y: (y - h / 2) / height, w: w / width, h: h / height });
  }
  const kept = [],
    overlap = (a, b) => {
      const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x),
        h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y),
        both = Math.max(0, w) * Math.max(0, h);
      return both / (a.w * a.h + b.w * b.h - both);
    };
  for (const one of found.sort((a, b) => b.score - a.score)) if (kept.every((other) => overlap(one, other) < 0.5)) kept.push(one);
  return kept.slice(0, 20);
}

/** Draws boxes with their names, which are as large as other text wherever the picture is shown. */
function draw(list) {
  const rem = (16 * view.width) / (view.clientWidth || view.width);
  context.lineWidth = rem / 5;
  context.font = `${rem}px system-ui`;
  for (const { x, y, w, h, kind, score } of list) {
    const text = `${labelOf(kind)} ${(100 * score).toFixed(0)} %`,
      [left, top] = [Math.max(0, x * view.width), Math.max(0, y * view.height)];
    context.strokeStyle = context.fillStyle = `hsl(${(kind * 47) % 360} 80% 35%)`;
    context.strokeRect(x * view.width, y * view.height, w * view.width, h * view.height);
    context.fillRect(left, top, context.measureText(text).width + 0.6 * rem, 1.5 * rem);
    context.fillStyle = "#fff";
    context.fillText(text, left + 0.3 * rem, top + 1.1 * rem);
  }
}

async function look(source = picture) {
  if (!source) return;
  const [width, height] = [source.videoWidth || source.width, source.videoHeight || source.height],
    rows = Math.max(1, Math.round((640 * height) / width));
  if (view.width !== 640 || view.height !== rows) Object.assign(view, { width: 640, height: rows });
  view.hidden = false;
  find("hint").hidden = true;
  context.drawImage(source, 0, 0, view.width, view.height);
  if (!model) {
    find("state").textContent = "Now choose a model.";
    return;
  }
  try {
    const port = model.inputs[0],
      to = form(port),
      begin = performance.now(),
      results = await model.run({ [port.name]: imageTensor(source, { ...to, ...scales[find("scale").value] }) }),
      [tensor] = Object.values(results);
    const took = `in ${time(performance.now() - begin)}`;
    find("took").textContent = took;
    if (tensor.shape.length === 3) {
      const list = boxes(tensor, to);
      draw(list);
      if (!list.length) find("took").textContent = `Nothing that the model knows was found, ${took}.`;
      show(list.slice(0, 5).map(({ kind, score }) => ({ name: labelOf(kind), part: score, text: `${(100 * score).toFixed(0)} %` })));
    } else show(classes(tensor.data));
    view.ariaLabel = `The picture: ${find("bars").querySelector("dt")?.textContent ?? "nothing was found"}`;
    document.body.dataset.seen = String(Number(document.body.dataset.seen ?? 0) + 1);
  } catch (error) {
    failed(find("state"), error);
  }
}

async function use(source, name, facts = {}) {
  find("state").textContent = `Opening ${name} ...`;
  try {
    const opened = await newest(open(source, { worker: true }));
    if (!opened) return;
    model?.close();
    model = opened;
    labels = chosenLabels ?? facts.labels ?? [];
    if (facts.values) find("scale").value = facts.values;
    find("state").textContent = `${name} is ready.${picture ? "" : " Now choose a picture, or use the camera."}`;
    document.body.dataset.ready = "true";
    await look();
  } catch (error) {
    failed(find("state"), error);
  }
}
find("labels").onchange = async () => {
  if (!find("labels").files[0]) return;
  labels = chosenLabels = (await find("labels").files[0].text()).split("\n").map((line) => line.trim());
  look();
};
async function take([file]) {
  if (!file) return;
  isWatching = false;
  try {
    picture = await createImageBitmap(file);
    find("state").textContent = "";
    await look();
  } catch {
    failed(find("state"), new Error(`${file.name} cannot be read as an image.`));
  }
}
files(find("area"), find("picture"), take);
find("scale").onchange = () => look();
/** The camera, picture by picture, until it is stopped. A page that is hidden looks at nothing. */
async function watch() {
  const video = find("video"),
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  try {
    video.srcObject = stream;
    await video.play();
    while (isWatching) {
      await look(video);
      await new Promise(requestAnimationFrame);
    }
  } finally {
    stream.getTracks().forEach((track) => track.stop());
    video.srcObject = null;
  }
}
find("camera").onclick = async () => {
  isWatching = !isWatching;
  find("camera").textContent = isWatching ? "Stop the camera" : "Use the camera";
  if (!isWatching) return;
  try {
    await watch();
  } catch (error) {
    failed(find("state"), error.name === "NotAllowedError" || error.name === "NotFoundError" ? new Error("There is no camera, or this page may not use it.") : error);
  }
  isWatching = false;
  find("camera").textContent = "Use the camera";
};
offer(find("models"), "images", use, { about: "a model of your own", accept: ".holo,.onnx,.tflite" });
