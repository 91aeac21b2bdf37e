T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_gelu(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """x * (1 + erf(x / sqrt(2))) / 2 of each element."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(0.5 * v * (1.0 + erf(v * 0.7071067811865476)))
