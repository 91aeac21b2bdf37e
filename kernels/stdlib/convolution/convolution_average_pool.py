T = types(f32, f64, f16, bf16)


@kernel(lanes=channels * oh * ow)
def convolution_average_pool(x: DeviceArray[T], y: DeviceArray[T], channels: i64, h: i64, w: i64, oh: i64, ow: i64,
                         kh: i64, kw: i64, stride_y: i64, stride_x: i64, pad_y: i64, pad_x: i64):
    """The mean of the pixels of each window that lie inside of the image: h x w to oh x ow, for each channel."""
    i = get_global_id()
    if i < channels * oh * ow:
        ox = i % ow
        oy = i // ow % oh
        channel = i // (ow * oh)
        total = widen(T(0))
        count = 0
        for ky in range(kh):
            iy = oy * stride_y - pad_y + ky
            if 0 <= iy < h:
                for kx in range(kw):
                    ix = ox * stride_x - pad_x + kx
                    if 0 <= ix < w:
                        v = widen(x[(channel * h + iy) * w + ix])
                        total += v
                        count += 1
        y[i] = T(total / count)
