T = types(f32, f16, bf16)


@kernel(lanes=heads * queries)
def attention_scaled(q: DeviceArray[T], k: DeviceArray[T], v: DeviceArray[T], y: DeviceArray[T],
                     heads: i64, queries: i64, keys: i64, size: i64, scale: f32):
    """Each row of q asks all keys of its head: softmax(q k * scale) v. Heads of at most 128 elements."""
    i = get_global_id()
    gathered = local(f32, 128)
    if i < heads * queries:
        head = i // queries
        top = -inf
        for j in range(keys):
            score = 0.0
            for e in range(size):
                score += f32(q[i * size + e]) * f32(k[(head * keys + j) * size + e])
            top = max(top, score * scale)
        for e in range(size):
            gathered[e] = 0
        total = 0.0
        for j in range(keys):
            score = 0.0
            for e in range(size):
                score += f32(q[i * size + e]) * f32(k[(head * keys + j) * size + e])
            weight = exp(score * scale - top)
            total += weight
            for e in range(size):
                gathered[e] += weight * f32(v[(head * keys + j) * size + e])
        for e in range(size):
            y[i * size + e] = T(gathered[e] / total)
