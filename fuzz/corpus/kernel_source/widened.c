#define N 16
types T(float, half);
inline widen(T) twice(T x) { return widen(x) * 2; }
kernel lanes(n) block(N) void k(global const T *x, global T *y, long n)
{
    shared widen(T) part[N];
    widen(T) sum = 0;
    sum += twice(x[get_global_id()]);
    part[local_id()] = sum;
    barrier();
    y[get_global_id()] = (T)(part[15 - local_id()]);
}
