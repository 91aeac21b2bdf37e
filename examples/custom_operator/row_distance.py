T = types(f32, f64)


@kernel(operator="com.example::RowDistance", lanes=a_0 * b_0)
def row_distance(a: DeviceArray[T], b: DeviceArray[T], y: DeviceArray[T], a_0: i64, b_0: i64, a_1: i64):
    """y[i, j] is how far row i of a is from row j of b."""
    i = get_global_id()
    if i < a_0 * b_0:
        total = T(0)
        for k in range(a_1):
            d = a[i // b_0 * a_1 + k] - b[i % b_0 * a_1 + k]
            total += d * d
        y[i] = sqrt(total)


def row_distance_shape(a: DeviceArray[i64], b: DeviceArray[i64], y: DeviceArray[i64]):
    """The shape of y, from the shapes of a and b."""
    y[0] = a[0]
    y[1] = b[0]
