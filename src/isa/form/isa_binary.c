// isa_binary.c - writes a program as bytes, and reads it from bytes that may be anything. docs/isa.md has the form.
#include "isa/isa.h"

#include <string.h>

enum { VERSION = 1, HEAD = 4 + 2 + 2 + 5 * 4 };
static const uint8_t magic[4] = {'H', 'I', 'S', 'A'};

// ---- writing: twice, first without memory to find the size

typedef struct Writer {
    uint8_t *bytes; // NULL: only counted
    size_t   size;
} Writer;

static void put(Writer *w, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, w->size++)
        if (w->bytes) w->bytes[w->size] = (uint8_t)(value >> 8 * i);
}

static void put_name(Writer *w, const char *name)
{
    size_t n = strlen(name);
    put(w, n, 1);
    for (size_t i = 0; i < n; i++) put(w, (uint8_t)name[i], 1);
}

static void put_arrays(Writer *w, const HoloIsaArray *arrays, int count)
{
    for (int i = 0; i < count; i++) {
        put_name(w, arrays[i].name);
        put(w, arrays[i].type, 1);
        put(w, arrays[i].count, 4);
    }
}

static void put_inst(Writer *w, const HoloIsaInst *inst)
{
    put(w, inst->op, 2);
    put(w, inst->type, 1);
    put(w, inst->how, 1);
    for (int i = 0; i < HOLO_ISA_OPERANDS; i++) put(w, holo_isa_operand(inst, i), 2);
    put(w, 0, 2);
    put(w, inst->bits, 8);
}

static void put_program(Writer *w, const HoloIsaProgram *p)
{
    const int counts[] = {p->param_count, p->shared_count, p->local_count, p->register_count, p->count};
    for (int i = 0; i < 4; i++) put(w, magic[i], 1);
    put(w, VERSION, 2);
    put(w, 0, 2);
    for (int i = 0; i < HOLO_COUNT(counts); i++) put(w, (uint64_t)counts[i], 4);
    put_name(w, p->name);
    for (int i = 0; i < p->param_count; i++) {
        put_name(w, p->params[i].name);
        put(w, p->params[i].type, 1);
        put(w, p->params[i].access, 1);
    }
    put_arrays(w, p->shared, p->shared_count);
    put_arrays(w, p->local, p->local_count);
    for (int i = 0; i < p->register_count; i++) put(w, p->registers[i], 1);
    for (int i = 0; i < p->count; i++) put_inst(w, &p->code[i]);
}

HoloStatus holo_isa_encode(HoloArena *arena, const HoloIsaProgram *program, uint8_t **out_bytes, size_t *out_size,
                           HoloError *error)
{
    Writer w = {0};
    put_program(&w, program);
    w.bytes = holo_arena_take(arena, w.size);
    if (!w.bytes) return holo_fail_memory(error);
    w.size = 0;
    put_program(&w, program);
    *out_bytes = w.bytes, *out_size = w.size;
    return HOLO_OK;
}

// ---- reading

typedef struct Reader {
    const uint8_t *at, *end;
    bool           failed; // the bytes ended too early; 0 was read instead
} Reader;

static uint64_t get(Reader *r, int bytes)
{
    uint64_t value = 0;
    if (r->end - r->at < bytes) return r->failed = true, r->at = r->end, 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

static const char *get_name(Reader *r, char out[256])
{
    size_t n = get(r, 1);
    if ((size_t)(r->end - r->at) < n) r->failed = true, n = 0;
    memcpy(out, r->at, n);
    out[n] = 0;
    if (strlen(out) != n) r->failed = true; // a 0 inside
    r->at += n;
    return out;
}

static void get_arrays(Reader *r, HoloIsaBuilder *b, uint32_t count,
                       int (*add)(HoloIsaBuilder *, const char *, HoloDtype, uint32_t))
{
    char name[256];
    for (uint32_t i = 0; i < count && !r->failed && !b->status; i++) {
        get_name(r, name);
        HoloDtype type = (HoloDtype)get(r, 1);
        add(b, name, type, (uint32_t)get(r, 4));
    }
}

static HoloIsaInst get_inst(Reader *r)
{
    HoloIsaInst inst = {0};
    inst.op          = (uint16_t)get(r, 2);
    inst.type        = (uint8_t)get(r, 1);
    inst.how         = (uint8_t)get(r, 1);
    for (int i = 0; i < HOLO_ISA_OPERANDS; i++) holo_isa_set_operand(&inst, i, (uint16_t)get(r, 2));
    if (get(r, 2)) r->failed = true;
    inst.bits = get(r, 8);
    return inst;
}

static void get_program(Reader *r, HoloArena *arena, HoloIsaBuilder *b)
{
    uint32_t counts[5];
    char     name[256];
    for (int i = 0; i < 5; i++) counts[i] = (uint32_t)get(r, 4);
    holo_isa_begin(b, arena, get_name(r, name));
    for (uint32_t i = 0; i < counts[0] && !r->failed && !b->status; i++) {
        get_name(r, name);
        HoloDtype type = (HoloDtype)get(r, 1);
        holo_isa_param(b, name, type, (HoloIsaAccess)get(r, 1));
    }
    get_arrays(r, b, counts[1], holo_isa_shared);
    get_arrays(r, b, counts[2], holo_isa_local);
    for (uint32_t i = 0; i < counts[3] && !r->failed && !b->status; i++) holo_isa_register(b, (HoloDtype)get(r, 1));
    for (uint32_t i = 0; i < counts[4] && !r->failed && !b->status; i++) holo_isa_emit(b, get_inst(r));
}

HoloStatus holo_isa_decode(HoloArena *arena, const uint8_t *bytes, size_t size, HoloIsaProgram *out_program,
                           HoloError *error)
{
    Reader         r = {bytes, bytes + size, false};
    HoloIsaBuilder b;
    if (size < HEAD || memcmp(bytes, magic, sizeof magic))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "these bytes are not a program");
    r.at += sizeof magic;
    uint64_t version = get(&r, 2), flags = get(&r, 2);
    if (version != VERSION || flags)
        return holo_fail(error, HOLO_UNSUPPORTED, "the program has version %d, but this library reads version %d",
                         (int)version, VERSION);
    get_program(&r, arena, &b);
    if (b.status == HOLO_NO_MEMORY) return holo_fail_memory(error);
    if (r.failed || (!b.status && r.at != r.end))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the bytes of the program end too early or too late");
    return holo_isa_finish(&b, out_program, error);
}
