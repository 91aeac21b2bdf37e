T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def normalization_rms(x: DeviceArray[T], gain: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64, eps: T):
    """Each row by the root of the mean of its squares, times gain."""
    row = block_id()
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        v = widen(x[row * n + i])
        total += v * v
    scale = 1.0 / sqrt(block_sum(total) / n + widen(eps))
    for i in range(local_id(), n, BLOCK):
        y[row * n + i] = T(widen(x[row * n + i]) * scale * widen(gain[i]))
