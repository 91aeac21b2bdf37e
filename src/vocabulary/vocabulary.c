// vocabulary.c - the tables of a vocabulary that was read. See vocabulary.h.
#include "vocabulary/vocabulary.h"

#include "text/tokenizer.h"
#include "vocabulary/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 1 << 24 };

const char *const holo_gpt2_pattern =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

// ---- tokens

static HoloStatus reserve(HoloVocabulary *v, uint32_t id, HoloError *error)
{
    if (id < v->room) return HOLO_OK;
    uint32_t room = v->room ? v->room : 1024;
    while (room <= id) room *= 2;
    HoloVocabularyToken *more = HOLO_NEW(v->block.arena, HoloVocabularyToken, room);
    if (!more) return holo_fail_memory(error);
    if (v->count) memcpy(more, v->token, v->count * sizeof *more);
    v->token = more;
    v->room  = room;
    return HOLO_OK;
}

HoloStatus holo_vocabulary_add(HoloVocabulary *v, HoloString text, int64_t id, double score, HoloError *error)
{
    if (id < 0 || id >= IDS_MAX)
        return holo_fail(error, HOLO_BAD_MODEL, "the vocabulary gives token '%.*s' the id %lld, which is out of range",
                         (int)holo_least((int64_t)text.size, 60), text.data, (long long)id);
    HOLO_TRY(reserve(v, (uint32_t)id, error));
    if (v->token[id].text.data)
        return holo_fail(error, HOLO_BAD_MODEL, "the vocabulary gives the id %lld to two tokens, '%.*s' and '%.*s'",
                         (long long)id, (int)holo_least((int64_t)text.size, 60), text.data,
                         (int)holo_least((int64_t)v->token[id].text.size, 60), v->token[id].text.data);
    v->token[id] = (HoloVocabularyToken){.text = text, .score = score};
    if (id >= v->count) v->count = (uint32_t)id + 1;
    v->model_count++;
    return HOLO_OK;
}

HoloStatus holo_vocabulary_index(HoloVocabulary *v, HoloError *error)
{
    v->slot_count = 16;
    while (v->slot_count < v->count * 2) v->slot_count *= 2;
    v->slot = HOLO_NEW(v->block.arena, uint32_t, v->slot_count);
    if (!v->slot) return holo_fail_memory(error);
    memset(v->slot, 0xFF, v->slot_count * sizeof *v->slot);
    for (uint32_t id = 0; id < v->count; id++) {
        HoloString text = v->token[id].text;
        if (!text.data || v->token[id].role == HOLO_ROLE_PIECE) continue;
        uint32_t at = holo_text_hash(text.data, text.size);
        for (;; at++) {
            uint32_t known = v->slot[at & (v->slot_count - 1)];
            if (known == HOLO_NO_TOKEN) break;
            HoloString other = v->token[known].text;
            if (other.size == text.size && !memcmp(other.data, text.data, text.size))
                break; // of two with one text the last counts
        }
        v->slot[at & (v->slot_count - 1)] = id;
    }
    return HOLO_OK;
}

uint32_t holo_vocabulary_find(const HoloVocabulary *v, HoloString text)
{
    for (uint32_t at = holo_text_hash(text.data, text.size);; at++) {
        uint32_t id = v->slot[at & (v->slot_count - 1)];
        if (id == HOLO_NO_TOKEN) return id;
        HoloString known = v->token[id].text;
        if (known.size == text.size && !memcmp(known.data, text.data, text.size)) return id;
    }
}

// ---- merges

HoloStatus holo_vocabulary_reserve_merges(HoloVocabulary *v, size_t count, HoloError *error)
{
    if (count > IDS_MAX * 4)
        return holo_fail(error, HOLO_BAD_MODEL, "the vocabulary has %zu merges, which is too many", count);
    v->merge_slots = 16;
    while (v->merge_slots < count * 2) v->merge_slots *= 2;
    v->merge = HOLO_NEW(v->block.arena, HoloMerge, v->merge_slots);
    if (!v->merge) return holo_fail_memory(error);
    memset(v->merge, 0xFF, v->merge_slots * sizeof *v->merge);
    return HOLO_OK;
}

void holo_vocabulary_merge(HoloVocabulary *v, uint32_t left, uint32_t right, uint32_t rank, uint32_t token)
{
    uint32_t at = holo_pair_hash(left, right), mask = v->merge_slots - 1;
    while (v->merge[at & mask].left != HOLO_NO_TOKEN &&
           (v->merge[at & mask].left != left || v->merge[at & mask].right != right))
        at++;
    v->merge[at & mask] = (HoloMerge){left, right, rank, token};
}

HoloStatus holo_vocabulary_merge_texts(HoloVocabulary *v, HoloString left, HoloString right, uint32_t rank,
                                       HoloError *error)
{
    char small[512], *both = small;
    if (left.size + right.size > sizeof small) both = holo_arena_take_raw(v->block.arena, left.size + right.size);
    if (!both) return holo_fail_memory(error);
    memcpy(both, left.data, left.size);
    memcpy(both + left.size, right.data, right.size);
    uint32_t a = holo_vocabulary_find(v, left), b = holo_vocabulary_find(v, right);
    uint32_t token = holo_vocabulary_find(v, (HoloString){both, left.size + right.size});
    if (a == HOLO_NO_TOKEN || b == HOLO_NO_TOKEN || token == HOLO_NO_TOKEN) return HOLO_OK;
    uint32_t at = holo_pair_hash(a, b), mask = v->merge_slots - 1;
    for (; v->merge[at & mask].left != HOLO_NO_TOKEN; at++)
        if (v->merge[at & mask].left == a && v->merge[at & mask].right == b) return HOLO_OK;
    v->merge[at & mask] = (HoloMerge){a, b, rank, token};
    return HOLO_OK;
}

// ---- added tokens

HoloStatus holo_vocabulary_add_added(HoloVocabulary *v, HoloVocabularyAdded added, HoloError *error)
{
    if (!added.text.size) return HOLO_OK;
    uintptr_t known = (uintptr_t)holo_name_map_find(&v->added_by_text, added.text);
    if (known) { // the same once more: the last one counts
        added.id            = v->added[known - 1].id;
        v->added[known - 1] = added;
        return HOLO_OK;
    }
    uint32_t id     = holo_vocabulary_find(v, added.text);
    bool     is_new = id == HOLO_NO_TOKEN;
    if (is_new)
        id =
            v->added_count && (v->added_last >= v->model_count || !v->model_count) ? v->added_last + 1 : v->model_count;
    if (id >= IDS_MAX) return holo_fail(error, HOLO_BAD_MODEL, "the vocabulary has too many added tokens");
    HOLO_TRY(reserve(v, id, error));
    added.id = id;
    for (int i = 0; is_new && id < v->count && i < v->added_count; i++)
        if (v->added[i].id == id) { // the ids of the model have gaps, and this one was taken
            v->added[i] = added;
            return HOLO_OK;
        }
    if (!HOLO_GROW(v->block.arena, v->added, v->added_count, v->added_room)) return holo_fail_memory(error);
    v->added[v->added_count++] = added;
    if (!holo_name_map_set(&v->added_by_text, v->block.arena, added.text, (void *)(uintptr_t)v->added_count))
        return holo_fail_memory(error);
    if (id > v->added_last) v->added_last = id;
    if (!v->token[id].text.data || id >= v->count) v->token[id] = (HoloVocabularyToken){.text = added.text};
    if (id >= v->count) v->count = id + 1;
    return HOLO_OK;
}

HoloStatus holo_vocabulary_add_around(HoloVocabulary *v, int which, uint32_t id, HoloError *error)
{
    if (!HOLO_GROW(v->block.arena, v->around[which], v->around_count[which], v->around_room[which]))
        return holo_fail_memory(error);
    v->around[which][v->around_count[which]++] = id;
    return HOLO_OK;
}

HoloStatus holo_vocabulary_split_pattern(HoloVocabulary *v, HoloString regex, HoloSplitBehavior behavior, bool invert,
                                         HoloError *error)
{
    HoloTextStep step = {.kind = HOLO_SPLIT_PATTERN, .flags = invert, .number = {0, behavior}};
    HOLO_TRY(holo_pattern_compile(&v->block, regex, &step.number[0], error));
    return holo_block_add_step(&v->block, HOLO_STEP_SPLIT, &step, error);
}

HoloStatus holo_vocabulary_charsmap(HoloVocabulary *v, const uint8_t *bytes, size_t size, HoloError *error)
{
    HoloTextStep step  = {.kind = HOLO_NORMALIZE_CHARSMAP};
    uint32_t     units = 0;
    if (size >= 4) memcpy(&units, bytes, 4);
    if (!size) return HOLO_OK; // no map
    if (size < 4 || units > size - 4 || units % 4)
        return holo_fail(error, HOLO_BAD_MODEL, "the map of characters of the vocabulary is damaged");
    HOLO_TRY(holo_block_add(&v->block, bytes + 4, units, 1, &step.text, error));
    HOLO_TRY(holo_block_add(&v->block, bytes + 4 + units, size - 4 - units, 1, &step.more, error));
    return holo_block_add_step(&v->block, HOLO_STEP_NORMALIZER, &step, error);
}

// ---- the block

static HoloStatus finish_tokens(HoloVocabulary *v, HoloError *error)
{
    HoloTokenizerHeader *h     = &v->block.header;
    uint32_t            *from  = HOLO_NEW(v->block.arena, uint32_t, (size_t)v->count + 1);
    uint8_t             *flags = holo_arena_take(v->block.arena, (size_t)v->count + 1);
    size_t               total = 0;
    if (!from || !flags) return holo_fail_memory(error);
    for (uint32_t id = 0; id < v->count; id++) {
        from[id] = (uint32_t)total;
        total += v->token[id].text.size;
        if (total > INT32_MAX) return holo_fail(error, HOLO_UNSUPPORTED, "the tokens have more than 2 GiB of text");
        if (v->token[id].text.data && v->token[id].role != HOLO_ROLE_PIECE) flags[id] = HOLO_TOKEN_IS;
    }
    from[v->count] = (uint32_t)total;
    for (int i = 0; i < v->added_count; i++)
        flags[v->added[i].id] |= HOLO_TOKEN_ADDED | (v->added[i].flags & HOLO_ADDED_SPECIAL ? HOLO_TOKEN_SPECIAL : 0);
    char *text = holo_arena_take(v->block.arena, total + 1);
    if (!text) return holo_fail_memory(error);
    for (uint32_t id = 0; id < v->count; id++)
        if (v->token[id].text.size) memcpy(text + from[id], v->token[id].text.data, v->token[id].text.size);
    h->token_count = v->count;
    HOLO_TRY(holo_block_add(&v->block, text, total, 1, &h->text, error));
    HOLO_TRY(holo_block_add(&v->block, from, (size_t)v->count + 1, sizeof *from, &h->token_at, error));
    HOLO_TRY(holo_block_add(&v->block, flags, v->count, 1, &h->token_flags, error));
    return holo_block_add(&v->block, v->slot, v->slot_count, sizeof *v->slot, &h->slots, error);
}

static HoloStatus finish_scores(HoloVocabulary *v, HoloError *error)
{
    HoloTokenizerHeader *h     = &v->block.header;
    double              *score = HOLO_NEW(v->block.arena, double, (size_t)v->count + 1), least = 0;
    bool                 any = false;
    if (!score) return holo_fail_memory(error);
    for (uint32_t id = 0; id < v->count; id++) {
        score[id] = v->token[id].score;
        if (id >= v->model_count || !v->token[id].text.data) continue;
        if (!any || score[id] < least) least = score[id];
        any = true;
    }
    h->unknown_score = least - 10;
    return holo_block_add(&v->block, score, v->count, sizeof *score, &h->scores, error);
}

static HoloStatus finish_trie(HoloVocabulary *v, HoloError *error)
{
    HoloTrieEntry *entry = HOLO_NEW(v->block.arena, HoloTrieEntry, (size_t)v->count + 1);
    size_t         count = 0;
    if (!entry) return holo_fail_memory(error);
    for (uint32_t i = 0; i < v->slot_count; i++)
        if (v->slot[i] != HOLO_NO_TOKEN && v->token[v->slot[i]].text.size &&
            v->token[v->slot[i]].role != HOLO_ROLE_NAME)
            entry[count++] = (HoloTrieEntry){v->token[v->slot[i]].text, v->slot[i]};
    for (uint32_t id = 0; id < v->count; id++) // no slot has these
        if (v->token[id].role == HOLO_ROLE_PIECE && v->token[id].text.size)
            entry[count++] = (HoloTrieEntry){v->token[id].text, id};
    return holo_block_add_trie(&v->block, entry, count, &v->block.header.trie, error);
}

// The node of the tree that a text leads to; HOLO_NO_TOKEN: none.
static uint32_t trie_node(const HoloVocabulary *v, HoloString text)
{
    HoloTextSpan span = v->block.header.trie;
    HoloTrie     trie = {(const HoloTrieNode *)(const void *)(v->block.data + span.start - sizeof v->block.header),
                         span.count};
    uint32_t     node = 0;
    for (size_t i = 0; i < text.size; i++) {
        node = holo_trie_step(&trie, node, (uint8_t)text.data[i]);
        if (!node) return HOLO_NO_TOKEN;
    }
    return node;
}

static HoloStatus finish_bytes(HoloVocabulary *v, HoloError *error)
{
    uint32_t token[256];
    char     name[8];
    for (int i = 0; i < 256; i++) {
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        token[i] = holo_vocabulary_find(v, (HoloString){name, 6});
    }
    return holo_block_add(&v->block, token, 256, sizeof *token, &v->block.header.byte_tokens, error);
}

// The text of an added token as it looks after normalizing. The block is finished for this once, and then taken back.
// `room` is that of all of them together.
static HoloStatus normalized(HoloVocabulary *v, HoloString *text, HoloTokenizer *t, size_t *room, HoloError *error)
{
    HoloTextWork *work = holo_work_take(t);
    HoloView      view = {(const uint8_t *)text->data, text->size, -1};
    bool          is_cut;
    if (!work) return holo_fail_memory(error);
    work->room = *room;
    holo_normalize(t, work, &view, &is_cut);
    *room             = work->room;
    HoloStatus status = holo_work_is_spoilt(work) ? holo_work_fail(work, error) : HOLO_OK;
    char *copy = holo_work_is_spoilt(work) ? NULL : holo_arena_text(v->block.arena, (const char *)view.text, view.size);
    *text      = (HoloString){copy, view.size};
    holo_work_give(t, work);
    HOLO_TRY(status);
    return copy ? HOLO_OK : holo_fail_memory(error);
}

static HoloStatus normalize_added(HoloVocabulary *v, HoloTrieEntry *entry, size_t count, HoloError *error)
{
    HoloTokenizer      *t = NULL;
    HoloVocabularyBytes block;
    HoloTokenBlock      before = v->block;
    if (!count || !before.step_count[HOLO_STEP_NORMALIZER]) return HOLO_OK;
    HOLO_TRY(holo_block_finish(&v->block, &block.data, &block.size, error));
    before.data = v->block.data;
    before.room = v->block.room;
    v->block    = before;
    HOLO_TRY(holo_tokenizer_open_memory(block.data, block.size, &t, error));
    HoloStatus status = HOLO_OK;
    size_t     room   = (size_t)16 * HOLO_TEXT_ROOM;
    for (size_t i = 0; i < count && !status; i++) status = normalized(v, &entry[i].text, t, &room, error);
    holo_tokenizer_close(t);
    return status;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = ((const HoloVocabularyAdded *)a)->id, y = ((const HoloVocabularyAdded *)b)->id;
    return (x > y) - (x < y);
}

static HoloStatus finish_added(HoloVocabulary *v, HoloError *error)
{
    HoloTokenizerHeader *h     = &v->block.header;
    HoloAddedToken      *added = HOLO_NEW(v->block.arena, HoloAddedToken, v->added_count + 1);
    HoloTrieEntry       *entry[2];
    size_t               count[2] = {0};
    for (int i = 0; i < 2; i++) entry[i] = HOLO_NEW(v->block.arena, HoloTrieEntry, v->added_count + 1);
    if (!added || !entry[0] || !entry[1]) return holo_fail_memory(error);
    if (v->added_count) qsort(v->added, (size_t)v->added_count, sizeof *v->added, by_id);
    for (int i = 0; i < v->added_count; i++) {
        const HoloVocabularyAdded *a               = &v->added[i];
        added[i]                                   = (HoloAddedToken){a->id, a->flags, {sizeof *h, 0}};
        entry[a->is_normal][count[a->is_normal]++] = (HoloTrieEntry){a->text, (uint32_t)i};
    }
    HOLO_TRY(normalize_added(v, entry[1], count[1], error)); // the block has no added tokens yet
    if (count[0]) HOLO_TRY(holo_block_add_trie(&v->block, entry[0], count[0], &h->added_trie, error));
    for (size_t i = 0; i < count[1]; i++) {
        HoloString text = entry[1][i].text, was = v->added[entry[1][i].value].text;
        if (text.size == was.size && !memcmp(text.data, was.data, was.size)) continue;
        v->block.data[h->token_flags.start - sizeof *h + added[entry[1][i].value].token] |= HOLO_TOKEN_RESPELT;
        HOLO_TRY(holo_block_add(&v->block, text.data, text.size, 1, &added[entry[1][i].value].respelt, error));
    }
    HOLO_TRY(holo_block_add(&v->block, added, (size_t)v->added_count, sizeof *added, &h->added, error));
    if (count[1]) HOLO_TRY(holo_block_add_trie(&v->block, entry[1], count[1], &h->added_normal_trie, error));
    return HOLO_OK;
}

// Whether the mark of a space stands behind something else in a text.
static bool has_mark_inside(HoloString text)
{
    for (size_t at = 1; at + 3 <= text.size; at++)
        if (!memcmp(text.data + at, "\xE2\x96\x81", 3) && (at < 3 || memcmp(text.data + at - 3, "\xE2\x96\x81", 3)))
            return true;
    return false;
}

// Whether BPE gives the same tokens if words are cut before marks: no merge goes over one, and nothing is asked of whole words.
static bool can_cut(const HoloVocabulary *v)
{
    const HoloTokenizerHeader *h = &v->block.header;
    if (h->model != HOLO_MODEL_BPE || h->flags & (HOLO_IGNORE_MERGES | HOLO_BYTE_WORDS) || h->prefix.count ||
        h->suffix.count || holo_vocabulary_find(v, (HoloString){"\xE2\x96\x81", 3}) == HOLO_NO_TOKEN)
        return false;
    for (uint32_t i = 0; i < v->merge_slots; i++)
        if (v->merge[i].left != HOLO_NO_TOKEN && has_mark_inside(v->token[v->merge[i].token].text)) return false;
    return true;
}

HoloStatus holo_vocabulary_finish(HoloVocabulary *v, HoloVocabularyBytes *out, HoloError *error)
{
    HoloTokenizerHeader *h     = &v->block.header;
    int                  count = v->block.step_count[HOLO_STEP_SPLIT];
    HoloTextStep        *last  = count ? &v->block.step[HOLO_STEP_SPLIT][count - 1] : NULL;
    if (last && last->kind == HOLO_SPLIT_BYTES &&
        h->model == HOLO_MODEL_BPE) { // the cache of words can have bytes then
        last->flags = 1;
        h->flags |= HOLO_BYTE_WORDS;
    }
    if (can_cut(v)) h->flags |= HOLO_CUT_AT_MARK;
    HOLO_TRY(finish_tokens(v, error));
    if (h->model == HOLO_MODEL_WORDPIECE || h->model == HOLO_MODEL_UNIGRAM) HOLO_TRY(finish_trie(v, error));
    if (h->model == HOLO_MODEL_UNIGRAM) HOLO_TRY(finish_scores(v, error));
    if (h->flags & HOLO_BYTE_FALLBACK) HOLO_TRY(finish_bytes(v, error));
    h->trie_start = HOLO_NO_TOKEN;
    if (h->model == HOLO_MODEL_WORDPIECE) {
        HoloString prefix = {(const char *)v->block.data + h->prefix.start - sizeof *h, h->prefix.count};
        h->trie_start     = h->prefix.count ? trie_node(v, prefix) : 0;
    }
    HOLO_TRY(holo_block_add(&v->block, v->merge, v->merge_slots, sizeof *v->merge, &h->merges, error));
    for (int i = 0; i < 2; i++)
        HOLO_TRY(
            holo_block_add(&v->block, v->around[i], (size_t)v->around_count[i], 4, i ? &h->behind : &h->before, error));
    HOLO_TRY(finish_added(v, error));
    return holo_block_finish(&v->block, &out->data, &out->size, error);
}
