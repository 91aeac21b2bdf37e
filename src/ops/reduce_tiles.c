// reduce_tiles.c - reduces stored elements by loops that are compiled for each CPU (kernels/tiles/tiles.h).
#include "kernels/tiles/tiles.h"
#include "ops/spread.h"
#include "ops/standard/reduce.h"

#include <string.h>

enum { TILE_BYTES = 1 << 14, PART = 1 << 15, LEAST = 16 }; // neighboring results; elements of a task; fewest results

typedef struct Job {
    const HoloTiles  *tiles;
    const HoloTensor *in;
    HoloTensor       *out;
    HoloParting       part;
    HoloTile         *join;
    void (*fold)(int64_t n, const void *x, void *out);
    size_t  size;               // of an element
    int64_t results, step;      // without lanes: all results, and those of a task
    int64_t run, blocks, block; // with lanes: neighboring results, in so many blocks of so many
} Job;

// The offset of element `index` of a box that has only the dimensions before `rank`.
static int64_t offset_of(const HoloReduceBox *box, int rank, int64_t index)
{
    int64_t at = 0;
    for (int d = rank - 1; d >= 0; index /= box->dim[d--]) at += index % box->dim[d] * box->stride[d];
    return at;
}

static void fold_rows(void *arg, int64_t task, int worker)
{
    const Job           *job  = arg;
    const HoloReduceBox *box  = &job->part.reduced;
    const char          *data = job->in->data;
    int64_t first = task * job->step, end = job->results - first < job->step ? job->results : first + job->step;
    (void)worker;
    for (int64_t i = first; i < end; i++) {
        char    *to    = (char *)job->out->data + (size_t)i * job->size;
        int64_t  start = offset_of(&job->part.kept, job->part.kept.rank, i);
        HoloWalk walk  = holo_walk(box->rank - 1, box->dim);
        uint64_t next;
        for (bool is_first = true; holo_walk_next(&walk); is_first = false) {
            const char *x = data + (size_t)(start + holo_walk_at(&walk, box->stride)) * job->size;
            job->fold(box->dim[box->rank - 1], x, is_first ? (void *)to : &next);
            if (!is_first) job->join(1, to, &next, to, to, 0);
        }
    }
}

static void fold_lanes(void *arg, int64_t task, int worker)
{
    const Job           *job  = arg;
    const HoloReduceBox *box  = &job->part.reduced;
    int64_t              from = task % job->blocks * job->block, row = task / job->blocks;
    int64_t              n    = job->run - from < job->block ? job->run - from : job->block;
    char                *to   = (char *)job->out->data + (size_t)(row * job->run + from) * job->size;
    int64_t              base = offset_of(&job->part.kept, job->part.kept.rank - 1, row) + from;
    HoloWalk             walk = holo_walk(box->rank, box->dim);
    (void)worker;
    for (bool is_first = true; holo_walk_next(&walk); is_first = false) {
        const char *x = (const char *)job->in->data + (size_t)(base + holo_walk_at(&walk, box->stride)) * job->size;
        if (is_first)
            memcpy(to, x, (size_t)n * job->size);
        else
            job->join(n, to, x, to, to, 0);
    }
}

bool holo_reduce_by_tiles(const HoloCall *call, const HoloParting *part, HoloTileFold how)
{
    static const uint8_t ops[] = {HOLO_TILE_ADD, HOLO_TILE_MUL, HOLO_TILE_MIN, HOLO_TILE_MAX};
    HoloTensor          *out   = call->out[0];
    int                  type  = holo_tile_type((HoloDtype)call->in[0]->dtype);
    int64_t              count = holo_tensor_count(call->in[0]), results = holo_tensor_count(out);
    const HoloReduceBox *kept = &part->kept;
    if (type < 0 || count <= 0 || results <= 0 || out->dtype != call->in[0]->dtype) return false;
    Job job  = {.tiles   = holo_tiles(),
                .in      = call->in[0],
                .out     = out,
                .part    = *part,
                .size    = holo_dtype_size((HoloDtype)out->dtype),
                .results = results};
    job.join = job.tiles->op[ops[how]][type];
    job.fold = job.tiles->reduce[how][type];
    if (part->lanes && part->reduced.rank > 0) {
        job.run    = kept->dim[kept->rank - 1];
        job.block  = TILE_BYTES / (int64_t)job.size;
        job.blocks = (job.run + job.block - 1) / job.block;
        if (job.run < LEAST) return false;
        holo_spread(call, results / job.run * job.blocks, (double)count, fold_lanes, &job);
    } else {
        job.step = 1 + PART / (count / results + 1);
        if (part->reduced.rank == 0) return false;
        holo_spread(call, (results + job.step - 1) / job.step, (double)count, fold_rows, &job);
    }
    if (type == HOLO_TILE_F32 || type == HOLO_TILE_F64) job.tiles->plain[type == HOLO_TILE_F64](results, out->data);
    return true;
}
