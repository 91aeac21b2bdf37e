T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_pow(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """a to the power of b, element by element."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] ** b[i]
