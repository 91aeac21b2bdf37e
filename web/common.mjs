// What the pages share: their head, and a few elements.
const pages = [
  ["index.html", "Digits"],
  ["vision.html", "Images"],
  ["chat.html", "Chat"],
  ["speech.html", "Speech"],
  ["imagine.html", "Text to image"],
  ["model.html", "Any model"],
  ["compare.html", "Side by side"],
];

const here = location.pathname.split("/").pop() || "index.html",
  header = document.querySelector("header");
header.innerHTML = `<strong>Hologram</strong>`;
for (const [file, name] of pages) {
  const link = Object.assign(document.createElement("a"), { href: file, textContent: name });
  if (file === here) link.setAttribute("aria-current", "page");
  header.append(link);
}

export const find = (id) => document.getElementById(id);

/** An element with properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export const bytes = (count) =>
  count < 1e3 ? `${count} B` : count < 1e6 ? `${(count / 1e3).toFixed(1)} kB` : count < 1e9 ? `${(count / 1e6).toFixed(1)} MB` : `${(count / 1e9).toFixed(2)} GB`;
export const time = (ms) => (ms < 1 ? `${(1000 * ms).toFixed(0)} µs` : ms < 1000 ? `${ms.toFixed(ms < 10 ? 2 : 1)} ms` : `${(ms / 1000).toFixed(2)} s`);

/** Rows of a name, a bar and a number; returns a function that sets them: [{name, part, text, isPeer}]. */
export function bars(list) {
  list.classList.add("bars");
  return (rows) => {
    if (list.children.length !== 3 * rows.length)
      list.replaceChildren(
        ...rows.flatMap(() => [make("dt"), make("dd", { className: "bar", ariaHidden: "true" }, make("i")), make("dd", { className: "number" })]),
      );
    rows.forEach(({ name, part, text, isPeer }, i) => {
      const [title, bar, number] = [0, 1, 2].map((k) => list.children[3 * i + k]);
      title.textContent = name;
      bar.classList.toggle("peer", Boolean(isPeer));
      bar.firstChild.style.width = `${Math.min(100, 100 * part)}%`;
      number.textContent = text;
    });
  };
}

/** Says what went wrong, where everybody looks. */
export function failed(element, error) {
  element.replaceChildren(make("p", { className: "wrong", role: "alert", textContent: error.message ?? String(error) }));
}

/** A promise of the trained models beside the pages, which "make web-models" has fetched: {name, page, about, bytes, hasOnnx ...}. */
export const listed = fetch("models.json").then(
  (response) => (response.ok ? response.json() : []),
  () => [],
);
const smallBytes = 3e7; // so much is fetched without a question

/**
 * Offers the models for a page, and a choice of files of one's own. Each is given to take(URL or file, name, what the list says of it). The first
 * one is taken at once if it is small.
 */
export async function offer(area, page, take, { about, accept }) {
  const models = (await listed).filter((one) => one.page === page),
    buttons = models.map((one) =>
      make("button", { type: "button", textContent: `${one.name}, ${bytes(one.bytes)}`, title: one.about, onclick: () => take(`${one.name}.holo`, one.name, one) }),
    ),
    input = make("input", { type: "file", accept, id: "file", onchange: () => input.files[0] && take(input.files[0], input.files[0].name) });
  area.append(
    models.length
      ? make("p", { className: "row" }, make("span", { textContent: "Model:" }), ...buttons)
      : make("p", { className: "soft" }, "There is no trained model beside this page: ", make("code", { textContent: "make web-models" }), " fetches some."),
    make("label", { htmlFor: "file", textContent: models.length ? `or ${about}: ` : `Choose ${about}: ` }),
    input,
  );
  if (models[0]?.bytes < smallBytes) take(`${models[0].name}.holo`, models[0].name, models[0]);
}

/**
 * A function that opens models, of which the last one that was asked for counts: it gets a promise of one, and gives that, or undefined if another
 * was asked for meanwhile.
 */
export function latest() {
  let turns = 0;
  return async (opening) => {
    const turn = ++turns;
    try {
      const model = await opening;
      if (turn === turns) return model;
      model.close();
    } catch (error) {
      if (turn === turns) throw error;
    }
    return undefined;
  };
}

/** Files that are dropped onto an element, or chosen there. */
export function files(area, input, take) {
  area.ondragover = (event) => {
    event.preventDefault();
    area.classList.add("over");
  };
  area.ondragleave = () => area.classList.remove("over");
  area.ondrop = (event) => {
    event.preventDefault();
    area.classList.remove("over");
    take([...event.dataTransfer.files]);
  };
  input.onchange = () => take([...input.files]);
}
