T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def activation_softmax(x: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64):
    """exp(x) of each row by the sum of these."""
    row = block_id()
    top = widen(T(-inf))
    for i in range(local_id(), n, BLOCK):
        top = max(top, widen(x[row * n + i]))
    top = block_max(top)
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += exp(widen(x[row * n + i]) - top)
    total = block_sum(total)
    for i in range(local_id(), n, BLOCK):
        y[row * n + i] = T(exp(widen(x[row * n + i]) - top) / total)
