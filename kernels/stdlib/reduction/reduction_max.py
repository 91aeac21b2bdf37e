T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def reduction_max(x: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64):
    """The largest element of each row, which has one at least."""
    row = block_id()
    total = widen(x[row * n])
    for i in range(local_id(), n, BLOCK):
        total = max(total, widen(x[row * n + i]))
    total = block_max(total)
    if local_id() == 0:
        y[row] = T(total)
