@inline
def h(x, a):
    y = x
    for i in range(3):
        y += a[i]
    return y if y > 0 else -y
def k(a: DeviceArray[f32], b: DeviceArray[i32], n: i32):
    t = local(f32, 4)
    s = shared(i32, 8)
    i = get_global_id(1) + local_id() * block_dim() // len(a)
    x = 1.5e-3 ** 2 + a[i % 7] / 3
    while x < 10.0 and not (n == 3 or n << 2 > 5):
        x *= 2
        if x > 5: break
        elif x < 1:
            continue
    t[0] = h(x, a)
    s[1] = ~b[0] & 0xff | 1 ^ n
    old = atomic_add(b, 0, s[1])
    a[0] = f32(old) + min(x, t[0], 2) + block_sum(x) + scan_max(x)
    parallel_map_unary(a, a, "relu", n)
    parallel_map_binary(a, a, a, "pow", n)
    parallel_reduce(a, a, "max", n)
    barrier()
