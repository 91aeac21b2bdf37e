T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def vector_layer_norm(x: DeviceArray[T], y: DeviceArray[T], n: i64, eps: T):
    """All elements less their mean, by their deviation; one block."""
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += widen(x[i])
    mean = block_sum(total) / n
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        d = widen(x[i]) - mean
        total += d * d
    scale = 1.0 / sqrt(block_sum(total) / n + widen(eps))
    for i in range(local_id(), n, BLOCK):
        y[i] = T((widen(x[i]) - mean) * scale)
