T = types(f32, f64, f16, bf16, i32, i64)
TILE = 16


@kernel(lanes=((m + TILE - 1) // TILE) * ((n + TILE - 1) // TILE) * (TILE * TILE), block=TILE * TILE)
def matrix_gemm_tiled(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], m: i64, n: i64, k: i64):
    """c = a x b: m x k by k x n; each block computes a tile of 16 x 16 from tiles in shared memory."""
    ta = shared(T, TILE * TILE)
    tb = shared(T, TILE * TILE)
    tx = local_id() % TILE
    ty = local_id() // TILE
    across = (n + TILE - 1) // TILE
    row = block_id() // across * TILE + ty
    column = block_id() % across * TILE + tx
    total = widen(T(0))
    for t in range((k + TILE - 1) // TILE):
        ka = t * TILE + tx
        kb = t * TILE + ty
        ta[ty * TILE + tx] = a[row * k + ka] if row < m and ka < k else T(0)
        tb[ty * TILE + tx] = b[kb * n + column] if kb < k and column < n else T(0)
        barrier()
        for p in range(TILE):
            total += widen(ta[ty * TILE + p]) * widen(tb[p * TILE + tx])
        barrier()
    if row < m and column < n:
        c[row * n + column] = T(total)
