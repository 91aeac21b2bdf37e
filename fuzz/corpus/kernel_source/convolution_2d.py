T = types(f32, f64, f16, bf16)


@kernel(lanes=n * co * oh * ow)
def convolution_2d(x: DeviceArray[T], filters: DeviceArray[T], bias: DeviceArray[T], y: DeviceArray[T],
                   n: i64, ci: i64, h: i64, w: i64, co: i64, kh: i64, kw: i64, oh: i64, ow: i64, groups: i64,
                   stride_y: i64, stride_x: i64, pad_y: i64, pad_x: i64, dilation_y: i64, dilation_x: i64):
    """Images n x ci x h x w by filters co x ci / groups x kh x kw: y is n x co x oh x ow."""
    i = get_global_id()
    if i < n * co * oh * ow:
        ox = i % ow
        oy = i // ow % oh
        oc = i // (ow * oh) % co
        image = i // (ow * oh * co)
        inner = ci // groups
        first = oc // (co // groups) * inner
        total = widen(bias[oc])
        for c in range(inner):
            for ky in range(kh):
                iy = oy * stride_y - pad_y + ky * dilation_y
                if 0 <= iy < h:
                    for kx in range(kw):
                        ix = ox * stride_x - pad_x + kx * dilation_x
                        if 0 <= ix < w:
                            v = widen(x[((image * ci + first + c) * h + iy) * w + ix])
                            total += v * widen(filters[((oc * inner + c) * kh + ky) * kw + kx])
        y[i] = T(total)
