T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def vector_sum(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """y[0] = the sum of all elements; one block."""
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += widen(x[i])
    total = block_sum(total)
    if local_id() == 0:
        y[0] = T(total)
