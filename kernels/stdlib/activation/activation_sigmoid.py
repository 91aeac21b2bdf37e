T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_sigmoid(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """1 / (1 + exp(-x)) of each element."""
    i = get_global_id()
    if i < n:
        y[i] = sigmoid(x[i])
