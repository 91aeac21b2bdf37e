T = types(f32, f64, f16, bf16, i32, i64)
TILE = 16


@kernel(lanes=((m + TILE - 1) // TILE) * ((n + TILE - 1) // TILE) * (TILE * TILE), block=TILE * TILE)
def matrix_transpose(x: DeviceArray[T], y: DeviceArray[T], m: i64, n: i64):
    """y = x turned, m x n to n x m: tiles of 16 x 16 go through shared memory, so that rows are read and written whole."""
    tile = shared(T, TILE * TILE)
    tx = local_id() % TILE
    ty = local_id() // TILE
    across = (n + TILE - 1) // TILE
    top = block_id() // across * TILE
    left = block_id() % across * TILE
    if top + ty < m and left + tx < n:
        tile[ty * TILE + tx] = x[(top + ty) * n + left + tx]
    barrier()
    if left + ty < n and top + tx < m:
        y[(left + ty) * m + top + tx] = tile[tx * TILE + ty]
