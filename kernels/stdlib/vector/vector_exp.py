T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_exp(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """e to the power of each element."""
    i = get_global_id()
    if i < n:
        y[i] = exp(x[i])
