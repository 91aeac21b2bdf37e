T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def vector_max(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """The larger one of a and b, element by element; NaN where either is."""
    i = get_global_id()
    if i < n:
        c[i] = max(a[i], b[i])
