#!/usr/bin/python3
"""Trains the demo's digit classifier and writes it as ONNX.

    conv 3x3 x 12, relu, max pool 2x2, conv 3x3 x 24, relu, dense 384 -> 64, relu, dense 64 -> 10, softmax

on the 8x8 digits of scikit-learn (UCI, 1,797 images), in plain NumPy: seeded, under a minute. It writes
digits.onnx and, from images that it never saw in training, digits/NN_is_LABEL.npy. Both are committed, so
that the demo itself needs no Python. Run it again with: python3 demo/train.py
"""

import pathlib
import struct

import numpy as np
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).parent
IMAGES = 20  # shown by the demo
EPOCHS, BATCH, RATE = 24, 32, 2e-3


# ---- the network: each layer keeps what its backward pass needs


class Conv:
    """3x3, padding 1. Weights are [out, in, 3, 3], as ONNX has them."""

    def __init__(self, random, inputs, outputs):
        self.w = random.normal(0, np.sqrt(2 / (inputs * 9)), (outputs, inputs, 3, 3))
        self.b = np.zeros(outputs)

    def forward(self, x):
        n, c, h, w = x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        self.columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)
        self.shape = x.shape
        y = self.columns @ self.w.reshape(len(self.w), -1).T + self.b
        return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        flat = dy.transpose(0, 2, 3, 1).reshape(n * h * w, -1)
        self.dw = (flat.T @ self.columns).reshape(self.w.shape)
        self.db = flat.sum(0)
        columns = (flat @ self.w.reshape(len(self.w), -1)).reshape(n, h, w, c, 3, 3)
        dx = np.zeros((n, c, h + 2, w + 2))
        for i in range(3):
            for j in range(3):
                dx[:, :, i : i + h, j : j + w] += columns[:, :, :, :, i, j].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]


class Dense:
    """y = x W + b, with W [in, out]."""

    def __init__(self, random, inputs, outputs):
        self.w = random.normal(0, np.sqrt(2 / inputs), (inputs, outputs))
        self.b = np.zeros(outputs)

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b

    def backward(self, dy):
        self.dw, self.db = self.x.T @ dy, dy.sum(0)
        return dy @ self.w.T


class Relu:
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, dy):
        return dy * self.mask


class Pool:
    """The largest of 2x2."""

    def forward(self, x):
        n, c, h, w = x.shape
        blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = blocks.max((3, 5))
        self.mask = blocks == y[:, :, :, None, :, None]
        return y

    def backward(self, dy):
        n, c, h, w = dy.shape
        return (self.mask * dy[:, :, :, None, :, None]).reshape(n, c, 2 * h, 2 * w)


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def forward(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def train(layers, images, labels, random):
    """Adam on cross entropy, on images with a little noise."""
    learned = [layer for layer in layers if hasattr(layer, "w")]
    moments = [[np.zeros_like(p) for p in (l.w, l.b, l.w, l.b)] for l in learned]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            at = order[start : start + BATCH]
            x = images[at] + random.normal(0, 0.08, images[at].shape)
            gradient = softmax(forward(layers, x))
            gradient[np.arange(len(at)), labels[at]] -= 1
            gradient /= len(at)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            for layer, m in zip(learned, moments):
                for k, (value, slope) in enumerate(((layer.w, layer.dw), (layer.b, layer.db))):
                    m[k] += 0.1 * (slope - m[k])
                    m[k + 2] += 0.001 * (slope**2 - m[k + 2])
                    scale = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                    value -= rate * scale * m[k] / (np.sqrt(m[k + 2]) + 1e-8)
        right = (forward(layers, images).argmax(1) == labels).mean()
        print(f"epoch {epoch + 1:2d}: {right:.1%} of the training images right", flush=True)


# ---- ONNX: protobuf by hand, for it is only this much


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name, array):
    kind, form = (7, "<i8") if array.dtype.kind == "i" else (1, "<f4")
    dims = b"".join(field(1, int(d)) for d in array.shape)
    return dims + field(2, kind) + field(8, name) + field(9, np.ascontiguousarray(array, form).tobytes())


def attribute(name, value):
    if isinstance(value, int):
        return field(1, name) + field(3, value) + field(20, 2)
    return field(1, name) + b"".join(field(8, v) for v in value) + field(20, 7)


def node(op, inputs, output, **attributes):
    out = b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output + "_" + op.lower()) + field(4, op)
    return out + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())


def port(name, dims):
    shape = b"".join(field(1, field(2, d) if isinstance(d, str) else field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def export(path, layers):
    conv1, conv2, dense1, dense2 = (layer for layer in layers if hasattr(layer, "w"))
    weights = {
        "scale": np.float32(1 / 16),
        "conv1.w": conv1.w, "conv1.b": conv1.b, "conv2.w": conv2.w, "conv2.b": conv2.b,
        "dense1.w": dense1.w, "dense1.b": dense1.b, "dense2.w": dense2.w, "dense2.b": dense2.b,
    }  # fmt: skip
    nodes = [
        node("Mul", ["image", "scale"], "scaled"),
        node("Conv", ["scaled", "conv1.w", "conv1.b"], "conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["conv1"], "relu1"),
        node("MaxPool", ["relu1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["pool1", "conv2.w", "conv2.b"], "conv2", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["conv2"], "relu2"),
        node("Flatten", ["relu2"], "flat", axis=1),
        node("Gemm", ["flat", "dense1.w", "dense1.b"], "dense1"),
        node("Relu", ["dense1"], "relu3"),
        node("Gemm", ["relu3", "dense2.w", "dense2.b"], "logits"),
        node("Softmax", ["logits"], "probabilities", axis=1),
    ]
    graph = b"".join(field(1, n) for n in nodes) + field(2, "digits")
    graph += b"".join(field(5, tensor(k, np.asarray(v))) for k, v in weights.items())
    graph += field(11, port("image", ["batch", 1, 8, 8])) + field(12, port("probabilities", ["batch", 10]))
    model = field(1, 8) + field(2, "hologram-demo") + field(3, "1") + field(7, graph)
    model += field(8, field(1, "") + field(2, 13))
    path.write_bytes(model)
    return len(model)


def write_npy(path, array):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {array.shape}, }}".encode()
    head += b" " * (117 - len(head)) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + array.astype("<f4").tobytes())


def main():
    digits = load_digits()
    random = np.random.default_rng(7)
    order = random.permutation(len(digits.images))
    images = digits.images[order, None].astype(np.float64)
    labels = digits.target[order]
    held_out = 360
    layers = [Conv(random, 1, 12), Relu(), Pool(), Conv(random, 12, 24), Relu(), Flatten(),
              Dense(random, 384, 64), Relu(), Dense(random, 64, 10)]  # fmt: skip
    train(layers, images[held_out:] / 16, labels[held_out:], random)

    answers = forward(layers, images[:held_out] / 16).argmax(1)
    print(f"held out: {(answers == labels[:held_out]).sum()} of {held_out} right")
    print(f"digits.onnx: {export(HERE / 'digits.onnx', layers)} bytes")

    folder = HERE / "digits"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.npy"):
        old.unlink()
    shown = np.concatenate([np.flatnonzero(labels[:held_out] == d)[: IMAGES // 10] for d in range(10)])
    for k, i in enumerate(random.permutation(shown)):
        write_npy(folder / f"{k + 1:02d}_is_{labels[i]}.npy", images[i : i + 1])


if __name__ == "__main__":
    main()
