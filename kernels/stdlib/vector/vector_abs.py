T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def vector_abs(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """The absolute value of each element."""
    i = get_global_id()
    if i < n:
        y[i] = abs(x[i])
