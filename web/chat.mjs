// A conversation with a language model, which runs in a worker: tokens a second are shown.
import { failed, find, latest, make, offer, time } from "./common.mjs";
import { open } from "./hologram/index.mjs";

const newest = latest();
let messages = [], // of this conversation
  model,
  stopper;

const say = (role, text) => find("talk").appendChild(make("div", { className: `message ${role}`, textContent: text }));

async function answer(prompt) {
  const talk = messages;
  talk.push({ role: "user", content: prompt });
  say("user", prompt);
  const shown = say("assistant", "");
  shown.append(make("span", { className: "soft", textContent: "reading your message ..." }));
  stopper = new AbortController();
  find("stop").disabled = false;
  find("send").disabled = true;
  find("speed").textContent = "";
  let text = "",
    count = 0,
    first; // when the first token came
  const begin = performance.now(),
    options = { maxTokens: 400, signal: stopper.signal };
  try {
    const tokens = model.hasTemplate ? model.chat(talk, options) : model.generate(prompt, { ...options, chat: false });
    for await (const token of tokens) {
      text += token.text;
      shown.textContent = text;
      const now = performance.now();
      first ??= now;
      if (count++) find("speed").textContent = `${((1000 * (count - 1)) / (now - first)).toFixed(1)} tokens/s, the first after ${time(first - begin)}`;
    }
  } catch (error) {
    if (error.code !== "CANCELLED") failed(shown, error);
  }
  if (!text && !shown.querySelector("[role=alert]")) shown.textContent = stopper.signal.aborted ? "(stopped)" : "(no answer)";
  talk.push({ role: "assistant", content: text });
  find("stop").disabled = true;
  find("send").disabled = false;
  find("text").focus();
  document.body.dataset.answers = String(talk.length / 2);
}

/** Opens a model, and asks whether it has been taught to chat. */
async function opened(source, options) {
  const one = await open(source, options);
  one.hasTemplate = await one.generateText("", { maxTokens: 1, chat: true }).then(
    () => true,
    () => false,
  );
  return one;
}

async function take(source, name) {
  const progress = find("progress");
  find("talk").replaceChildren();
  messages = [];
  const begin = performance.now();
  find("state").textContent = `Opening ${name} ...`;
  try {
    stopper?.abort();
    model?.close(); // two large ones may not fit
    model = undefined;
    const chosen = await newest(
      opened(source, {
        worker: true,
        text: true,
        onprogress({ loaded, total }) {
          progress.hidden = false;
          progress.value = total ? loaded / total : 0;
        },
      }),
    );
    if (!chosen) return;
    model = chosen;
    find("state").textContent = `${name} is ready, after ${time(performance.now() - begin)}.`;
    find("form").hidden = false;
    find("text").focus();
    document.body.dataset.ready = "true";
  } catch (error) {
    failed(find("state"), error);
  }
  progress.hidden = true;
}

find("form").onsubmit = (event) => {
  event.preventDefault();
  const text = find("text").value.trim();
  if (!model || !text || !find("stop").disabled) return;
  find("text").value = "";
  answer(text);
};
find("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    find("form").requestSubmit();
  }
};
find("stop").onclick = () => stopper?.abort();
offer(find("area"), "chat", take, { about: "the archive of a language model, compiled from a HuggingFace folder or a GGUF file", accept: ".holo" });
