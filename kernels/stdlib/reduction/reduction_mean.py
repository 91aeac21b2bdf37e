T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def reduction_mean(x: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64):
    """The mean of each row."""
    row = block_id()
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += widen(x[row * n + i])
    total = block_sum(total)
    if local_id() == 0:
        y[row] = T(total / n)
