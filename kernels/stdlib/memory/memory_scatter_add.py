T = types(f32, f64, i32, i64)


@kernel(lanes=n)
def memory_scatter_add(x: DeviceArray[T], index: DeviceArray[i64], y: DeviceArray[T], n: i64):
    """y[index[i]] += x[i] for each i, several to one place as well."""
    i = get_global_id()
    if i < n:
        atomic_add(y, index[i], x[i])
