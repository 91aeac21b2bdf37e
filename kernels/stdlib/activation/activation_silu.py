T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_silu(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """x * sigmoid(x) of each element."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(v * sigmoid(v))
