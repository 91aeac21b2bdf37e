T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def memory_clip(x: DeviceArray[T], y: DeviceArray[T], n: i64, low: T, high: T):
    """Each element, kept between low and high."""
    i = get_global_id()
    if i < n:
        y[i] = min(max(x[i], low), high)
