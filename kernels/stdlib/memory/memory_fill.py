T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def memory_fill(y: DeviceArray[T], n: i64, value: T):
    """Every element is the value."""
    i = get_global_id()
    if i < n:
        y[i] = value
