// isa.c - portable programs beside the same loops in C: one thread, alternately, the best of many.
#include "isa/isa.h"
#include "hologram.h"
#include "kernels/kernels.h"
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static HoloError error; // one for all launches, as callers have it

typedef struct Ready {
    HoloArena     arena;
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
} Ready;

static Ready ready(const char *text)
{
    Ready          r = {0};
    HoloIsaProgram p;
    if (holo_isa_parse(&r.arena, text, strlen(text), &p, &error) || holo_isa_code_create(&p, &r.code, &error) ||
        holo_isa_frame_create(r.code, 1, &r.frame, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    return r;
}

static void run(const Ready *r, uint32_t lanes, const HoloIsaArg *args)
{
    HoloIsaLaunch launch = {{lanes / 256, 1, 1}, {256, 1, 1}, 0};
    if (lanes < 256) launch = (HoloIsaLaunch){{1, 1, 1}, {lanes, 1, 1}, 0};
    if (holo_isa_run(r->code, r->frame, NULL, &launch, args, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

#define HEAD(name)                                                             \
    "program " name "\nin a: f32[]\nin b: f32[]\nout c: f32[]\nvalue n: i32\n" \
    "special.i32 r0, global_id\nparam.i32 r1, n\nset.lt.i32 p2, r0, r1\nif p2\nld.f32 r3, a[r0]\n"

static const struct {
    const char *name, *text;
    Peer       *peer;
} rows[] = {
    {"vector_add", HEAD("add") "ld.f32 r4, b[r0]\nadd.f32 r5, r3, r4\nst.f32 c[r0], r5\nend\n", peer_add},
    {"vector_mul", HEAD("mul") "ld.f32 r4, b[r0]\nmul.f32 r5, r3, r4\nst.f32 c[r0], r5\nend\n", peer_mul},
    {"relu", HEAD("relu") "const.f32 r4, 0\nmax.f32 r5, r3, r4\nst.f32 c[r0], r5\nend\n", peer_relu},
    {"eight in a chain",
     HEAD("chain") "ld.f32 r4, b[r0]\nmul.f32 r5, r3, r4\nconst.f32 r6, 1.5\nadd.f32 r7, r5, r6\nconst.f32 r8, 0\n"
                   "max.f32 r9, r7, r8\nsub.f32 r10, r9, r4\nabs.f32 r11, r10\nmul.f32 r12, r11, r3\nconst.f32 r13, 6\n"
                   "min.f32 r14, r12, r13\nconst.f32 r15, 0.25\nmul.f32 r16, r14, r15\nst.f32 c[r0], r16\nend\n",
     peer_chain},
    {"sigmoid, written out",
     HEAD(
         "s") "neg.f32 r4, r3\nexp.f32 r5, r4\nconst.f32 r6, 1\nadd.f32 r7, r5, r6\ndiv.f32 r8, r6, r7\nst.f32 c[r0], r8\nend\n",
     peer_sigmoid},
    {"sigmoid", HEAD("sigmoid") "sigmoid.f32 r4, r3\nst.f32 c[r0], r4\nend\n", peer_sigmoid},
    {"gelu by tanh",
     HEAD(
         "gelu") "mul.f32 r4, r3, r3\nmul.f32 r4, r4, r3\nconst.f32 r5, 0.044715\nmad.f32 r6, r4, r5, r3\n"
                 "const.f32 r7, 0.797884561\nmul.f32 r8, r6, r7\ntanh.f32 r9, r8\nconst.f32 r10, 1\nadd.f32 r11, r9, r10\n"
                 "const.f32 r12, 0.5\nmul.f32 r13, r3, r12\nmul.f32 r14, r13, r11\nst.f32 c[r0], r14\nend\n",
     peer_gelu_tanh},
    {"gelu",
     HEAD("erf") "const.f32 r4, 0.707106781\nmul.f32 r5, r3, r4\nerf.f32 r6, r5\nconst.f32 r7, 1\nadd.f32 r8, r6, r7\n"
                 "const.f32 r9, 0.5\nmul.f32 r10, r3, r9\nmul.f32 r11, r10, r8\nst.f32 c[r0], r11\nend\n",
     peer_gelu},
};

static void pointwise(float *a, float *b, float *c, float *d, int64_t n)
{
    printf("%-22s %10s %10s %8s   %lld elements, ns an element\n", "", "program", "C", "ratio", (long long)n);
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        Ready      r       = ready(rows[i].text);
        HoloIsaArg args[]  = {{a, n, 0}, {b, n, 0}, {c, n, 0}, {.bits = (uint64_t)n}};
        double     best[2] = {1e9, 1e9}, worst = 0;
        int64_t    turns = 64000000 / n;
        for (int64_t k = 0; k < (turns > 20000 ? 20000 : turns); k++) {
            double t0 = now();
            run(&r, (uint32_t)n, args);
            double t1 = now();
            rows[i].peer(n, a, b, d);
            double t2 = now();
            if (t1 - t0 < best[0]) best[0] = t1 - t0;
            if (t2 - t1 < best[1]) best[1] = t2 - t1;
        }
        for (int64_t k = 0; k < n; k++) worst = fmax(worst, fabs(c[k] - d[k]) / (1e-3 + fabs(d[k])));
        printf("%-22s %10.3f %10.3f %8.2f   differs %.1e\n", rows[i].name, best[0] / (double)n * 1e9,
               best[1] / (double)n * 1e9, best[1] / best[0], worst);
        holo_isa_frame_destroy(r.frame);
        holo_isa_code_destroy(r.code);
        holo_arena_deinit(&r.arena);
    }
}

static const char gemm[] =
    "program gemm\nin a: f32[]\nin b: f32[]\nout c: f32[]\nvalue m: i32\nvalue n: i32\nvalue k: i32\n"
    "special.i32 r0, global_id\nparam.i32 r1, n\nparam.i32 r2, k\nparam.i32 r3, m\n"
    "floordiv.i32 r4, r0, r1\nmod.i32 r5, r0, r1\nset.lt.i32 p6, r4, r3\nif p6\n"
    "const.f32 r7, 0\nconst.i32 r8, 0\nconst.i32 r14, 1\n"
    "loop\nset.ge.i32 p9, r8, r2\nbreakif p9\n"
    "mad.i32 r10, r4, r2, r8\nld.f32 r11, a[r10]\nmad.i32 r12, r8, r1, r5\nld.f32 r13, b[r12]\n"
    "mad.f32 r7, r11, r13, r7\nadd.i32 r8, r8, r14\nend\nst.f32 c[r0], r7\nend\n";

static void product(float *a, float *b, float *c, uint32_t size)
{
    Ready      r      = ready(gemm);
    int64_t    all    = (int64_t)size * size;
    HoloIsaArg args[] = {{a, all, 0}, {b, all, 0}, {c, all, 0}, {.bits = size}, {.bits = size}, {.bits = size}};
    double     best   = 1e9;
    for (int i = 0; i < 5; i++) {
        double t0 = now();
        run(&r, (uint32_t)(all + 255) / 256 * 256, args);
        double t1 = now();
        if (t1 - t0 < best) best = t1 - t0;
    }
    printf("product %ux%ux%u: %.1f GFLOP/s\n", size, size, size, 2.0 * size * size * size / best * 1e-9);
    holo_isa_frame_destroy(r.frame);
    holo_isa_code_destroy(r.code);
    holo_arena_deinit(&r.arena);
}

// The product of executors, which packs its second factor in every call, beside the kernel of models, which has it
// packed.
static void built_in(const float *a, const float *b, float *c, int64_t size)
{
    HoloExecutor          *e;
    HoloBuffer            *buffer[3];
    int64_t                all     = size * size;
    double                 best[2] = {1e9, 1e9}, work = 2e-9 * (double)size * (double)all;
    const float           *from[2] = {a, b};
    float                 *packed  = aligned_alloc(64, (size_t)((size + 15) / 16 * 16 * size) * sizeof(float));
    float                 *scratch = aligned_alloc(64, HOLO_GEMM_SCRATCH * sizeof(float));
    const HoloKernelTable *kernels = holo_kernels(0);
    if (!packed || !scratch || holo_executor_create("cpu", NULL, &e, &error)) exit(1);
    for (int i = 0; i < 3; i++) {
        if (holo_buffer_create(e, HOLO_F32, all, &buffer[i], &error)) exit(1);
        if (i < 2) memcpy(holo_buffer_map(buffer[i]), from[i], (size_t)all * sizeof(float));
    }
    kernels->pack_f32(size, size, b, size, 1, packed);
    HoloGemm g = {.m        = size,
                  .n        = size,
                  .k        = size,
                  .a        = a,
                  .a_row    = size,
                  .a_column = 1,
                  .b        = packed,
                  .b_panel  = 16 * size,
                  .b_step   = 16,
                  .c        = c,
                  .c_row    = size,
                  .alpha    = 1,
                  .scratch  = scratch};
    for (int i = 0; i < 20; i++) {
        double t0 = now();
        if (holo_executor_gemm(e, buffer[0], buffer[1], buffer[2], size, size, size, &error)) exit(1);
        double t1 = now();
        kernels->gemm_f32(&g);
        double t2 = now();
        if (t1 - t0 < best[0]) best[0] = t1 - t0;
        if (t2 - t1 < best[1]) best[1] = t2 - t1;
    }
    printf("built-in product %lldx%lldx%lld: %.1f GFLOP/s, the kernel with packed weights %.1f\n", (long long)size,
           (long long)size, (long long)size, work / best[0], work / best[1]);
    for (int i = 0; i < 3; i++) holo_buffer_destroy(buffer[i]);
    holo_executor_destroy(e);
    free(packed), free(scratch);
}

static void launch_time(float *a, float *b, float *c)
{
    Ready      r      = ready(rows[0].text);
    HoloIsaArg args[] = {{a, 16, 0}, {b, 16, 0}, {c, 16, 0}, {.bits = 16}};
    double     best   = 1e9;
    for (int i = 0; i < 200; i++) {
        double t0 = now();
        for (int k = 0; k < 1000; k++) run(&r, 16, args);
        double t1 = now();
        if (t1 - t0 < best) best = t1 - t0;
    }
    printf("launch of 16 lanes: %.0f ns\n", best / 1000 * 1e9);
}

int main(void)
{
    float *memory[4];
    for (int i = 0; i < 4; i++) {
        memory[i] = aligned_alloc(64, N * sizeof(float));
        if (!memory[i]) return 1;
        for (int k = 0; k < N; k++) memory[i][k] = (float)((k * 37 + i * 11) % 1000) * 0.01f - 5;
    }
    pointwise(memory[0], memory[1], memory[2], memory[3], N);
    pointwise(memory[0], memory[1], memory[2], memory[3], 1 << 14);
    product(memory[0], memory[1], memory[2], 512);
    product(memory[0], memory[1], memory[2], 100);
    built_in(memory[0], memory[1], memory[2], 512);
    built_in(memory[0], memory[1], memory[2], 100);
    launch_time(memory[0], memory[1], memory[2]);
    return 0;
}
