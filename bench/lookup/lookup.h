// lookup.h - what the two halves of the program share: failures end it, files go to its folder.
#ifndef HOLO_BENCH_LOOKUP_H
#define HOLO_BENCH_LOOKUP_H

#include "hologram_compiler.h"

#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                                                \
    do {                                                                                          \
        HoloError  error  = {0};                                                                  \
        HoloStatus status = (call);                                                               \
        if (status) {                                                                             \
            fprintf(stderr, "lookup: %s: %s: %s\n", #call, holo_status_text(status), error.text); \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

// The path of a file in the folder; the text lives until the next call.
const char *path_of(const char *name);
// Sets input 0, runs, takes output 0.
void answer(HoloSession *session, const HoloTensor *x);

// Plans with tables beside the same without (tables.c).
void tables_time(void);

#endif
