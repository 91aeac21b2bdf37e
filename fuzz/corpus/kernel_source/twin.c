#define A 1
#define N (4 * 4)
types T(float, double);
inline T sq(T x) { return x * x; }
/* a kernel */
kernel lanes(n) block(N, 2) void f(global const T *a, global T *b, int n)
{
    shared T t[N];
    long i = get_global_id();
    if (i >= n) return;
    T acc = 0;
    for (int k = 0; k <= 20; k++) { int x = k; acc += sq(a[i]) * (T)x; }
    { int x = 2; acc += (T)(x / 2 + x % 3); }
    while (acc > 10 && !(acc < 5)) { acc /= 2; if (acc == 3) continue; }
    b[i] = acc > 0 ? acc : -acc;
    b[0]++;
}
