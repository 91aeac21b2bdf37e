// block_pack.c - packs rows of blocks as panels of 16 columns.
#include "format/block_read.h"
#include "format/dtype.h"

int64_t holo_block_panel_bytes(const HoloBlockType *type, int64_t k)
{
    const int64_t most = INT64_MAX / 1024;
    if (k < 0 || k % type->count || k > most) return -1;
    int64_t chunks = k / HOLO_BLOCK_MOST + (k % HOLO_BLOCK_MOST != 0);
    return chunks * holo_block_chunk_scales(type) + k / HOLO_BLOCK_UNIT * holo_block_unit_bytes(type);
}

// Numbers to codes: by subtracting the least, or by the book.
static void codes_make(const HoloBlockType *type, uint8_t code_of[256])
{
    for (int n = 0; n < 256; n++) code_of[n] = (uint8_t)((int8_t)n - type->low);
    for (int c = type->book ? (1 << type->bits) - 1 : -1; c >= 0; c--) code_of[(uint8_t)type->book[c]] = (uint8_t)c;
}

enum { QUAD = 4 * HOLO_BLOCK_COLUMNS, UNIT = HOLO_BLOCK_UNIT / 4 * QUAD }; // bytes of a quad, and of a unit of bytes

// A unit of codes, a byte each, as planes.
static void unit_put(int bits, const uint8_t *code, uint8_t *out)
{
    int done = 0;
    if (bits == 8) memcpy(out, code, UNIT);
    if (bits == 8) return;
    if (bits >= 4) {
        for (int i = 0; i < 4 * QUAD; i++) out[i] = (uint8_t)((code[i] & 15) | code[i + 4 * QUAD] << 4);
        out += 4 * QUAD;
        done = 4;
    }
    if (bits - done >= 2) {
        for (int i = 0; i < 2 * QUAD; i++)
            out[i] = (uint8_t)((code[i] >> done & 3) | (code[i + 2 * QUAD] >> done & 3) << 2 |
                               (code[i + 4 * QUAD] >> done & 3) << 4 | (code[i + 6 * QUAD] >> done & 3) << 6);
        out += 2 * QUAD;
        done += 2;
    }
    if (bits == done) return;
    memset(out, 0, QUAD);
    for (int q = 0; q < 8; q++)
        for (int i = 0; i < QUAD; i++) out[i] = (uint8_t)(out[i] | (code[q * QUAD + i] >> done & 1) << q);
}

static void f16_put(float x, uint8_t *out)
{
    uint16_t bits = holo_f32_to_f16(x);
    out[0]        = (uint8_t)bits;
    out[1]        = (uint8_t)(bits >> 8);
}

// The exponent of a power of two that mxfp4 stores.
static uint8_t power_of(float scale)
{
    uint32_t bits;
    memcpy(&bits, &scale, sizeof bits);
    return bits >> 23 ? (uint8_t)((bits >> 23) + 1) : (uint8_t)(bits >> 22);
}

static void scales_put(const HoloBlockType *type, const HoloBlockNumbers *block, int column, uint8_t *out)
{
    if (type->scale == HOLO_BLOCK_POWER) {
        out[column] = power_of(block->scale);
        return;
    }
    f16_put(block->scale / type->unit, out + column * 2);
    if (type->has_offset) f16_put(block->offset, out + 32 + column * 2);
    out += (type->has_offset ? 64 : 32) + column;
    if (type->scale == HOLO_BLOCK_PLAIN || type->scale == HOLO_BLOCK_WHOLE) return;
    int groups = type->count / type->group;
    for (int g = 0; g < groups; g++) {
        int n = block->scales[g], more = type->has_offset ? -block->offsets[g] : 0;
        if (type->scale == HOLO_BLOCK_SIXES) {
            out[g % 8 * 16]       = (uint8_t)(out[g % 8 * 16] | ((n + 32) & 15) << g / 8 * 4);
            out[(8 + g % 4) * 16] = (uint8_t)(out[(8 + g % 4) * 16] | (n + 32) >> 4 << g / 4 * 2);
        } else if (type->scale == HOLO_BLOCK_PAIRS) {
            out[g * 16] = (uint8_t)(n | more << 4);
        } else {
            out[g * 16] = (uint8_t)n;
            if (type->has_offset) out[(groups + g) * 16] = (uint8_t)-more;
        }
    }
}

// The codes of a block of one column, a byte each, in units of 16 columns.
static void codes_put(const HoloBlockType *type, const HoloBlockNumbers *block, const uint8_t code_of[256], int column,
                      uint8_t *out)
{
    for (int i = 0; i < type->count; i += 4, out += QUAD)
        for (int j = 0; j < 4; j++) out[column * 4 + j] = code_of[(uint8_t)block->number[i + j]];
}

// Where a byte of a block of column 0 is in a chunk of slices.
static int slice_at(const HoloBlockType *type, int byte)
{
    int size = holo_block_slice_float(type), from = byte - type->scale_at;
    if (size && from >= 0 && from < size) return from;
    if (size && from >= size) byte -= size;
    return holo_block_chunk_scales(type) + byte / 4 * QUAD + byte % 4;
}

// How far apart columns are there.
static int slice_step(const HoloBlockType *type, int at)
{
    return at < holo_block_chunk_scales(type) ? 2 : 4;
}

static void slices_pack(const HoloBlockType *type, int64_t k, int columns, const uint8_t *rows, int64_t row,
                        uint8_t *out)
{
    int chunk = holo_block_chunk_bytes(type);
    for (int64_t b = 0; b < k / type->count; b++, rows += type->bytes, out += chunk) {
        memset(out, 0, (size_t)chunk);
        for (int i = 0; i < type->bytes; i++) {
            int at = slice_at(type, i), step = slice_step(type, at);
            for (int j = 0; j < columns; j++) out[at + j * step] = rows[j * row + i];
        }
    }
}

void holo_block_panel_pack(const HoloBlockType *type, int64_t k, int columns, const uint8_t *rows, int64_t row,
                           uint8_t *out)
{
    if (type->slice) {
        slices_pack(type, k, columns, rows, row, out);
        return;
    }
    uint8_t          code_of[256], code[HOLO_BLOCK_MOST * HOLO_BLOCK_COLUMNS] = {0};
    HoloBlockNumbers block;
    int64_t          blocks = k / type->count, bytes = holo_block_unit_bytes(type);
    int              units = type->count / HOLO_BLOCK_UNIT, chunk = HOLO_BLOCK_MOST / type->count; // blocks of a chunk
    uint8_t         *scales = NULL;
    codes_make(type, code_of);
    for (int64_t b = 0; b < blocks; b++, scales += holo_block_scale_bytes(type)) {
        if (b % chunk == 0) {
            scales = out;
            out += holo_block_chunk_scales(type);
            memset(scales, 0, (size_t)(out - scales));
        }
        for (int j = 0; j < columns; j++) {
            type->read(rows + j * row + b * type->bytes, &block);
            codes_put(type, &block, code_of, j, code);
            scales_put(type, &block, j, scales);
        }
        for (int u = 0; u < units; u++, out += bytes) unit_put(type->bits, code + u * UNIT, out);
    }
}

// ---- one column of a panel, back

static float power_back(uint8_t power)
{
    uint32_t bits = power > 1 ? (uint32_t)(power - 1) << 23 : UINT32_C(1) << (21 + power);
    float    scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

static void scales_take(const HoloBlockType *type, const uint8_t *scales, int column, HoloBlockNumbers *out)
{
    if (type->scale == HOLO_BLOCK_POWER) {
        holo_block_scale(power_back(scales[column]), out);
        return;
    }
    holo_block_scale(holo_block_f16(scales + column * 2) * type->unit, out);
    memset(out->offsets, 1, sizeof out->offsets);
    if (type->has_offset) out->offset = holo_block_f16(scales + 32 + column * 2);
    scales += (type->has_offset ? 64 : 32) + column;
    if (type->scale == HOLO_BLOCK_PLAIN || type->scale == HOLO_BLOCK_WHOLE) return;
    int groups = type->count / type->group;
    for (int g = 0; g < groups; g++) {
        if (type->scale == HOLO_BLOCK_SIXES) {
            int low = scales[g % 8 * 16] >> g / 8 * 4 & 15, high = scales[(8 + g % 4) * 16] >> g / 4 * 2 & 3;
            out->scales[g] = (int8_t)((low | high << 4) - 32);
        } else if (type->scale == HOLO_BLOCK_PAIRS) {
            out->scales[g]  = scales[g * 16] & 15;
            out->offsets[g] = (int8_t) - (scales[g * 16] >> 4);
        } else {
            out->scales[g] = (int8_t)scales[g * 16];
            if (type->has_offset) out->offsets[g] = (int8_t)scales[(groups + g) * 16];
        }
    }
}

// The code of byte i of quad q, whose bits lie in planes.
static int code_take(int bits, const uint8_t *unit, int q, int i)
{
    int code = 0, done = 0;
    if (bits == 8) return unit[q * QUAD + i];
    if (bits >= 4) {
        code = unit[q % 4 * QUAD + i] >> q / 4 * 4 & 15;
        unit += 4 * QUAD;
        done = 4;
    }
    if (bits - done >= 2) {
        code |= (unit[q % 2 * QUAD + i] >> q / 2 * 2 & 3) << done;
        unit += 2 * QUAD;
        done += 2;
    }
    return bits == done ? code : code | (unit[i] >> q & 1) << done;
}

static void slices_row(const HoloBlockType *type, int64_t k, const uint8_t *panel, int column, float *out)
{
    uint8_t block[HOLO_BLOCK_MOST];
    for (int64_t b = 0; b < k / type->count; b++, panel += holo_block_chunk_bytes(type), out += type->count) {
        for (int i = 0; i < type->bytes; i++) {
            int at   = slice_at(type, i);
            block[i] = panel[at + column * slice_step(type, at)];
        }
        holo_block_decode(type, 1, block, out);
    }
}

void holo_block_panel_row(const HoloBlockType *type, int64_t k, const uint8_t *panel, int column, float *out)
{
    if (type->slice) {
        slices_row(type, k, panel, column, out);
        return;
    }
    HoloBlockNumbers block;
    int64_t          blocks = k / type->count, bytes = holo_block_unit_bytes(type);
    int              units = type->count / HOLO_BLOCK_UNIT, chunk = HOLO_BLOCK_MOST / type->count;
    const uint8_t   *scales = NULL;
    for (int64_t b = 0; b < blocks; b++, scales += holo_block_scale_bytes(type), out += type->count) {
        if (b % chunk == 0) {
            scales = panel;
            panel += holo_block_chunk_scales(type);
        }
        scales_take(type, scales, column, &block);
        for (int u = 0; u < units; u++, panel += bytes)
            for (int i = 0; i < HOLO_BLOCK_UNIT; i++) {
                int code                              = code_take(type->bits, panel, i / 4, column * 4 + i % 4);
                block.number[u * HOLO_BLOCK_UNIT + i] = type->book ? type->book[code] : (int8_t)(code + type->low);
            }
        holo_block_floats(type, &block, out);
    }
}
