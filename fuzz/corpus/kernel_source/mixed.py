T = types(f32, i64)
@inline
def sq(x):
    return x * x
def add(a: DeviceArray[T], b: DeviceArray[T], c: DeviceArray[T], n: u32):
    """Adds."""
    i = get_global_id()
    if i < n:
        c[i] = a[i] + b[i]
@kernel(lanes=m * n)
def gemm(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], m: i32, n: i32, k: i32):
    i = get_global_id()
    if i >= m * n:
        return
    row = i // n
    col = i % n
    acc = 0.0
    for p in range(k):
        acc += a[row * k + p] * b[p * n + col]
    c[i] = acc
@kernel(lanes=n, block=256)
def reduce(a: DeviceArray[f32], out: DeviceArray[f32], n: i32):
    t = shared(f32, 256)
    l = local_id()
    acc = 0.0
    for i in range(l, n, block_dim()):
        acc += a[i]
    t[l] = acc
    barrier()
    step = 128
    while step > 0:
        if l < step:
            t[l] += t[l + step]
        barrier()
        step //= 2
    if l == 0:
        out[0] = t[0]
def fib(a: DeviceArray[i32], n: i32):
    x = 0
    y = 1
    t = 0
    for i in range(n):
        t = x
        x = y
        y = t + y
        if y > 1000:
            break
        if y % 3 == 0:
            continue
        a[0] = x
    a[1] = x
    a[2] = y + sq(x)
    z = 0.0
    for k in range(4):
        z += f32(k) * 0.5
    a[3] = i32(z) if n > 3 and a[0] != 2 else 7
