T = types(f32, f64, f16, bf16)


@kernel(lanes=n)
def normalization_batch(x: DeviceArray[T], gain: DeviceArray[T], bias: DeviceArray[T], mean: DeviceArray[T], variance: DeviceArray[T], y: DeviceArray[T], n: i64, size: i64, channels: i64, eps: T):
    """Each element less the mean of its channel, by its deviation, times gain, plus bias; channels have size elements."""
    i = get_global_id()
    if i < n:
        c = i // size % channels
        d = (widen(x[i]) - widen(mean[c])) / sqrt(widen(variance[c]) + widen(eps))
        y[i] = T(d * widen(gain[c]) + widen(bias[c]))
