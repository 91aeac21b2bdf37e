#define A 1
kernel void k(global long *a, long n) { for (long i = n; i > 0; i -= (-9223372036854775807 - 1)) a[0] = i; }
