// peer.c - the same work as loops in C, for the compiler to do its best: built with -O3 -march=native, and with vector
// functions of the C library.
#include <math.h>
#include <stdint.h>

#include "peer.h"

void peer_add(int64_t n, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void peer_mul(int64_t n, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < n; i++) c[i] = a[i] * b[i];
}

void peer_relu(int64_t n, const float *a, const float *b, float *c)
{
    (void)b;
    for (int64_t i = 0; i < n; i++) c[i] = a[i] > 0 ? a[i] : 0;
}

void peer_chain(int64_t n, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < n; i++) {
        float x = a[i] * b[i];
        x       = x + 1.5f;
        x       = x > 0 ? x : 0;
        x       = x - b[i];
        x       = fabsf(x);
        x       = x * a[i];
        x       = x < 6 ? x : 6;
        c[i]    = x * 0.25f;
    }
}

void peer_sigmoid(int64_t n, const float *a, const float *b, float *c)
{
    (void)b;
    for (int64_t i = 0; i < n; i++) c[i] = 1 / (1 + expf(-a[i]));
}

void peer_gelu_tanh(int64_t n, const float *a, const float *b, float *c)
{
    (void)b;
    for (int64_t i = 0; i < n; i++) {
        float x = a[i], y = 0.7978845608f * (x + 0.044715f * x * x * x);
        c[i] = 0.5f * x * (1 + tanhf(y));
    }
}

void peer_gelu(int64_t n, const float *a, const float *b, float *c)
{
    (void)b;
    for (int64_t i = 0; i < n; i++) c[i] = 0.5f * a[i] * (1 + erff(a[i] * 0.7071067811865476f));
}
