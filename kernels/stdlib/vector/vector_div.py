T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def vector_div(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: i64):
    """c = a / b, element by element."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] / b[i]
