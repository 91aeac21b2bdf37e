// sigil.c - fuzzes the sigil language: lexer, parser and both back ends; and, on the same bytes, numbers of base 96.
#include "hologram_atlas.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool ok)
{
    if (!ok) abort();
}

static void expression(const char *text, size_t size)
{
    HoloError  error = {0};
    HoloSigil *sigil;
    size_t     at = 0;
    if (holo_sigil_parse(text, size, &sigil, &at, &error)) {
        expect(error.text[0] && at <= size && !sigil);
        return;
    }
    expect(sigil->leaf_count > 0 && sigil->word_count >= sigil->leaf_count);
    for (int i = 0; i < sigil->leaf_count; i++) {
        const HoloSigilLeaf *leaf = &sigil->leaves[i];
        expect(holo_atlas_byte(leaf->class_id) == leaf->byte && leaf->belt < 12288 && strlen(leaf->generator) >= 4);
    }
    for (int i = 0; i < sigil->word_count; i++) expect(strlen(sigil->words[i]) >= 3);
    holo_sigil_destroy(sigil);
}

static void number(const uint8_t *bytes, size_t size)
{
    size_t   digit_count, byte_count, room = holo_base96_digit_room(size);
    uint8_t *digits = malloc(room), *back = malloc(holo_base96_byte_room(room));
    expect(digits && back);
    while (size > 1 && !bytes[size - 1]) size--;
    expect(!holo_base96_from_bytes(bytes, size, digits, room, &digit_count, NULL));
    expect(!holo_base96_to_bytes(digits, digit_count, back, holo_base96_byte_room(digit_count), &byte_count, NULL));
    expect(byte_count == (size ? size : 1) && (!size || !memcmp(bytes, back, size)));
    free(digits);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    expression((const char *)data, size);
    if (size <= 1024) number(data, size);
    return 0;
}
