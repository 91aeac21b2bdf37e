T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def vector_add(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """c = a + b, element by element."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] + b[i]
