#define BLOCK 256
types T(float, double);

inline T square(T x) { return x * x; }

kernel lanes(BLOCK) block(BLOCK) void norm(global const T *x, global T *y, long n)
{
    shared T part[BLOCK];
    T sum = 0;
    long i = local_id();
    while (i < n) {
        sum += square(x[i]);
        i += BLOCK;
    }
    part[local_id()] = sum;
    barrier();
    if (local_id() == 0) {
        T all = 0;
        for (int k = 0; k < BLOCK; k++) all += part[k];
        y[0] = sqrt(all);
    }
}
