// Speech to text: what the microphone hears, or a recording.
import { failed, files, find, latest, make, offer, time } from "./common.mjs";
import { open } from "./hologram/index.mjs";

const newest = latest();
let model,
  recorder,
  shown; // the address of the recording that the player has

const clock = (seconds) => `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;

/** A recording in any format that the browser knows, as samples of one channel. */
async function samplesOf(blob) {
  const audio = await new OfflineAudioContext(1, 1, model.perSecond).decodeAudioData(await blob.arrayBuffer()),
    sum = new Float32Array(audio.length);
  for (let i = 0; i < audio.numberOfChannels; i++) {
    const channel = audio.getChannelData(i);
    for (let k = 0; k < sum.length; k++) sum[k] += channel[k] / audio.numberOfChannels;
  }
  return sum;
}

function play(blob) {
  if (shown) URL.revokeObjectURL(shown);
  shown = URL.createObjectURL(blob);
  find("player").src = shown;
  find("player").hidden = false;
}

async function hear(blob) {
  if (!blob || !model) return;
  find("record").disabled = find("sound").disabled = true;
  find("state").textContent = "Writing it down ...";
  find("progress").removeAttribute("value"); // how long it takes is not known
  find("progress").hidden = false;
  try {
    const samples = await samplesOf(blob).catch(() => {
      throw new Error(`${blob.name ?? "The recording"} cannot be read as a sound.`);
    });
    play(blob);
    const begin = performance.now(),
      language = find("language").value.trim() || undefined,
      { text, pieces, language: spoken, seconds } = await model.transcribe(samples, { language, translate: find("translate").checked, timestamps: find("timestamps").checked }),
      took = performance.now() - begin;
    find("said").textContent = text || "(nothing was said)";
    find("pieces").replaceChildren(
      ...(pieces.length > 1 || find("timestamps").checked
        ? [make("table", {}, make("tbody", {}, ...pieces.map((piece) => make("tr", {}, make("td", { className: "times soft", textContent: `${clock(piece.begin)} to ${clock(piece.end)}` }), make("td", { textContent: piece.text.trim() })))))]
        : []),
    );
    find("took").textContent = `${spoken ? `language ${spoken}; ` : ""}${seconds.toFixed(1)} s of sound in ${time(took)}`;
    find("result").hidden = false;
    find("state").textContent = "";
    document.body.dataset.heard = String(Number(document.body.dataset.heard ?? 0) + 1);
  } catch (error) {
    failed(find("state"), error);
  }
  find("progress").hidden = true;
  find("record").disabled = find("sound").disabled = false;
}

/** Opens a model of speech, and asks how many samples a second it hears. */
async function opened(source, name, options) {
  const one = await open(source, options);
  one.perSecond = await one.rate().catch(() => 0);
  if (one.perSecond) return one;
  one.close();
  throw new Error(`${name} is not a model of speech.`);
}

async function take(source, name) {
  const progress = find("progress"),
    begin = performance.now();
  find("state").textContent = `Opening ${name} ...`;
  try {
    const chosen = await newest(
      opened(source, name, {
        worker: true,
        onprogress({ loaded, total }) {
          progress.hidden = false;
          progress.value = total ? loaded / total : 0;
        },
      }),
    );
    if (!chosen) return;
    model?.close();
    model = chosen;
    find("state").textContent = `${name} is ready, after ${time(performance.now() - begin)}.`;
    find("record").disabled = find("sound").disabled = false;
    document.body.dataset.ready = "true";
  } catch (error) {
    failed(find("state"), error);
  }
  progress.hidden = true;
}

async function record() {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true }),
    parts = [];
  recorder = new MediaRecorder(stream);
  recorder.ondataavailable = ({ data }) => parts.push(data);
  recorder.onstop = () => {
    stream.getTracks().forEach((track) => track.stop());
    find("record").textContent = "Record";
    const blob = new Blob(parts, { type: recorder.mimeType });
    recorder = undefined;
    hear(blob);
  };
  recorder.start();
  find("record").textContent = "Stop and write it down";
  find("state").textContent = "Speak now.";
}

find("record").onclick = async () => {
  if (recorder) return recorder.stop();
  try {
    await record();
  } catch (error) {
    failed(find("state"), ["NotAllowedError", "NotFoundError"].includes(error.name) ? new Error("There is no microphone, or this page may not use it.") : error);
  }
};
files(find("area"), find("sound"), ([file]) => hear(file));
offer(find("models"), "speech", take, { about: "the archive of a model of speech, from a folder of Whisper", accept: ".holo" });
