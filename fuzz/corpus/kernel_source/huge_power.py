A = 1 ** 9223372036854775807
def k(a: DeviceArray[i64], n: i64):
    a[0] = A
