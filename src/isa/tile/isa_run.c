// isa_run.c - cuts a launch into tiles and spreads them over threads. The cut depends on its sizes alone.
#include "base/files.h"
#include "isa/isa_launch.h"
#include "isa/tile/isa_code.h"

#include <string.h>

enum { CHUNK_LANES = 16384, CUT_LEAST = 64 }; // lanes that a thread takes at once; shorter rows are not cut

struct HoloIsaFrame {
    const HoloIsaCode *code;
    int                threads;
    HoloArena          arena;
    uint8_t           *memory; // of lanes, of so many bytes
    size_t             room, used;
    HoloIsaTile       *tiles;     // one for each thread
    int64_t           *failed;    // by thread: the unit that failed; INT64_MAX: none
    int                failed_at; // the instruction that ended the last run; -1: none
    HoloStop          *stop;      // NULL: nothing ends a run
};

// ---- memory

// Memory for lanes comes from the system as pages, which exist when they are first touched: a launch of a few lanes
// takes a few pages. Each piece begins at a multiple of 64 bytes, with spare bytes behind it.
enum { PIECES = 5 + HOLO_COUNT(((HoloIsaTile *)0)->scratch), SPARE = 128 };

static size_t tile_bytes(const HoloIsaCode *code)
{
    size_t scratch = 8 * HOLO_COUNT(((HoloIsaTile *)0)->scratch), masks = ((size_t)code->depth + 2) * 2;
    size_t each = code->slot_bytes + masks + code->local_bytes + sizeof *((HoloIsaTile *)0)->turns + scratch;
    return each * (size_t)code->lanes + code->shared_bytes + PIECES * SPARE;
}

static void *take(HoloIsaFrame *f, size_t size)
{
    uint8_t *piece = f->memory + f->used;
    f->used        = holo_align(f->used + size + SPARE / 2, 64);
    return piece;
}

static bool tile_init(HoloIsaFrame *f, HoloIsaTile *t)
{
    const HoloIsaCode *code  = f->code;
    size_t             lanes = (size_t)code->lanes;
    t->code                  = code;
    t->r                     = HOLO_NEW(&f->arena, HoloIsaRegister, code->register_count + 1);
    t->scope                 = HOLO_NEW(&f->arena, HoloIsaScope, code->depth + 2);
    if (!t->r || !t->scope) return false;
    uint8_t *slots = take(f, code->slot_bytes * lanes);
    uint8_t *masks = take(f, ((size_t)code->depth + 2) * 2 * lanes);
    t->shared      = take(f, code->shared_bytes);
    t->local       = take(f, code->local_bytes * lanes);
    t->turns       = take(f, sizeof *t->turns * lanes);
    for (int i = 0; i < HOLO_COUNT(t->scratch); i++) t->scratch[i] = take(f, 8 * lanes);
    for (int i = 0; i < code->register_count; i++) t->r[i].own = slots + code->slot[i] * lanes;
    for (int i = 0; i < 2 * (code->depth + 2); i++) t->scope[i / 2].buffer[i % 2] = masks + (size_t)i * lanes;
    return true;
}

HoloStatus holo_isa_frame_create(const HoloIsaCode *code, int threads, HoloIsaFrame **out_frame, HoloError *error)
{
    HoloIsaFrame *f = holo_realloc(NULL, sizeof *f);
    if (!f) return holo_fail_memory(error);
    *f        = (HoloIsaFrame){.code = code, .threads = threads > 1 ? threads : 1};
    f->tiles  = HOLO_NEW(&f->arena, HoloIsaTile, f->threads);
    f->failed = HOLO_NEW(&f->arena, int64_t, f->threads);
    bool ok   = f->tiles && f->failed && holo_size_mul(tile_bytes(code), (size_t)f->threads, &f->room);
    if (ok) f->memory = holo_memory_take(f->room, 0);
    ok = ok && f->memory;
    for (int i = 0; i < f->threads && ok; i++) ok = tile_init(f, &f->tiles[i]);
    if (!ok) {
        holo_isa_frame_destroy(f);
        return holo_fail_memory(error);
    }
    *out_frame = f;
    return HOLO_OK;
}

void holo_isa_frame_destroy(HoloIsaFrame *frame)
{
    if (!frame) return;
    HoloArena arena = frame->arena;
    holo_memory_free(frame->memory, frame->room);
    holo_arena_deinit(&arena);
    holo_free(frame);
}

int holo_isa_frame_failed(const HoloIsaFrame *frame)
{
    return frame->failed_at;
}

void holo_isa_frame_set_stop(HoloIsaFrame *frame, HoloStop *stop)
{
    frame->stop = stop;
}

// ---- cutting
//
// Units are blocks, or parts of lines. A line is all lanes of one y and z, or all lanes. If tiles follow rows of `row`
// lanes, each row is cut by itself.

typedef struct Cut {
    int64_t units;
    int64_t line, row, tile; // lanes
    int64_t tiles_in_row, units_in_line;
} Cut;

static int64_t row_of(const HoloIsaCode *code, const HoloIsaLaunch *launch, const HoloIsaArg *args)
{
    uint64_t row = code->cut_param >= 0 ? args[code->cut_param].bits : code->cut;
    if (code->has_block) row = launch->block[0];
    return row < CUT_LEAST || row > INT32_MAX ? 0 : (int64_t)row;
}

static Cut cut_up(const HoloIsaCode *code, const HoloIsaLaunch *launch, const HoloIsaArg *args)
{
    const uint32_t *grid = launch->grid, *block = launch->block;
    int64_t         lanes = (int64_t)grid[0] * block[0] * ((int64_t)grid[1] * block[1]) * ((int64_t)grid[2] * block[2]);
    Cut             cut   = {.line = code->is_flat ? lanes : (int64_t)grid[0] * block[0]};
    if (!lanes) return cut;
    if (code->is_cooperative) {
        cut.units = (int64_t)grid[0] * grid[1] * grid[2];
        return cut;
    }
    cut.row = row_of(code, launch, args);
    if (!cut.row || cut.row > cut.line) cut.row = cut.line;
    cut.tiles_in_row = (cut.row + code->lanes - 1) / code->lanes;
    cut.tile         = ((cut.row + cut.tiles_in_row - 1) / cut.tiles_in_row + 63) / 64 * 64;
    if (cut.tile > code->lanes) cut.tile = code->lanes;
    int64_t whole = cut.line / cut.row, rest = cut.line % cut.row;
    cut.units_in_line = whole * cut.tiles_in_row + (rest + cut.tile - 1) / cut.tile;
    cut.units         = cut.units_in_line * (lanes / cut.line);
    return cut;
}

static void unit_place(HoloIsaTile *t, const Cut *cut, int64_t unit)
{
    const uint32_t *grid = t->launch->grid, *block = t->launch->block;
    if (t->code->is_cooperative) {
        t->place[0] = (uint32_t)(unit % grid[0]);
        t->place[1] = (uint32_t)(unit / grid[0] % grid[1]);
        t->place[2] = (uint32_t)(unit / grid[0] / grid[1]);
        t->lanes    = (int32_t)(block[0] * block[1] * block[2]);
        return;
    }
    int64_t line = unit / cut->units_in_line, in_line = unit % cut->units_in_line;
    int64_t row = in_line / cut->tiles_in_row, from = row * cut->row + in_line % cut->tiles_in_row * cut->tile;
    int64_t end = (row + 1) * cut->row < cut->line ? (row + 1) * cut->row : cut->line;
    int64_t y   = (int64_t)grid[1] * block[1];
    t->lanes    = (int32_t)(end - from < cut->tile ? end - from : cut->tile);
    t->first    = (uint64_t)from;
    t->place[0] = (uint32_t)from, t->place[1] = (uint32_t)(line % y), t->place[2] = (uint32_t)(line / y);
}

// ---- running

typedef struct Run {
    HoloIsaFrame *frame;
    Cut           cut;
    int64_t       chunk, first_failed; // units
} Run;

static void run_chunk(void *arg, int64_t i, int worker)
{
    Run         *run = arg;
    HoloIsaTile *t   = &run->frame->tiles[worker];
    int64_t      end = (i + 1) * run->chunk < run->cut.units ? (i + 1) * run->chunk : run->cut.units;
    for (int64_t unit = i * run->chunk; unit < end && !holo_stop_is_due(t->stop); unit++) {
        if (unit > __atomic_load_n(&run->first_failed, __ATOMIC_RELAXED) || run->frame->failed[worker] != INT64_MAX)
            return;
        unit_place(t, &run->cut, unit);
        if (holo_isa_tile_run(t)) continue;
        run->frame->failed[worker] = unit;
        int64_t known              = __atomic_load_n(&run->first_failed, __ATOMIC_RELAXED);
        while (unit < known && !__atomic_compare_exchange_n(&run->first_failed, &known, unit, false, __ATOMIC_RELAXED,
                                                            __ATOMIC_RELAXED)) {
        }
        return;
    }
}

static HoloStatus report(const HoloIsaTile *t, HoloError *error)
{
    const uint32_t *size = t->launch->block, *grid = t->launch->grid;
    uint64_t        block[3], lane[3], global[3];
    if (t->code->is_cooperative) {
        uint64_t l = (uint64_t)t->lane;
        for (int i = 0; i < 3; i++) block[i] = t->place[i];
        lane[0] = l % size[0], lane[1] = l / size[0] % size[1], lane[2] = l / size[0] / size[1];
    } else {
        uint64_t x = (uint64_t)grid[0] * size[0], y = (uint64_t)grid[1] * size[1], flat = t->first + (uint64_t)t->lane;
        global[0] = t->code->is_flat ? flat % x : flat;
        global[1] = t->code->is_flat ? flat / x % y : t->place[1];
        global[2] = t->code->is_flat ? flat / x / y : t->place[2];
        for (int i = 0; i < 3; i++) block[i] = global[i] / size[i], lane[i] = global[i] % size[i];
    }
    const char        *op = "?", *why = t->why;
    const HoloIsaCode *code = t->code;
    char               text[HOLO_ISA_OUTSIDE_TEXT];
    for (int i = 0; i < code->count; i++) {
        const HoloIsaInst *inst = &code->steps[i].inst;
        if (code->steps[i].at != t->at) continue;
        op = holo_isa_op(inst->op)->text;
        if (!why)
            why = holo_isa_outside(holo_isa_array_name(code->params, code->shared, code->local, inst),
                                   (HoloDtype)code->types[inst->b], t->index, t->count, text);
    }
    return holo_fail(error, HOLO_BAD_INPUT, "program %s, instruction %d (%s), block %u,%u,%u, lane %u,%u,%u: %s",
                     t->code->name, (int)t->at, op, (unsigned)block[0], (unsigned)block[1], (unsigned)block[2],
                     (unsigned)lane[0], (unsigned)lane[1], (unsigned)lane[2], why ? why : "it failed");
}

HoloStatus holo_isa_run(const HoloIsaCode *code, HoloIsaFrame *frame, const HoloIsaTeam *team,
                        const HoloIsaLaunch *launch, const HoloIsaArg *args, HoloError *error)
{
    frame->failed_at = -1;
    HOLO_TRY(
        holo_isa_launch_check(code->params, code->param_count, code->name, code->is_cooperative, launch, args, error));
    Run  run  = {.frame = frame, .cut = cut_up(code, launch, args), .first_failed = INT64_MAX};
    bool many = team && team->threads > 1 && frame->threads > 1 && !code->is_serial;
    int  used = many ? frame->threads : 1;
    for (int i = 0; i < used; i++) {
        HoloIsaTile *t = &frame->tiles[i];
        t->launch = launch, t->args = args, t->stop = frame->stop, t->is_shared_memory = many;
        frame->failed[i] = INT64_MAX;
        holo_isa_tile_begin(t);
    }
    int64_t unit_lanes =
        code->is_cooperative ? (int64_t)launch->block[0] * launch->block[1] * launch->block[2] : run.cut.tile;
    run.chunk = many ? (CHUNK_LANES + unit_lanes - 1) / (unit_lanes ? unit_lanes : 1) : run.cut.units;
    if (run.chunk < 1) run.chunk = 1;
    int64_t chunks = (run.cut.units + run.chunk - 1) / run.chunk;
    if (many && chunks > 1)
        team->run(team->team, chunks, run_chunk, &run);
    else
        for (int64_t i = 0; i < chunks; i++) run_chunk(&run, i, 0);
    if (run.first_failed == INT64_MAX) return HOLO_OK;
    for (int i = 0; i < used; i++) {
        if (frame->failed[i] != run.first_failed) continue;
        frame->failed_at = (int)frame->tiles[i].at;
        return report(&frame->tiles[i], error);
    }
    return holo_fail(error, HOLO_INTERNAL, "program %s failed without a reason", code->name);
}
