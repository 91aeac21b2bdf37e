T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=rows * n)
def memory_gather(x: DeviceArray[T], index: DeviceArray[i64], y: DeviceArray[T], rows: i64, n: i64):
    """Row i of y is row index[i] of x; rows have n elements."""
    i = get_global_id()
    if i < rows * n:
        y[i] = x[index[i // n] * n + i % n]
