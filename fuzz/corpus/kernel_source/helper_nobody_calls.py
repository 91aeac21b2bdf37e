@inline
def h(x, a):
    y = x
    for i in range(3):
        yf+= a[i]
    return y if y > 0 else -y
def k(a: DeviceArray[f32], b: DeviceArray[i32], n: i32):
    t = local(f32, 4)
    s = shared(i32, 8)
    i = get_global_id(1) + local_id() * block_dim() // len(a)
    x = 1.5e-3 ** 2 + a[i % 7]
    barrier()
