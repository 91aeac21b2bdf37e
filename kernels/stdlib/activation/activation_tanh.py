T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_tanh(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """The hyperbolic tangent of each element."""
    i = get_global_id()
    if i < n:
        y[i] = tanh(x[i])
