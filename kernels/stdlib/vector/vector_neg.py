T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def vector_neg(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """Each element with its sign turned."""
    i = get_global_id()
    if i < n:
        y[i] = -x[i]
