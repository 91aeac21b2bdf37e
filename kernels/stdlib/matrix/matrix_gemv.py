T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=m)
def matrix_gemv(a: DeviceArray[T], x: DeviceArray[T], y: DeviceArray[T], m: i64, n: i64):
    """y = a x: m x n by n."""
    row = get_global_id()
    if row < m:
        total = widen(T(0))
        for p in range(n):
            total += widen(a[row * n + p]) * widen(x[p])
        y[row] = T(total)
