T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=rows)
def reduction_argmax(x: DeviceArray[T], y: DeviceArray[i64], rows: i64, n: i64):
    """Where the largest element of each row is, the first one of several."""
    row = get_global_id()
    if row < rows:
        best: i64 = 0
        for i in range(1, n):
            if x[row * n + i] > x[row * n + best]:
                best = i
        y[row] = best
