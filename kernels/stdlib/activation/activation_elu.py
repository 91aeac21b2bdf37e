T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_elu(x: DeviceArray[T], y: DeviceArray[T], n: i64, alpha: T):
    """The element where it is positive, else alpha * (exp(x) - 1)."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(v if v > 0 else widen(alpha) * (exp(v) - 1.0))
