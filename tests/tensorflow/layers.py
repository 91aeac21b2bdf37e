#!/usr/bin/env python3
"""Runs small models of Keras' layers and compares with their answers: layers.py PROGRAM [PATTERN...]

layers.json is from TensorFlow.js (make_layers.mjs). BY_HAND has layers that it lacks; their answers follow from the definitions.
Each case is written as a layers model of TensorFlow.js: model.json and a file of weights.
"""
import ast
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def read_npy(path):
    data = path.read_bytes()
    size = int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10 : 10 + size].decode("latin1"))
    code, body = {"<f4": "f", "<i8": "q", "<i4": "i"}[header["descr"]], data[10 + size :]
    return list(header["shape"]), list(struct.unpack(f"<{len(body) // struct.calcsize(code)}{code}", body))


def write_npy(path, shape, values):
    text = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)})
    text += " " * (-(len(text) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + struct.pack(f"<{len(values)}f", *values))


def functional(layers, inputs, output):
    """layers: (class, name, config, names of inputs)."""
    made = [{"class_name": "InputLayer", "name": n, "config": {"name": n, "batch_input_shape": [None, *s], "dtype": "float32"}, "inbound_nodes": []} for n, s in inputs]
    made += [{"class_name": k, "name": n, "config": {"name": n, **c}, "inbound_nodes": [[[i, 0, 0, {}] for i in ins]]} for k, n, c, ins in layers]
    return {"class_name": "Model", "config": {"name": "m", "layers": made, "input_layers": [[n, 0, 0] for n, _ in inputs], "output_layers": [[output, 0, 0]]}}


def by_hand(layer, config, inputs, weights, shape, answer):
    topology = functional([(layer, "y", config, [n for n, _, _ in inputs])], [(n, s[1:]) for n, s, _ in inputs], "y")
    return {"topology": topology, "weights": [[f"y/{n}", s, v] for n, s, v in weights], "inputs": inputs, "outputs": [["y", shape, answer]]}


X = ["x", [1, 3], [1.0, 2.0, -1.0]]
ONE, OTHER = math.exp(math.tanh(1) + math.tanh(3)), math.exp(math.tanh(2) + math.tanh(2))
RMS = math.sqrt(2 + 1e-6)
BY_HAND = {
    "einsum_dense": by_hand("EinsumDense", {"equation": "ab,bc->ac", "bias_axes": "c", "activation": "relu"}, [X],
                            [["kernel", [3, 2], [1.0, 0.0, 0.0, 1.0, 1.0, -5.0]], ["bias", [2], [0.5, -9.0]]], [1, 2], [0.5, 0.0]),
    "additive_attention": by_hand("AdditiveAttention", {"use_scale": True}, [["q", [1, 1, 2], [1.0, 2.0]], ["v", [1, 2, 2], [0.0, 1.0, 1.0, 0.0]]],
                                  [["scale", [2], [1.0, 1.0]]], [1, 1, 2], [OTHER / (ONE + OTHER), ONE / (ONE + OTHER)]),
    "attention_backwards_alone": by_hand("Attention", {"use_scale": False, "causal": True}, [["q", [1, 2, 1], [1.0, 1.0]], ["v", [1, 2, 1], [0.0, 2.0]]], [], [1, 2, 1],
                                         [0.0, 2 * math.exp(2) / (1 + math.exp(2))]),
    "rms_normalization": by_hand("RMSNormalization", {"axis": -1, "epsilon": 1e-6}, [X], [["scale", [3], [1.0, 2.0, 3.0]]], [1, 3], [1 / RMS, 4 / RMS, -3 / RMS]),
    "categories": by_hand("CategoryEncoding", {"num_tokens": 4, "output_mode": "count"}, [["x", [1, 3], [1.0, 3.0, 1.0]]], [], [1, 4], [0.0, 2.0, 0.0, 1.0]),
    "categories_at_once": by_hand("CategoryEncoding", {"num_tokens": 4, "output_mode": "multi_hot"}, [["x", [1, 3], [1.0, 3.0, 1.0]]], [], [1, 4], [0.0, 1.0, 0.0, 1.0]),
    "bins": by_hand("Discretization", {"bin_boundaries": [-1.0, 0.5, 2.0], "output_mode": "int"}, [X], [], [1, 3], [2, 3, 1]),
    "numbers_looked_up": by_hand("IntegerLookup", {"vocabulary": [7, 9], "num_oov_indices": 1, "mask_token": None, "output_mode": "int"},
                                 [["x", [1, 3], [9.0, 5.0, 7.0]]], [], [1, 3], [2, 0, 1]),
    "hashes": by_hand("Hashing", {"num_bins": 10}, [["x", [1, 2], [12.0, 7.0]]], [], [1, 2], [8, 8]),
}


def check(program, case, folder):
    folder.mkdir()
    specs = [{"name": n, "shape": s, "dtype": "float32"} for n, s, _ in case["weights"]]
    (folder / "w.bin").write_bytes(b"".join(struct.pack(f"<{len(v)}f", *v) for _, _, v in case["weights"]))
    (folder / "model.json").write_text(json.dumps({"format": "layers-model", "modelTopology": case["topology"], "weightsManifest": [{"paths": ["w.bin"], "weights": specs}]}))
    given = []
    for name, shape, values in case["inputs"]:
        write_npy(folder / f"{name}.npy", shape, values)
        given.append(f"--input={name}={folder / name}.npy")
    done = subprocess.run([program, "run", folder / "model.json", *given, "--quiet", "--output", folder / "out"], capture_output=True, text=True)
    if done.returncode:
        return " ".join((done.stderr or done.stdout).split())[:300]
    seen = {}
    for name, shape, want in case["outputs"]:
        seen[name] = seen.get(name, -1) + 1
        have_shape, have = read_npy(folder / "out" / (f"{name}_{seen[name]}.npy" if seen[name] else f"{name}.npy"))
        if have_shape != shape:
            return f"{name} has sizes {have_shape}, not {shape}"
        worst, largest = max((abs(a - b) for a, b in zip(want, have)), default=0), max((abs(a) for a in want), default=0) or 1
        if not worst <= 2e-5 * largest:
            return f"{name} is {worst:g} off: {have[:6]} instead of {want[:6]}"
    return None


def main():
    program, patterns = sys.argv[1], sys.argv[2:]
    cases = {**json.loads((HERE / "layers.json").read_text()), **BY_HAND}
    names = [n for n in cases if not patterns or any(p in n for p in patterns)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            reason = check(program, cases[name], pathlib.Path(folder) / name)
            if reason:
                failed += 1
                print(f"FAILED {name}: {reason}", flush=True)
    print(f"{len(names) - failed} of {len(names)} models of layers agree with TensorFlow.js")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
