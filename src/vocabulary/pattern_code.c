// pattern_code.c - programs of regular expressions, over classes of code points. See pattern.h.
#include "text/unicode.h"
#include "vocabulary/pattern.h"

#include <stdlib.h>
#include <string.h>

enum { OPS_MAX = 20000, CLASSES_MAX = 250, DEPTH_MAX = 400 };

typedef HoloPatternNode Node;

typedef struct Coder {
    HoloArena       *arena;
    HoloPatternCode *code;
    uint8_t         *ends; // of each set: whether it has the end of the text
    int              ends_room, depth;
    HoloStatus       status;
    HoloError       *error;
} Coder;

static void give_up(Coder *c, const char *why)
{
    if (!c->status) c->status = holo_fail(c->error, HOLO_UNSUPPORTED, "a regular expression %s", why);
}

static uint32_t emit(Coder *c, HoloPatternOpKind kind, uint32_t flags, uint32_t x, uint32_t y)
{
    HoloPatternCode *code = c->code;
    if (code->count >= OPS_MAX) give_up(c, "is too large");
    if (!c->status && !HOLO_GROW(c->arena, code->op, code->count, code->room)) c->status = holo_fail_memory(c->error);
    if (c->status) return 0;
    code->op[code->count] = (HoloPatternOp){kind, flags, x, y};
    return (uint32_t)code->count++;
}

static uint32_t set_number(Coder *c, const HoloCodeSet *set, bool at_end)
{
    HoloPatternCode *code = c->code;
    for (int i = 0; i < code->set_count; i++)
        if (c->ends[i] == at_end && code->set[i].count == set->count &&
            !(set->count && memcmp(code->set[i].range, set->range, (size_t)set->count * sizeof *set->range)))
            return (uint32_t)i;
    if (!HOLO_GROW(c->arena, code->set, code->set_count, code->set_room) ||
        !HOLO_GROW(c->arena, c->ends, code->set_count, c->ends_room)) {
        if (!c->status) c->status = holo_fail_memory(c->error);
        return 0;
    }
    code->set[code->set_count] = *set;
    c->ends[code->set_count]   = at_end;
    return (uint32_t)code->set_count++;
}

static void patch(Coder *c, uint32_t at, bool is_y)
{
    if (c->status) return;
    if (is_y)
        c->code->op[at].y = (uint32_t)c->code->count;
    else
        c->code->op[at].x = (uint32_t)c->code->count;
}

// Code points that a node always takes; -1: it depends.
static int fixed_size(const Node *node, int depth)
{
    int total = 0;
    if (depth > DEPTH_MAX) return -1;
    switch (node->kind) {
    case HOLO_PATTERN_SET: return 1;
    case HOLO_PATTERN_AND:
        for (const Node *n = node->child; n; n = n->next) {
            int size = fixed_size(n, depth + 1);
            if (size < 0 || total > OPS_MAX) return -1;
            total += size;
        }
        return total;
    case HOLO_PATTERN_OR:
        for (const Node *n = node->child; n; n = n->next) {
            int size = fixed_size(n, depth + 1);
            if (size < 0 || (n != node->child && size != total)) return -1;
            total = size;
        }
        return total;
    case HOLO_PATTERN_REPEAT:
        total = fixed_size(node->child, depth + 1);
        return total < 0 || node->min != node->max ? -1 : total * node->min;
    case HOLO_PATTERN_ATOM: return fixed_size(node->child, depth + 1);
    default: return 0;
    }
}

static void code_node(Coder *c, const Node *node);

static void code_either(Coder *c, const Node *node)
{
    uint32_t jumps = HOLO_NO_TOKEN; // a chain of jumps to the end, through their x
    for (const Node *n = node->child; n && !c->status; n = n->next) {
        if (!n->next) {
            code_node(c, n);
            break;
        }
        uint32_t split = emit(c, HOLO_OP_SPLIT, 0, (uint32_t)c->code->count + 1, 0);
        code_node(c, n);
        jumps = emit(c, HOLO_OP_JUMP, 0, jumps, 0);
        patch(c, split, true);
    }
    while (jumps != HOLO_NO_TOKEN && !c->status) {
        uint32_t next = c->code->op[jumps].x;
        patch(c, jumps, false);
        jumps = next;
    }
}

// A choice to go on with the next op or elsewhere, which is patched in later. A lazy one prefers to leave.
static uint32_t code_choice(Coder *c, bool is_lazy)
{
    uint32_t next = (uint32_t)c->code->count + 1;
    return emit(c, HOLO_OP_SPLIT, 0, is_lazy ? 0 : next, is_lazy ? next : 0);
}

static void code_repeat(Coder *c, const Node *node)
{
    for (int i = 0; i < node->min && !c->status; i++) code_node(c, node->child);
    if (node->max < 0) {
        uint32_t loop = code_choice(c, node->is_lazy);
        uint32_t body = (uint32_t)c->code->count;
        code_node(c, node->child);
        if (!c->status && (uint32_t)c->code->count == body) emit(c, HOLO_OP_JUMP, 0, body + 1, 0);
        emit(c, HOLO_OP_JUMP, 0, loop, 0);
        patch(c, loop, !node->is_lazy);
        return;
    }
    uint32_t *leave = HOLO_NEW(c->arena, uint32_t, node->max - node->min + 1);
    if (!leave && !c->status) c->status = holo_fail_memory(c->error);
    for (int i = 0; i < node->max - node->min && !c->status; i++) {
        leave[i] = code_choice(c, node->is_lazy);
        code_node(c, node->child);
    }
    for (int i = 0; i < node->max - node->min && !c->status; i++) patch(c, leave[i], !node->is_lazy);
}

static void code_look(Coder *c, const Node *node)
{
    int back = node->is_back ? fixed_size(node->child, 0) : 0;
    if (back < 0) return give_up(c, "looks back by a number of characters that is not fixed");
    uint32_t look = emit(c, HOLO_OP_LOOK, (node->is_not ? 1u : 0) | (node->is_back ? 2u : 0), 0, (uint32_t)back);
    code_node(c, node->child);
    emit(c, HOLO_OP_MATCH, 0, 0, 0);
    patch(c, look, false);
    c->code->is_plain = false;
}

static void code_node(Coder *c, const Node *node)
{
    if (++c->depth > DEPTH_MAX) give_up(c, "is too deep");
    if (c->status) return;
    switch (node->kind) {
    case HOLO_PATTERN_EMPTY: break;
    case HOLO_PATTERN_SET: emit(c, HOLO_OP_SET, 0, set_number(c, &node->set, false), 0); break;
    case HOLO_PATTERN_EDGE:
        emit(c, node->is_back ? HOLO_OP_BACK : HOLO_OP_EDGE, 0, set_number(c, &node->set, node->at_end), 0);
        break;
    case HOLO_PATTERN_AND:
        for (const Node *n = node->child; n; n = n->next) code_node(c, n);
        break;
    case HOLO_PATTERN_OR: code_either(c, node); break;
    case HOLO_PATTERN_REPEAT: code_repeat(c, node); break;
    case HOLO_PATTERN_LOOK: code_look(c, node); break;
    case HOLO_PATTERN_ATOM: {
        uint32_t atom = emit(c, HOLO_OP_ATOM, 0, 0, 0);
        code_node(c, node->child);
        emit(c, HOLO_OP_MATCH, 0, 0, 0);
        patch(c, atom, false);
        c->code->is_plain = false;
    }
    }
    c->depth--;
}

// ---- classes: code points that are in the same sets

static HoloStatus classify(Coder *c)
{
    HoloPatternCode *code = c->code;
    size_t           sets = (size_t)code->set_count, words = (sets + 63) / 64;
    uint8_t         *edge = holo_arena_take(c->arena, HOLO_CODES + 1); // where a set begins or ends
    code->class_of        = holo_arena_take(c->arena, HOLO_CODES);
    uint64_t *key         = HOLO_NEW(c->arena, uint64_t, (CLASSES_MAX + 1) * (words + 1)),
             *now         = HOLO_NEW(c->arena, uint64_t, words + 1);
    if (!edge || !code->class_of || !key || !now) return holo_fail_memory(c->error);
    for (size_t s = 0; s < sets; s++)
        for (int r = 0; r < code->set[s].count; r++)
            edge[code->set[s].range[r].first] = edge[code->set[s].range[r].last + 1] = 1;
    for (size_t at = 0, end; at < HOLO_CODES; at = end) {
        const uint8_t *next = memchr(edge + at + 1, 1, HOLO_CODES - at - 1);
        int class           = 0;
        end                 = next ? (size_t)(next - edge) : HOLO_CODES;
        memset(now, 0, words * sizeof *now);
        for (size_t s = 0; s < sets; s++)
            if (holo_code_set_has(&code->set[s], (uint32_t)at)) now[s / 64] |= UINT64_C(1) << s % 64;
        while (class < code->class_count && memcmp(key + (size_t) class * words, now, words * sizeof *now)) class ++;
        if (class == CLASSES_MAX)
            return holo_fail(c->error, HOLO_UNSUPPORTED, "a regular expression has too many classes");
        if (class == code->class_count) memcpy(key + (size_t)code->class_count++ * words, now, words * sizeof *now);
        memset(code->class_of + at, class, end - at);
    }
    size_t columns = (size_t)code->class_count + 1;
    code->has      = holo_arena_take(c->arena, sets * columns + 1);
    if (!code->has) return holo_fail_memory(c->error);
    for (size_t s = 0; s < sets; s++) {
        for (size_t k = 0; k + 1 < columns; k++) code->has[s * columns + k] = key[k * words + s / 64] >> s % 64 & 1;
        code->has[s * columns + columns - 1] = c->ends[s];
    }
    return HOLO_OK;
}

// ---- atoms that change nothing

// Whether one of the classes of `set` can be next at `at`, where the op is not behind an atom or a look. Marks what it saw.
static bool can_begin(const HoloPatternCode *code, uint32_t at, const uint8_t *set, uint8_t *seen)
{
    uint32_t columns = (uint32_t)code->class_count + 1;
    for (; !seen[at]; at++) {
        const HoloPatternOp *op = &code->op[at];
        seen[at]                = 1;
        if (op->kind == HOLO_OP_MATCH)
            return at + 1 != (uint32_t)code->count; // the end of an atom: what follows it is not known
        if (op->kind == HOLO_OP_LOOK) return true;  // it could see anything
        if (op->kind == HOLO_OP_SET) {
            for (uint32_t k = 0; k + 1 < columns; k++)
                if (set[k] && code->has[op->x * columns + k]) return true;
            return false;
        }
        if (op->kind == HOLO_OP_SPLIT && can_begin(code, op->y, set, seen)) return true;
        if (op->kind == HOLO_OP_SPLIT || op->kind == HOLO_OP_JUMP) at = op->x - 1;
    }
    return false;
}

// An atom that repeats one set, greedily, is the plain repeat where what follows cannot begin with that set.
static HoloStatus loosen(Coder *c)
{
    HoloPatternCode *code = c->code;
    uint8_t         *seen = holo_arena_take(c->arena, (size_t)code->count + 1);
    if (!seen) return holo_fail_memory(c->error);
    code->is_plain = true;
    for (int i = 0; i < code->count; i++) {
        HoloPatternOp *op = &code->op[i];
        if (op->kind == HOLO_OP_LOOK) code->is_plain = false;
        if (op->kind != HOLO_OP_ATOM) continue;
        uint32_t set = HOLO_NO_TOKEN, end = op->x - 1;
        bool     one = true;
        for (uint32_t at = (uint32_t)i + 1; at < end; at++) {
            const HoloPatternOp *in = &code->op[at];
            if (in->kind == HOLO_OP_SET && set == HOLO_NO_TOKEN) set = in->x;
            bool lazy = in->kind == HOLO_OP_SPLIT && in->x != at + 1;
            if (in->kind > HOLO_OP_JUMP || lazy || (in->kind == HOLO_OP_SET && in->x != set)) one = false;
            if (in->kind == HOLO_OP_EDGE || in->kind == HOLO_OP_BACK) one = false;
        }
        memset(seen, 0, (size_t)code->count);
        if (one && set != HOLO_NO_TOKEN &&
            !can_begin(code, op->x, code->has + set * ((uint32_t)code->class_count + 1), seen)) {
            code->op[end] = (HoloPatternOp){HOLO_OP_JUMP, 0, op->x, 0};
            *op           = (HoloPatternOp){HOLO_OP_JUMP, 0, (uint32_t)i + 1, 0};
        } else
            code->is_plain = false;
    }
    return HOLO_OK;
}

HoloStatus holo_pattern_code(HoloArena *arena, const HoloPatternNode *root, HoloPatternCode *out, HoloError *error)
{
    Coder c       = {.arena = arena, .code = out, .error = error};
    out->is_plain = true;
    code_node(&c, root);
    emit(&c, HOLO_OP_MATCH, 0, 0, 0);
    HOLO_TRY(c.status);
    HOLO_TRY(classify(&c));
    return out->is_plain ? HOLO_OK : loosen(&c);
}
