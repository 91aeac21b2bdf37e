T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def activation_gelu_tanh(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """Gelu by its tanh form of each element."""
    i = get_global_id()
    if i < n:
        v = widen(x[i])
        y[i] = T(0.5 * v * (1.0 + tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))))
