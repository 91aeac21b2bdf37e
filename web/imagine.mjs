// Text to image: a diffusion model in a worker, shown step by step.
import { bytes, failed, find, make, time } from "./common.mjs";
import { imageData, open } from "./hologram/index.mjs";

const ideas = ["a red apple", "a cat with heart eyes", "blue whale", "slice of pizza", "a robot", "green tree", "smiling sun", "rocket"];
const view = find("view"),
  progress = find("progress");
let model, stopper;

function paint(canvas, image) {
  Object.assign(canvas, { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

const settings = () => ({
  negative: find("negative").value.trim(),
  seed: Number(find("seed").value),
  steps: Number(find("steps").value),
  guidance: Number(find("guidance").value),
  scheduler: find("scheduler").value,
});

function take(prompt, given) {
  find("prompt").value = prompt;
  for (const [name, value] of Object.entries(given)) find(name).value = value;
  shown();
}

function shown() {
  find("steps-shown").textContent = find("steps").value;
  find("guidance-shown").textContent = find("guidance").value;
}

/** The picture goes to those drawn before, from where it can be drawn again. */
function remember(prompt, given, image) {
  const label = `${prompt}, seed ${given.seed}`,
    button = make("button", { type: "button", title: label, ariaLabel: `Take the settings of: ${label}` }, paint(make("canvas"), image));
  button.onclick = () => {
    take(prompt, given);
    find("prompt").focus();
  };
  find("gallery").prepend(make("li", {}, button));
  while (find("gallery").children.length > 12) find("gallery").lastChild.remove();
  find("earlier").hidden = false;
}

async function draw() {
  const prompt = find("prompt").value.trim(),
    given = settings(),
    begin = performance.now();
  let image;
  stopper = new AbortController();
  find("go").disabled = find("save").disabled = true;
  find("stop").disabled = false;
  find("strip").replaceChildren();
  progress.value = 0;
  progress.hidden = false;
  find("state").textContent = `Drawing ${prompt} ...`;
  try {
    for await (const one of model.imagine(prompt, { ...given, preview: true, signal: stopper.signal })) {
      image = imageData(one.image);
      paint(view, image);
      view.ariaLabel = `${prompt}, step ${one.step} of ${one.steps}`;
      progress.value = one.step / one.steps;
      find("step").textContent = `step ${one.step} of ${one.steps}, ${time(performance.now() - begin)}`;
      find("strip").append(make("li", {}, paint(make("canvas", { title: `step ${one.step}` }), image)));
      find("strip").scrollLeft = find("strip").scrollWidth;
    }
    view.ariaLabel = `A picture of: ${prompt}`;
    find("state").textContent = `Drawn in ${time(performance.now() - begin)}.`;
    remember(prompt, given, image);
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn ?? 0) + 1);
  } catch (error) {
    if (error.code === "CANCELLED") find("state").textContent = "Stopped.";
    else failed(find("state"), error);
  }
  find("stop").disabled = true;
  find("go").disabled = false;
  find("save").disabled = !image;
}

find("form").onsubmit = (event) => {
  event.preventDefault();
  if (model && !find("go").disabled) draw();
};
find("form").oninput = shown;
find("stop").onclick = () => stopper?.abort();
find("another").onclick = () => {
  find("seed").value = Math.floor(Math.random() * 1e6);
  if (model && !find("go").disabled) draw();
};
find("save").onclick = () =>
  view.toBlob((blob) => {
    const url = URL.createObjectURL(blob);
    make("a", { href: url, download: `${find("prompt").value.trim().replace(/\W+/g, "-") || "picture"}.png` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
for (const idea of ideas) {
  const button = make("button", { type: "button", textContent: idea });
  button.onclick = () => {
    find("prompt").value = idea;
    find("form").requestSubmit();
  };
  find("ideas").append(button);
}
shown();

async function begin() {
  const started = performance.now();
  find("state").textContent = "Loading the model ...";
  try {
    model = await open("emoji.holo", {
      worker: true,
      text: true,
      onprogress({ loaded, total, cached }) {
        find("download").value = total ? loaded / total : 0;
        find("state").textContent = cached ? "Opening the model, kept from your last visit ..." : `Loading the model: ${bytes(loaded)}${total ? ` of ${bytes(total)}` : ""}`;
      },
    });
    find("scheduler").replaceChildren(...model.pictures.schedulers.map((name) => make("option", { textContent: name, selected: name === "dpm++" })));
    find("state").textContent = `Ready, after ${time(performance.now() - started)}.`;
    find("go").disabled = false;
    document.body.dataset.ready = "true";
  } catch (error) {
    failed(find("state"), error);
    const again = make("button", { type: "button", textContent: "Try again" });
    again.onclick = begin;
    find("state").append(again);
  }
  find("download").hidden = Boolean(model);
}
begin();
