T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_leaky_relu(x: DeviceArray[T], y: DeviceArray[T], n: i64, alpha: T):
    """The element where it is positive, else alpha times it."""
    i = get_global_id()
    if i < n:
        y[i] = x[i] if x[i] >= 0 else alpha * x[i]
