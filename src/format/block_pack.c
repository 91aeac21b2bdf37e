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
    if (type->scale != HOLO_BLOCK_SUPER) return;
    int groups = type->count / type->group;
    out += type->has_offset ? 64 : 32;
    for (int g = 0; g < groups; g++) {
        out[g * 16 + column] = (uint8_t)block->scales[g];
        if (type->has_offset) out[(groups + g) * 16 + column] = (uint8_t)block->offsets[g];
    }
}

// The codes of a block of one column, a byte each, in units of 16 columns.
static void codes_put(const HoloBlockType *type, const HoloBlockNumbers *block, const uint8_t code_of[256], int column,
                      uint8_t *out)
{
    for (int i = 0; i < type->count; i += 4, out += QUAD)
        for (int j = 0; j < 4; j++) out[column * 4 + j] = code_of[(uint8_t)block->number[i + j]];
}

void holo_block_panel_pack(const HoloBlockType *type, int64_t k, int columns, const uint8_t *rows, int64_t row,
                           uint8_t *out)
{
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
