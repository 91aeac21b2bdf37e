T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_hard_sigmoid(x: DeviceArray[T], y: DeviceArray[T], n: i64, alpha: T, beta: T):
    """alpha * x + beta of each element, kept between 0 and 1."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(min(max(v * widen(alpha) + widen(beta), 0.0), 1.0))
