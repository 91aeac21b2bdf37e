"""Kernels in real Python: this file is imported by a test, and compiled by `hologram compile`."""

from hologram import DeviceArray, f32, f64, get_global_id, i64, inline, kernel, types

T = types(f32, f64)
HALF = 0.5


@inline
def halved(x):
    return x * HALF


@kernel(lanes="n")
def half_sum(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """c = (a + b) / 2"""
    i = get_global_id()
    if i < n:
        c[i] = halved(a[i] + b[i])
