T = types(f32, f64, f16, bf16, i32, i64)


@kernel(lanes=n)
def activation_relu(x: DeviceArray[T], y: DeviceArray[T], n: i64):
    """The element where it is positive, else 0."""
    i = get_global_id()
    if i < n:
        y[i] = max(x[i], T(0))
