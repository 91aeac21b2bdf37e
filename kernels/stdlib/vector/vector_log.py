T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_log(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """The natural logarithm of each element."""
    i = get_global_id()
    if i < n:
        y[i] = log(x[i])
