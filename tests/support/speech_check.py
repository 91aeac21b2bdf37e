#!/usr/bin/env python3
"""Makes a small model of speech and sounds, and compares what `hologram transcribe` writes with whole runs of the model on spectrograms that
are computed here.

usage: speech_check.py PROGRAM FOLDER
"""
import array
import cmath
import json
import math
import pathlib
import struct
import subprocess
import sys

import pair_maker

RATE, WINDOW, HOP, MELS, FRAMES = 16000, 64, 32, pair_maker.MELS, 2 * pair_maker.PLACES
WORDS = list(" abcdefghijklmnopqrstuvwxyz.,!")
SPECIAL = ["endoftext", "startoftranscript", "en", "de", "translate", "transcribe", "nospeech", "notimestamps"]
END, START, TIMES = len(WORDS), len(WORDS) + 1, len(WORDS) + len(SPECIAL)


def call(*command):
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if run.returncode:
        sys.exit(" ".join((run.stderr or run.stdout).split())[:500])
    return run.stdout


def wav(path, samples, kind="<h", rate=RATE, channels=1, form=1):
    """Samples from -1 to 1 as a WAV file; all channels have the same."""
    width = struct.calcsize(kind)
    scale = 1 if form == 3 else 2 ** (8 * width - 1) - 1
    data = b"".join(struct.pack(kind, s * scale if form == 3 else round(s * scale)) * channels for s in samples)
    head = struct.pack("<HHIIHH", form, channels, rate, rate * channels * width, channels * width, 8 * width)
    body = b"WAVEfmt " + struct.pack("<I", len(head)) + head + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def sound(seconds):
    """Two tones that rise and fall."""
    return [0.4 * math.sin(0.05 * i + 20 * math.sin(i / 900)) + 0.3 * math.sin(0.31 * i) * math.sin(i / 400) for i in range(int(seconds * RATE))]


def model(folder):
    weights = pair_maker.Weights()
    config = pair_maker.whisper(weights) | {"decoder_start_token_id": START, "eos_token_id": END}
    folder.mkdir(parents=True)
    weights.write(folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").write_text(json.dumps({"begin_suppress_tokens": [0, END], "suppress_tokens": [2, 5], "eos_token_id": END}))
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "feature_extractor_type": "WhisperFeatureExtractor", "feature_size": MELS, "sampling_rate": RATE, "hop_length": HOP, "n_fft": WINDOW}))
    added = [{"id": END + i, "content": f"<|{t}|>", "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
             for i, t in enumerate(SPECIAL)]
    vocab = {t: i for i, t in enumerate(WORDS)} | {a["content"]: a["id"] for a in added}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
        "model": {"type": "BPE", "vocab": vocab, "merges": [], "fuse_unk": False}}))


def spectrogram(samples):
    def mel(hz):
        return hz * 3 / 200 if hz < 1000 else 15 + math.log(hz / 1000) * 27 / math.log(6.4)

    def hertz(mels):
        return mels * 200 / 3 if mels < 15 else 1000 * math.exp((mels - 15) * math.log(6.4) / 27)

    samples = [round(s * 32767) / 32768 for s in samples] + [0.0] * (FRAMES * HOP - len(samples))
    padded = samples[WINDOW // 2 : 0 : -1] + samples + samples[-2 : -WINDOW // 2 - 2 : -1]
    places = [hertz(mel(RATE / 2) * i / (MELS + 1)) for i in range(MELS + 2)]
    turn = [cmath.exp(-2j * math.pi * k / WINDOW) for k in range(WINDOW)]
    rows = []
    for frame in range(FRAMES):
        part = [padded[frame * HOP + i] * (0.5 - 0.5 * math.cos(2 * math.pi * i / WINDOW)) for i in range(WINDOW)]
        power = [abs(sum(part[i] * turn[i * k % WINDOW] for i in range(WINDOW))) ** 2 for k in range(WINDOW // 2 + 1)]
        row = []
        for left, middle, right in zip(places, places[1:], places[2:]):
            hz = [k * RATE / WINDOW for k in range(len(power))]
            row.append(sum(max(0, min((f - left) / (middle - left), (right - f) / (right - middle))) * 2 / (right - left) * p for f, p in zip(hz, power)))
        rows.append([math.log10(max(v, 1e-10)) for v in row])
    most = max(map(max, rows))
    return [(max(rows[f][m], most - 8) + 4) / 4 for m in range(MELS) for f in range(FRAMES)]


def npy(path, kind, shape, raw):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + raw)


def whole_runs(program, archive, folder, samples):
    """What the model writes without times, by runs of the whole model."""
    features = spectrogram(samples)
    npy(folder / "features.npy", "<f4", (1, MELS, FRAMES), struct.pack(f"<{len(features)}f", *features))
    prompt = [START, START + 1, START + 4, START + 6]
    tokens = list(prompt)
    for step in range(pair_maker.PLACES // 2):
        npy(folder / "ids.npy", "<i8", (1, len(tokens)), struct.pack(f"<{len(tokens)}q", *tokens))
        call(program, "run", archive, "-i", f"input_features={folder}/features.npy", "-i", f"decoder_input_ids={folder}/ids.npy", "-q", "-o", folder / "out")
        data = (folder / "out" / "logits.npy").read_bytes()
        row = array.array("f", data[10 + int.from_bytes(data[8:10], "little") :])[-pair_maker.WORDS :]
        allowed = [i for i in range(START) if i not in (2, 5) and (step or i not in (0, END))]
        best = max(allowed, key=lambda i: row[i])
        if best == END:
            break
        tokens.append(best)
    return "".join(WORDS[i] for i in tokens[len(prompt) :])


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    model(folder / "model")
    archive = folder / "speech.holo"
    call(program, "compile", folder / "model", "-o", archive, "-q")
    samples = sound(0.1)
    wav(folder / "short.wav", samples)
    wav(folder / "stereo.wav", [round(s * 32767) / 32768 for s in samples], kind="<f", channels=2, form=3)
    wav(folder / "fast.wav", sound(0.3), rate=48000)
    wav(folder / "long.wav", sound(1))
    want = whole_runs(program, archive, folder, samples)
    for name in ("short.wav", "stereo.wav"):
        have = call(program, "transcribe", archive, folder / name, "--language", "en")
        if have.strip() != want.strip():
            sys.exit(f"{name}: transcribe writes {have!r}; whole runs give {want!r}")
    print("transcribe writes what whole runs give:", repr(want))


if __name__ == "__main__":
    main()
