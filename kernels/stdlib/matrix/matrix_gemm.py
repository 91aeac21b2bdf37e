T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=m * n)
def matrix_gemm(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], m: i64, n: i64, k: i64, lda: i64, ldb: i64, ldc: i64):
    """c = a x b: m x k by k x n; rows of a, b and c begin lda, ldb and ldc elements apart."""
    i = get_global_id()
    if i < m * n:
        row = i // n
        column = i % n
        total = widen(T(0))
        for p in range(k):
            total += widen(a[row * lda + p]) * widen(b[p * ldb + column])
        c[row * ldc + column] = T(total)
