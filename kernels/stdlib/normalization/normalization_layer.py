T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def normalization_layer(x: DeviceArray[T], gain: DeviceArray[T], bias: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64, eps: T):
    """Each row less its mean, by its deviation, times gain, plus bias."""
    row = block_id()
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += widen(x[row * n + i])
    mean = block_sum(total) / n
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        d = widen(x[row * n + i]) - mean
        total += d * d
    scale = 1.0 / sqrt(block_sum(total) / n + widen(eps))
    for i in range(local_id(), n, BLOCK):
        y[row * n + i] = T((widen(x[row * n + i]) - mean) * scale * widen(gain[i]) + widen(bias[i]))
