"""A kernel in Python: the Mandelbrot set, with one lane for each point.

usage: own_kernel.py
"""

import array

from hologram import DeviceArray, f32, get_global_id, i32, i64, kernel

TURNS = 50


@kernel(lanes="width * height")
def mandelbrot(count: DeviceArray[i32], width: i64, height: i64):
    """How many turns each point stays near 0."""
    i = get_global_id()
    if i < width * height:
        a = f32(i % width) / f32(width) * 3 - 2.25
        b = f32(i // width) / f32(height) * 2.5 - 1.25
        x = f32(0)
        y = f32(0)
        turns = 0
        while turns < TURNS and x * x + y * y < 4:
            t = x * x - y * y + a
            y = 2 * x * y + b
            x = t
            turns += 1
        count[i] = turns


if __name__ == "__main__":
    width, height = 72, 28
    count = array.array("i", bytes(4 * width * height))
    mandelbrot(count, width, height)
    for row in range(height):
        print("".join(" .:-=+*#%@"[min(9, n * 10 // TURNS)] for n in count[row * width:(row + 1) * width]))
