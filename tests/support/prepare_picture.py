"""prepare_picture.py OUT.npy WIDTH HEIGHT FOLDER - the picture of png.py of this size as FOLDER/preprocessor_config.json wants it:
f32[1, 3, height, width]. Computed plainly, as the library Pillow resizes: one side after the other, in whole numbers."""
import json
import math
import struct
import sys


def linear(x):
    return max(0.0, 1 - abs(x))


def cubic(x, a=-0.5):
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def line_resized(line, size, method):
    """A list of pixels, each a tuple."""
    scale = len(line) / size
    if method == 0:
        return [line[int((i + 0.5) * scale)] for i in range(size)]
    weigh, radius = (linear, 1) if method == 2 else (cubic, 2)
    stretch, out = max(scale, 1.0), []
    for i in range(size):
        center = (i + 0.5) * scale
        taps = range(max(0, int(center - radius * stretch + 0.5)), min(len(line), int(center + radius * stretch + 0.5)))
        weights = [weigh((t + 0.5 - center) / stretch) for t in taps]
        sums = [sum(w * line[t][c] for w, t in zip(weights, taps)) / sum(weights) for c in range(3)]
        out.append(tuple(min(255, max(0, math.floor(x + 0.5))) for x in sums))
    return out


def resized(rows, height, width, method):
    rows = [line_resized(row, width, method) for row in rows]
    columns = [line_resized(list(column), height, method) for column in zip(*rows)]
    return [list(row) for row in zip(*columns)]


def cut(rows, height, width):
    top, left = (len(rows) - height) // 2, (len(rows[0]) - width) // 2

    def at(y, x):
        return rows[y][x] if 0 <= y < len(rows) and 0 <= x < len(rows[0]) else (0, 0, 0)
    return [[at(top + y, left + x) for x in range(width)] for y in range(height)]


def prepared(rows, config):
    size, crop, part = config["size"], config.get("crop_size"), config.get("crop_pct")
    if isinstance(size, int):
        size = {"shortest_edge": size} if crop else {"height": size, "width": size}
    if part:
        edge = size["shortest_edge"]
        size, crop = {"shortest_edge": int(edge / part)}, edge
    if "shortest_edge" in size:
        edge, high, wide = size["shortest_edge"], len(rows), len(rows[0])
        size = {"height": edge * high // wide, "width": edge} if high > wide else {"height": edge, "width": edge * wide // high}
    rows = resized(rows, size["height"], size["width"], config["resample"])
    if crop:
        crop = {"height": crop, "width": crop} if isinstance(crop, int) else crop
        rows = cut(rows, crop["height"], crop["width"])
    return rows


def main(out, width, height, folder):
    with open(folder + "/preprocessor_config.json") as file:
        config = json.load(file)
    rows = [[(255 * x // (width - 1), 255 * y // (height - 1), 128) for x in range(width)] for y in range(height)]
    rows = prepared(rows, config)
    scales = config.get("do_normalize", True)
    mean, std = (config["image_mean"], config["image_std"]) if scales else ([0] * 3, [1] * 3)
    floats = [(row[x][c] / 255 - mean[c]) / std[c] for c in range(3) for row in rows for x in range(len(row))]
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, %d, %d), }" % (len(rows), len(rows[0]))
    with open(out, "wb") as file:
        file.write(b"\x93NUMPY\1\0\x76\0" + header.ljust(117).encode() + b"\n" + struct.pack("<%df" % len(floats), *floats))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
