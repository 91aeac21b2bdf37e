// content.c - the identity of a tensor: one hash of its type, its shape and its bytes; and the address that follows
// from it.
#include "atlas/content.h"

#include "base/files.h"

HoloContentId holo_content_id_of_hash(const HoloTensor *type, HoloHash bytes)
{
    uint64_t word[2 + HOLO_MAX_RANK + 2];
    int      count = 0;
    word[count++]  = type->dtype;
    word[count++]  = (uint64_t)type->rank;
    for (int i = 0; i < type->rank; i++) word[count++] = (uint64_t)type->dim[i];
    word[count++] = bytes.word[0];
    word[count++] = bytes.word[1];
    HoloHash hash = holo_hash(word, (size_t)count * sizeof *word);
    return (HoloContentId){hash.word[0], hash.word[1]};
}

static HoloStatus strings_hash(const HoloString *strings, int64_t count, HoloHash *out, HoloError *error)
{
    HoloHasher *hasher = holo_hasher_create();
    if (!hasher) return holo_fail_memory(error);
    for (int64_t i = 0; i < count; i++) {
        uint64_t size = strings[i].size;
        holo_hasher_add(hasher, &size, sizeof size);
    }
    for (int64_t i = 0; i < count; i++) holo_hasher_add(hasher, strings[i].data, strings[i].size);
    *out = holo_hasher_take(hasher);
    holo_hasher_destroy(hasher);
    return HOLO_OK;
}

HoloStatus holo_content_id(const HoloTensor *t, HoloContentId *out_id, HoloError *error)
{
    if (t->kind != HOLO_TENSOR)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "only tensors have an identity: take that of each tensor in it");
    int64_t count = t->rank >= 0 && t->rank <= HOLO_MAX_RANK ? holo_tensor_count(t) : -1;
    if (count < 0 || !holo_dtype_size((HoloDtype)t->dtype) || (count && !t->data))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a tensor without type, sizes or data has no identity");
    HoloHash bytes;
    if (t->dtype == HOLO_STRING)
        HOLO_TRY(strings_hash(t->data, count, &bytes, error));
    else
        bytes = holo_hash(t->data, count ? holo_tensor_bytes(t) : 0);
    *out_id = holo_content_id_of_hash(t, bytes);
    return HOLO_OK;
}

HoloStatus holo_content_id_file(const char *path, HoloContentId *out_id, uint64_t *out_size, HoloError *error)
{
    HoloMapping file;
    HOLO_TRY(holo_file_map(path, &file, error));
    HoloTensor type = {.dtype = HOLO_U8, .rank = 1, .dim = {(int64_t)file.size}};
    *out_id         = holo_content_id_of_hash(&type, holo_hash(file.data, file.size));
    if (out_size) *out_size = file.size;
    holo_file_unmap(&file);
    return HOLO_OK;
}

HoloAddress holo_content_address(HoloContentId id)
{
    // There are 45 * 2^34 addresses. The lowest 34 bits of the identity stay as they are. The 94 bits above them, in
    // two words, are taken modulo 45, where 2^64 is 16.
    uint64_t above[2] = {id.high << 30 | id.low >> 34, id.high >> 34};
    uint64_t rest     = (above[0] % 45 + 16 * (above[1] % 45)) % 45 << 34 | (id.low & ((UINT64_C(1) << 34) - 1));
    return (HoloAddress){(uint32_t)(rest >> 24) / 480, (uint32_t)(rest >> 24) % 480, rest >> 16 & 0xFF, rest & 0xFFFF};
}
