T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256


@kernel(lanes=rows * BLOCK, block=BLOCK)
def reduction_prod(x: DeviceArray[T], y: DeviceArray[T], rows: i64, n: i64):
    """The product of each row."""
    row = block_id()
    total = widen(T(1))
    for i in range(local_id(), n, BLOCK):
        total *= widen(x[row * n + i])
    total = block_product(total)
    if local_id() == 0:
        y[row] = T(total)
