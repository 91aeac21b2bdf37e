T = types(f32, f64, f16, bf16)


@kernel(lanes=heads * queries)
def attention_scaled(q: DeviceArray[T], k: DeviceArray[T], v: DeviceArray[T], y: DeviceArray[T],
                     heads: i64, queries: i64, keys: i64, size: i64, scale: f32):
    """Each row of q asks all keys of its head: softmax(q k * scale) v. Heads of at most 128 elements."""
    i = get_global_id()
    gathered = local(widen(T), 128)
    if i < heads * queries:
        head = i // queries
        top: widen(T) = -inf
        for j in range(keys):
            score: widen(T) = 0
            for e in range(size):
                score += widen(q[i * size + e]) * widen(k[(head * keys + j) * size + e])
            top = max(top, score * scale)
        for e in range(size):
            gathered[e] = 0
        total: widen(T) = 0
        for j in range(keys):
            score = 0
            for e in range(size):
                score += widen(q[i * size + e]) * widen(k[(head * keys + j) * size + e])
            weight = exp(score * scale - top)
            total += weight
            for e in range(size):
                gathered[e] += weight * widen(v[(head * keys + j) * size + e])
        for e in range(size):
            y[i * size + e] = T(gathered[e] / total)
