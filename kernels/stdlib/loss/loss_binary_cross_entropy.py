T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def loss_binary_cross_entropy(x: DeviceArray[T], target: DeviceArray[T], y: DeviceArray[T], n: i64):
    """y[0] = the mean of -(t log x + (1 - t) log(1 - x)), where x lies between 0 and 1; one block."""
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        v = widen(x[i])
        t = widen(target[i])
        total -= t * log(v) + (1.0 - t) * log(1.0 - v)
    total = block_sum(total)
    if local_id() == 0:
        y[0] = T(total / n)
