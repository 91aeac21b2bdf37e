T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256
ROWS = 8


@kernel(lanes=((m + ROWS - 1) // ROWS) * ((n + BLOCK - 1) // BLOCK) * BLOCK, block=BLOCK)
def matrix_gemm(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T],
                m: i64, n: i64, k: i64, lda: i64, ldb: i64, ldc: i64):
    """c = a x b: m x k by k x n; rows of a, b and c begin lda, ldb and ldc elements apart. A block makes 8 rows of 256 columns."""
    across = (n + BLOCK - 1) // BLOCK
    row = block_id() // across * ROWS
    column = block_id() % across * BLOCK + local_id()
    inside = min(column, n - 1)
    barrier()  # the block stays together: its rows are the same for all lanes
    a0 = row * lda
    a1 = min(row + 1, m - 1) * lda
    a2 = min(row + 2, m - 1) * lda
    a3 = min(row + 3, m - 1) * lda
    a4 = min(row + 4, m - 1) * lda
    a5 = min(row + 5, m - 1) * lda
    a6 = min(row + 6, m - 1) * lda
    a7 = min(row + 7, m - 1) * lda
    t0 = widen(T(0))
    t1 = widen(T(0))
    t2 = widen(T(0))
    t3 = widen(T(0))
    t4 = widen(T(0))
    t5 = widen(T(0))
    t6 = widen(T(0))
    t7 = widen(T(0))
    for p in range(k):
        v = widen(b[p * ldb + inside])
        t0 += widen(a[a0 + p]) * v
        t1 += widen(a[a1 + p]) * v
        t2 += widen(a[a2 + p]) * v
        t3 += widen(a[a3 + p]) * v
        t4 += widen(a[a4 + p]) * v
        t5 += widen(a[a5 + p]) * v
        t6 += widen(a[a6 + p]) * v
        t7 += widen(a[a7 + p]) * v
    if column < n:
        c[row * ldc + column] = T(t0)
        if row + 1 < m:
            c[(row + 1) * ldc + column] = T(t1)
        if row + 2 < m:
            c[(row + 2) * ldc + column] = T(t2)
        if row + 3 < m:
            c[(row + 3) * ldc + column] = T(t3)
        if row + 4 < m:
            c[(row + 4) * ldc + column] = T(t4)
        if row + 5 < m:
            c[(row + 5) * ldc + column] = T(t5)
        if row + 6 < m:
            c[(row + 6) * ldc + column] = T(t6)
        if row + 7 < m:
            c[(row + 7) * ldc + column] = T(t7)
