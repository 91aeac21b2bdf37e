T = types(f32, f64, f16, bf16, i32, i64)
BLOCK = 256


@kernel(lanes=BLOCK, block=BLOCK)
def reduction_tree(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """y[0] = the sum of all elements, by a tree in shared memory: half of the lanes add the other half, again and again."""
    part = shared(widen(T), BLOCK)
    lane = local_id()
    total = widen(T(0))
    for i in range(lane, n, BLOCK):
        total += widen(x[i])
    part[lane] = total
    barrier()
    half = BLOCK // 2
    while half > 0:
        if lane < half:
            part[lane] += part[lane + half]
        barrier()
        half //= 2
    if lane == 0:
        y[0] = T(part[0])
