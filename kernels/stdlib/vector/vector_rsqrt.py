T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_rsqrt(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """One by the square root of each element."""
    i = get_global_id()
    if i < n:
        y[i] = rsqrt(x[i])
