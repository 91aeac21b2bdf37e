// nnef_model.c - NNEF models: a folder with graph.nnef and a file for each variable, the same as a tar archive (packed by gzip
// or not), or graph.nnef itself with its files beside it. See nnef.h.
#include "import/nnef/nnef.h"

#include "base/bytes.h"
#include "import/wire/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- tar archives: heads of 512 bytes, each with a name, a size in octal, and the contents behind it

enum { BLOCK = 512, SIZE_AT = 124, HEADER = 128 };

typedef struct Tar {
    const uint8_t *bytes;
    size_t         size;
} Tar;

// The contents of a file whose path is `name`, or ends with a slash and `name`. False: there is none.
static bool tar_find(const Tar *t, const char *name, HoloString *out)
{
    size_t length = strlen(name);
    for (size_t at = 0; at + BLOCK <= t->size && t->bytes[at];) {
        char   path[101], digits[13];
        size_t size, used;
        memcpy(path, t->bytes + at, 100);
        memcpy(digits, t->bytes + at + SIZE_AT, 12);
        path[100] = digits[12] = 0;
        size                   = (size_t)strtoull(digits, NULL, 8);
        used                   = strlen(path);
        if (size > t->size - at - BLOCK) return false;
        bool is =
            used >= length && !strcmp(path + used - length, name) && (used == length || path[used - length - 1] == '/');
        if (is) {
            *out = (HoloString){(const char *)t->bytes + at + BLOCK, size};
            return true;
        }
        at += BLOCK + (size + BLOCK - 1) / BLOCK * BLOCK;
    }
    return false;
}

// What gzip packed, as an entry of a zip file: the same way of packing. False: it is not packed so.
static bool gzip_entry(const HoloMapping *file, HoloZipEntry *out)
{
    const uint8_t *b  = file->data;
    size_t         at = 10;
    uint32_t       crc, size;
    if (file->size < 18 || b[0] != 0x1f || b[1] != 0x8b || b[2] != 8) return false;
    if (b[3] & 4) at += 2 + (size_t)(b[10] | b[11] << 8);
    for (int field = 8; field <= 16; field *= 2) { // its name, and a comment
        if (!(b[3] & field)) continue;
        while (at < file->size && b[at]) at++;
        at++;
    }
    if (b[3] & 2) at += 2;
    if (at + 8 > file->size) return false;
    memcpy(&crc, b + file->size - 8, 4);
    memcpy(&size, b + file->size - 4, 4);
    *out = (HoloZipEntry){.name        = "the archive",
                          .stored      = b + at,
                          .stored_size = file->size - at - 8,
                          .size        = size,
                          .method      = 8,
                          .crc         = crc};
    return size / 1100 <= out->stored_size; // no packing is better
}

// ---- tensors' files: 128 bytes, then the elements

typedef struct Head {
    uint8_t  magic[2], version[2];
    uint32_t length, rank, extent[8], bits, type, reserved[19];
} Head;
_Static_assert(sizeof(Head) == HEADER, "the head of a tensor");

static HoloDtype type_of(const Head *h)
{
    static const struct {
        uint32_t  type, bits;
        HoloDtype dtype;
    } types[] = {{0, 32, HOLO_F32}, {0, 64, HOLO_F64}, {0, 16, HOLO_F16}, {1, 8, HOLO_U8},
                 {1, 16, HOLO_U16}, {1, 32, HOLO_U32}, {1, 64, HOLO_U64}, {2, 8, HOLO_U8},
                 {3, 8, HOLO_I8},   {3, 16, HOLO_I16}, {3, 32, HOLO_I32}, {4, 8, HOLO_I8},
                 {4, 16, HOLO_I16}, {4, 32, HOLO_I32}, {4, 64, HOLO_I64}, {5, 8, HOLO_BOOL}};
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].type == h->type && types[i].bits == h->bits) return types[i].dtype;
    return HOLO_NONE;
}

static HoloStatus read_tensor(HoloImport *im, const char *label, HoloString file, HoloTensor *out)
{
    Head h;
    *out = (HoloTensor){0};
    if (file.size < HEADER) return holo_fail(im->error, HOLO_BAD_MODEL, "the file of '%.200s' is cut off", label);
    memcpy(&h, file.data, sizeof h);
    if (h.magic[0] != 'N' || h.magic[1] != 0xEF || h.version[0] != 1)
        return holo_fail(im->error, HOLO_BAD_MODEL, "the file of '%.200s' is not a tensor of NNEF", label);
    out->dtype = (uint8_t)type_of(&h);
    if (!out->dtype || h.rank > 8 || h.rank > HOLO_MAX_RANK)
        return holo_fail(im->error, HOLO_UNSUPPORTED,
                         "the tensor '%.200s' has elements of kind %u and %u bits, and %u dimensions", label, h.type,
                         h.bits, h.rank);
    out->rank = (int)h.rank;
    for (uint32_t i = 0; i < h.rank; i++) out->dim[i] = h.extent[i];
    int64_t count = holo_tensor_count(out);
    if (count < 0 || holo_import_stored((HoloDtype)out->dtype, count) > file.size - HEADER)
        return holo_fail(im->error, HOLO_BAD_MODEL, "the file of '%.200s' is cut off", label);
    return count ? holo_import_bytes(im, (HoloString){label, strlen(label)}, file.data + HEADER, count, out) : HOLO_OK;
}

// ---- files

static HoloStatus file_beside(HoloNnef *n, const char *label, HoloString *out)
{
    HoloMapping *file;
    char        *name = holo_arena_format(n->import->arena, "%s.dat", label);
    if (!name) return holo_fail_memory(n->import->error);
    HOLO_TRY(holo_import_map(n->import, (HoloString){name, strlen(name)}, &file));
    *out = (HoloString){file->data, file->size};
    return HOLO_OK;
}

static HoloStatus file_inside(HoloNnef *n, const char *label, HoloString *out)
{
    char *name = holo_arena_format(n->import->arena, "%s.dat", label);
    if (!name) return holo_fail_memory(n->import->error);
    if (tar_find(n->container, name, out)) return HOLO_OK;
    return holo_fail(n->import->error, HOLO_BAD_MODEL, "the archive has no file '%.200s'", name);
}

// ---- names

static HoloNnefName *name_add(HoloNnef *n, const char *name)
{
    HoloNnefName *made = HOLO_NEW(n->import->arena, HoloNnefName, 1);
    if (made && holo_name_map_find(&n->names, (HoloString){name, strlen(name)}))
        return holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: '%.200s' is made twice", n->call->line, name);
    if (made && holo_name_map_set(&n->names, n->import->arena, (HoloString){name, strlen(name)}, made)) return made;
    return holo_emit_fail(n->e, HOLO_NO_MEMORY, "there is not enough memory");
}

static void give(HoloNnef *n, const HoloNnefArg *to, HoloValue *value, bool is_unknown)
{
    if (to->kind != HOLO_NNEF_NAME) {
        holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: a result is not a name", n->call->line);
        return;
    }
    HoloNnefName *name = n->e->status ? NULL : name_add(n, to->text);
    if (name) *name = (HoloNnefName){.value = value, .is_unknown = is_unknown};
}

static void give_all(HoloNnef *n, HoloValue **value, int count, bool is_unknown)
{
    const HoloNnefArg *to = &n->call->results;
    if (to->kind == HOLO_NNEF_LIST) {
        for (int i = 0; i < to->count && !n->e->status; i++) {
            if (i >= count && !is_unknown)
                holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: there are %d results, not %d", n->call->line, count,
                               to->count);
            give(n, &to->item[i], value[is_unknown ? 0 : i], is_unknown);
        }
        return;
    }
    if (count == 1 || is_unknown) return give(n, to, value[0], is_unknown);
    HoloNnefName *name = to->kind == HOLO_NNEF_NAME && !n->e->status ? name_add(n, to->text) : NULL;
    HoloValue   **list = HOLO_NEW(n->import->arena, HoloValue *, count + 1);
    if (!name || !list) return;
    memcpy(list, value, (size_t)count * sizeof *list);
    *name = (HoloNnefName){.list = list, .count = count};
}

// ---- declarations

static bool is_input(const HoloNnefGraph *g, const HoloNnefCall *call)
{
    for (int i = 0; i < g->inputs.count && call->results.kind == HOLO_NNEF_NAME; i++)
        if (g->inputs.item[i].kind == HOLO_NNEF_NAME && !strcmp(g->inputs.item[i].text, call->results.text))
            return true;
    return false;
}

static void declare_input(HoloNnef *n)
{
    HoloTensor  t    = {.dtype = HOLO_F32};
    const char *type = n->call->type ? n->call->type : "scalar";
    int64_t     sizes[HOLO_MAX_RANK];
    t.rank = holo_nnef_ints(n, "shape", 0, sizes, HOLO_MAX_RANK);
    if (t.rank < 0) return;
    if (!strcmp(type, "integer")) t.dtype = HOLO_I64;
    if (!strcmp(type, "logical")) t.dtype = HOLO_BOOL;
    for (int i = 0; i < t.rank; i++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "size_%d", i);
        t.dim[i] = sizes[i] > 0 ? sizes[i] : holo_dims_symbol(n->e->graph->dims, i ? symbol : "batch"); // 0: it is open
    }
    HoloValue *value = holo_emit_input(n->e, n->call->results.text, &t);
    give_all(n, &value, 1, false);
}

static void declare_variable(HoloNnef *n)
{
    const char *label = holo_nnef_text(n, "label", 1, NULL);
    HoloString  file;
    HoloTensor  t;
    if (!label) return (void)holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: a variable without a label", n->call->line);
    HoloStatus status = n->file(n, label, &file);
    if (!status) status = read_tensor(n->import, label, file, &t);
    if (status) {
        n->e->status = status;
        return;
    }
    HoloValue *value = holo_emit_constant(n->e, label, &t);
    if (holo_emit_dtype(value) == HOLO_F64) value = holo_emit_cast(n->e, value, HOLO_F32); // scalars are f32 here
    give_all(n, &value, 1, false);
}

static void declare_constant(HoloNnef *n)
{
    const HoloNnefArg *list = holo_nnef_arg(n, "value", 1);
    HoloTensor         t    = {.dtype = HOLO_F32};
    int64_t            sizes[HOLO_MAX_RANK], count;
    t.rank = holo_nnef_ints(n, "shape", 0, sizes, HOLO_MAX_RANK);
    if (t.rank < 0) return;
    memcpy(t.dim, sizes, (size_t)t.rank * sizeof *sizes);
    count       = holo_tensor_count(&t);
    float *data = count >= 0 && count <= 1 << 20 ? HOLO_NEW(n->import->arena, float, count + 1) : NULL;
    if (!data || !list)
        return (void)holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: a constant of this size", n->call->line);
    int given = list->kind == HOLO_NNEF_LIST ? list->count : 1;
    if (given != 1 && given != count)
        return (void)holo_emit_fail(n->e, HOLO_BAD_MODEL, "line %d: %d values, not %lld", n->call->line, given,
                                    (long long)count);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)(list->kind == HOLO_NNEF_LIST ? list->item[given == 1 ? 0 : i].number : list->number);
    t.data           = data;
    HoloValue *value = holo_emit_constant(n->e, NULL, &t);
    give_all(n, &value, 1, false);
}

// ---- operations

static const HoloNnefOp *find_op(const char *name)
{
    for (const HoloNnefOp *row = holo_nnef_ops; row->name; row++)
        if (!strcmp(row->name, name)) return row;
    for (const HoloNnefOp *row = holo_nnef_windows; row->name; row++)
        if (!strcmp(row->name, name)) return row;
    return NULL;
}

static bool follows_unknown(HoloNnef *n, const HoloNnefArg *arg)
{
    if (arg->kind == HOLO_NNEF_NAME) {
        const HoloNnefName *name = holo_name_map_find(&n->names, (HoloString){arg->text, strlen(arg->text)});
        return name && name->is_unknown;
    }
    for (int i = 0; arg->kind == HOLO_NNEF_LIST && i < arg->count; i++)
        if (arg->item[i].kind == HOLO_NNEF_NAME && follows_unknown(n, &arg->item[i])) return true;
    return false;
}

static void emit_call(HoloNnef *n)
{
    const HoloNnefOp *op = find_op(n->call->op);
    HoloValue        *out[64];
    bool              after = false;
    for (int i = 0; i < n->call->arg_count && n->unknown; i++) after |= follows_unknown(n, &n->call->arg[i]);
    if (!op) {
        char name[140];
        snprintf(name, sizeof name, "nnef::%.120s", n->call->op);
        out[0] = holo_emit(n->e, name, (HoloEmitIn){0, NULL}, NULL);
        if (!n->unknown) n->unknown = out[0];
        give_all(n, out, 1, true);
    } else if (after) {
        give_all(n, &n->unknown, 1, true);
    } else {
        int count = 1;
        if (op->one)
            out[0] = op->one(n);
        else
            count = op->many(n, out, HOLO_COUNT(out));
        if (!n->e->status) give_all(n, out, count, false);
    }
}

static HoloStatus build(HoloImport *import, HoloString text, HoloNnef *n)
{
    HoloNnefGraph g;
    HoloEmit      e;
    HOLO_TRY(holo_nnef_parse(import, text, &g));
    n->import = import;
    n->e      = &e;
    holo_emit_begin(&e, import, g.name);
    for (int i = 0; i < g.call_count && !e.status; i++) {
        n->call = &g.call[i];
        e.node  = n->call->results.kind == HOLO_NNEF_NAME ? n->call->results.text : n->call->op;
        if (!strcmp(n->call->op, "external") && is_input(&g, n->call))
            declare_input(n);
        else if (!strcmp(n->call->op, "variable"))
            declare_variable(n);
        else if (!strcmp(n->call->op, "constant"))
            declare_constant(n);
        else
            emit_call(n);
    }
    for (int i = 0; i < g.outputs.count && !e.status; i++) {
        const HoloNnefArg  *out  = &g.outputs.item[i];
        const HoloNnefName *name = out->kind == HOLO_NNEF_NAME
                                       ? holo_name_map_find(&n->names, (HoloString){out->text, strlen(out->text)})
                                       : NULL;
        e.node                   = NULL;
        if (!name || !name->value)
            holo_emit_fail(&e, HOLO_BAD_MODEL, "the output '%.200s' is not made", out->text ? out->text : "?");
        else
            holo_emit_output(&e, name->value, out->text);
    }
    import->out->graph = e.graph;
    holo_emit_end(&e);
    return e.status;
}

static HoloStatus open_model(HoloImport *import)
{
    HoloNnef     n    = {.file = file_beside};
    HoloMapping *file = NULL;
    if (!import->from->is_folder)
        return build(import, (HoloString){import->from->file.data, import->from->file.size}, &n);
    HOLO_TRY(holo_import_map(import, (HoloString){"graph.nnef", 10}, &file));
    return build(import, (HoloString){file->data, file->size}, &n);
}

static HoloStatus open_archive(HoloImport *import)
{
    Tar          tar = {import->from->file.data, import->from->file.size};
    HoloNnef     n   = {.file = file_inside, .container = &tar};
    HoloZipEntry entry;
    HoloString   text;
    const void  *bytes;
    if (gzip_entry(&import->from->file, &entry)) {
        HOLO_TRY(holo_zip_read(import->arena, &entry, &bytes, import->error));
        tar = (Tar){bytes, entry.size};
    }
    if (!tar_find(&tar, "graph.nnef", &text))
        return holo_fail(import->error, HOLO_BAD_MODEL, "the archive has no graph.nnef that can be read");
    return build(import, text, &n);
}

static HoloSniff sniff(const HoloOffer *c)
{
    if (c->is_folder) return holo_offer_has_name(c, "graph.nnef") ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
    const char *bytes = c->file.data;
    size_t      size = c->file.size, at = 0;
    while (at < size && at < 4096 && (bytes[at] == '#' || bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r'))
        if (bytes[at++] == '#')
            while (at < size && bytes[at] != '\n') at++;
    bool is = size - at > 10 && !memcmp(bytes + at, "version 1", 9) &&
              holo_bytes_find(bytes + at, size - at < 4096 ? size - at : 4096, "graph", 5);
    return is ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

// The list of an archive comes piece by piece: the graph is looked for in its first part.
static HoloSniff sniff_archive(const HoloOffer *c)
{
    static const char name[] = "graph.nnef";
    char              first[8192];
    HoloZipEntry      entry;
    size_t            size;
    HoloString        text;
    if (c->is_folder) return HOLO_SNIFF_NONE;
    if (holo_offer_has_bytes(c, 257, "ustar"))
        return tar_find(&(Tar){c->file.data, c->file.size}, name, &text) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
    if (!gzip_entry(&c->file, &entry) || !(size = holo_zip_peek(&entry, first, sizeof first))) return HOLO_SNIFF_NONE;
    return holo_bytes_find(first, size, name, sizeof name - 1) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
}

const HoloImporter holo_importers_nnef_model[] = {
    {.name = "NNEF", .words = "an NNEF model", .is_model = true, .sniff = sniff, .open = open_model},
    {.name     = "NNEF archive",
     .words    = "an archive of an NNEF model",
     .is_model = true,
     .sniff    = sniff_archive,
     .open     = open_archive},
    {0},
};
