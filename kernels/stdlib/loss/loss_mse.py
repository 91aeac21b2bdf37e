T = types(f32, f64, f16, bf16)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def loss_mse(x: DeviceArray[T], target: DeviceArray[T], y: DeviceArray[T], n: i64):
    """y[0] = the mean of the squares of x - target; one block."""
    total = widen(T(0))
    for i in range(local_id(), n, BLOCK):
        d = widen(x[i]) - widen(target[i])
        total += d * d
    total = block_sum(total)
    if local_id() == 0:
        y[0] = T(total / n)
