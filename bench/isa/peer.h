// peer.h - loops in C to compare programs with: c = f(a, b) for n elements.
#ifndef BENCH_ISA_PEER_H
#define BENCH_ISA_PEER_H

#include <stdint.h>

typedef void Peer(int64_t n, const float *a, const float *b, float *c);
Peer         peer_add, peer_mul, peer_relu, peer_chain, peer_sigmoid, peer_gelu_tanh, peer_gelu;

#endif
