T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_cos(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """The cosine of each element."""
    i = get_global_id()
    if i < n:
        y[i] = cos(x[i])
