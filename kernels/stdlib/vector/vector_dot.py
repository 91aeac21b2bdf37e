T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def vector_dot(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """c[0] = the sum of a * b; one block."""
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        total += widen(a[i]) * widen(b[i])
    total = block_sum(total)
    if local_id() == 0:
        c[0] = T(total)
