// grammar_checks.c - rules that cannot end, and rules that begin with themselves.
#include "vocabulary/grammar_tree.h"

#include <string.h>

typedef struct Checks {
    HoloGrammarBuilder *b;
    bool               *ends; // a node: an END can be reached
    bool               *rule_ends;
    bool               *empty; // a node: END can be reached without a byte
    bool               *rule_empty;
    uint32_t           *todo;
    uint8_t            *mark;                          // of rules: 1 on the way, 2 done
    bool               *seen;                          // of nodes
    uint32_t           *begin, *begin_at, *begin_next; // what each rule can begin with: from begin_at[rule] on
} Checks;

// Whether a node reaches an END, given what is known. `is_free`: without a byte.
static bool node_reaches(const Checks *c, HoloGrammarNode n, bool is_free)
{
    const bool *known = is_free ? c->empty : c->ends, *rules = is_free ? c->rule_empty : c->rule_ends;
    if (n.kind == HOLO_NODE_END) return true;
    if (n.kind == HOLO_NODE_SPLIT) return known[n.x] || known[n.y];
    if (n.kind == HOLO_NODE_CALL) return rules[n.x] && known[n.y];
    HoloGrammarSet s = c->b->set[n.x];
    return !is_free && known[n.y] && (s.word[0] | s.word[1] | s.word[2] | s.word[3]);
}

// Until nothing changes. Nodes lie behind those that they lead to, so few turns are needed; there is a bound.
static void reach(Checks *c, bool is_free)
{
    HoloGrammarBuilder *b     = c->b;
    bool               *known = is_free ? c->empty : c->ends, *rules = is_free ? c->rule_empty : c->rule_ends;
    bool                changes = true;
    while (changes) {
        changes = false;
        for (int i = 0; i < b->node_count; i++)
            if (!known[i] && node_reaches(c, b->node[i], is_free)) known[i] = changes = true;
        for (int i = 0; i < b->rule_count; i++)
            if (!rules[i] && known[b->rule[i].start]) rules[i] = changes = true;
    }
}

// Ways that lead to no end become ways that no byte fits.
static void cut_dead(Checks *c)
{
    HoloGrammarBuilder *b = c->b;
    for (int i = 0; i < b->node_count; i++) {
        HoloGrammarNode *n = &b->node[i];
        if (n->kind != HOLO_NODE_SPLIT || !c->ends[i]) continue;
        if (!c->ends[n->x]) n->x = n->y;
        if (!c->ends[n->y]) n->y = n->x;
    }
}

// The rules that a rule can begin with, from c->begin on, without a look into them.
static uint32_t add_begins(Checks *c, uint32_t rule, uint32_t at)
{
    HoloGrammarBuilder *b        = c->b;
    int                 count    = 0;
    c->seen[b->rule[rule].start] = true;
    c->todo[count++]             = b->rule[rule].start;
    while (count > 0) {
        HoloGrammarNode n       = b->node[c->todo[--count]];
        uint32_t        next[2] = {UINT32_MAX, UINT32_MAX};
        if (n.kind == HOLO_NODE_SPLIT) next[0] = n.x, next[1] = n.y;
        if (n.kind == HOLO_NODE_CALL) {
            c->begin[at++] = n.x;
            if (c->rule_empty[n.x]) next[0] = n.y;
        }
        for (int k = 0; k < 2; k++)
            if (next[k] != UINT32_MAX && !c->seen[next[k]]) {
                c->seen[next[k]] = true;
                c->todo[count++] = next[k];
            }
    }
    return at;
}

// A rule that begins with itself, perhaps through others; UINT32_MAX: none does.
static uint32_t find_circle(Checks *c)
{
    uint32_t rules = (uint32_t)c->b->rule_count, at = 0;
    for (uint32_t i = 0; i < rules; i++) {
        c->begin_at[i] = c->begin_next[i] = at;
        at                                = add_begins(c, i, at);
    }
    c->begin_at[rules] = at;
    for (uint32_t root = 0; root < rules; root++) {
        int depth = 0;
        if (c->mark[root]) continue;
        c->mark[root]    = 1;
        c->todo[depth++] = root;
        while (depth > 0) {
            uint32_t now = c->todo[depth - 1];
            if (c->begin_next[now] == c->begin_at[now + 1]) {
                c->mark[now] = 2;
                depth--;
                continue;
            }
            uint32_t next = c->begin[c->begin_next[now]++];
            if (c->mark[next] == 1) return next;
            if (!c->mark[next]) c->todo[depth++] = next;
            if (!c->mark[next]) c->mark[next] = 1;
        }
    }
    return UINT32_MAX;
}

void holo_grammar_check_rules(HoloGrammarBuilder *b)
{
    size_t rules = (size_t)b->rule_count + 1, nodes = (size_t)b->node_count + rules;
    Checks c = {b,
                HOLO_NEW(b->arena, bool, nodes),
                HOLO_NEW(b->arena, bool, rules),
                HOLO_NEW(b->arena, bool, nodes),
                HOLO_NEW(b->arena, bool, rules),
                HOLO_NEW(b->arena, uint32_t, nodes),
                HOLO_NEW(b->arena, uint8_t, rules),
                HOLO_NEW(b->arena, bool, nodes),
                HOLO_NEW(b->arena, uint32_t, nodes),
                HOLO_NEW(b->arena, uint32_t, rules),
                HOLO_NEW(b->arena, uint32_t, rules)};
    if (!c.ends || !c.rule_ends || !c.empty || !c.rule_empty || !c.todo || !c.mark || !c.seen || !c.begin ||
        !c.begin_at || !c.begin_next) {
        b->status = holo_fail_memory(b->error);
        return;
    }
    reach(&c, false);
    reach(&c, true);
    if (!c.rule_ends[0]) {
        b->status = holo_grammar_fail(b, HOLO_BAD_MODEL, "no text fits the grammar: its rules never end");
        return;
    }
    uint32_t circle = find_circle(&c);
    if (circle != UINT32_MAX) {
        HoloString name = b->rule[circle].name;
        b->status       = holo_grammar_fail(b, HOLO_UNSUPPORTED,
                                            "the rule '%.*s' begins with itself (left recursion): write it as a repeat, or "
                                                  "put what it repeats first",
                                            (int)holo_least((int64_t)name.size, 100), name.data);
        return;
    }
    cut_dead(&c);
}
