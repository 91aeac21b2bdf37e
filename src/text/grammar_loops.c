// grammar_loops.c - characters that leave a state as it is, such as those of a text in quotes: tokens of these alone need no
// walk. See token_sums.c for what is known of the tokens of a branch.
#include "text/grammar.h"

enum { FROM = 0x80, TO = 0xBF }; // bytes that continue a character

// Does every character that goes on behind `state`, with `more` bytes of which the first is from `low` to `high`, end in `home`?
static bool comes_home(HoloGrammar *g, uint32_t home, uint32_t state, int more, int low, int high)
{
    uint32_t seen = HOLO_MACHINE_DEAD; // bytes mostly lead to the same state
    for (int b = low; b <= high; b++) {
        uint32_t next = holo_machine_step(g, state, (uint8_t)b);
        if (holo_machine_is_dead(next) || g->machine.is_failed) return false;
        if (next == seen) continue;
        if (more == 1 ? next != home : !comes_home(g, home, next, more - 1, FROM, TO)) return false;
        seen = next;
    }
    return true;
}

// All characters of several bytes.
static bool is_wide_loop(HoloGrammar *g, uint32_t s)
{
    static const struct {
        uint8_t first, last, more, low, high;
    } rows[] = {{0xC2, 0xDF, 1, FROM, TO},   {0xE0, 0xE0, 2, 0xA0, TO},  {0xE1, 0xEC, 2, FROM, TO},
                {0xED, 0xED, 2, FROM, 0x9F}, {0xEE, 0xEF, 2, FROM, TO},  {0xF0, 0xF0, 3, 0x90, TO},
                {0xF1, 0xF3, 3, FROM, TO},   {0xF4, 0xF4, 3, FROM, 0x8F}};
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        uint32_t seen = HOLO_MACHINE_DEAD;
        for (int b = rows[i].first; b <= rows[i].last; b++) {
            uint32_t next = holo_machine_step(g, s, (uint8_t)b);
            if (holo_machine_is_dead(next)) return false;
            if (next != seen && !comes_home(g, s, next, rows[i].more, rows[i].low, rows[i].high)) return false;
            seen = next;
        }
    }
    return true;
}

static void loops_find(HoloGrammar *g, uint32_t s)
{
    uint64_t word[2] = {0};
    for (int b = 0; b < 128; b++) word[b / 64] |= (uint64_t)(holo_machine_step(g, s, (uint8_t)b) == s) << b % 64;
    bool              wide = is_wide_loop(g, s);
    HoloMachineState *to   = &g->machine.state[s]; // steps may have moved it
    to->loop[0]            = word[0];
    to->loop[1]            = word[1];
    to->loops_wide         = wide;
    to->has_loops          = true;
}

bool holo_machine_stays(HoloGrammar *g, uint32_t state, const HoloTokenSum *sum)
{
    if (sum->is_odd) return false;
    if (!g->machine.state[state].has_loops) loops_find(g, state);
    const HoloMachineState *s = &g->machine.state[state];
    return !g->machine.is_failed && !(sum->ascii[0] & ~s->loop[0]) && !(sum->ascii[1] & ~s->loop[1]) &&
           (!sum->has_wide || s->loops_wide);
}
