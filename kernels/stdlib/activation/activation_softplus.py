T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_softplus(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """log(1 + exp(x)) of each element, without overflow."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(max(v, 0.0) + log(1.0 + exp(-abs(v))))
