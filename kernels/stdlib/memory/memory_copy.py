T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def memory_copy(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """y = x."""
    i = get_global_id()
    if i < n:
        y[i] = x[i]
