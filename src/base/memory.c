// memory.c - the heap, counted.
//
// Every block has a header that says how large it is and whose; so a block may be freed by anybody, also by another copy of
// this library. An account's count begins with 1, for its owner: who brings it to 0 frees it.
#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct HoloAccount {
    _Atomic uint64_t held;
    _Atomic uint64_t limit;  // 0: none; of the process: not set, so the machine decides
    HoloAccount     *parent; // the process's; NULL: it is that
};

static HoloAccount process = {.held = 1};

// What the machine allows, looked up when it is first needed and once more before something is refused.
static _Atomic uint64_t machine_limit;
enum { UNASKED = 32 << 20 }; // bytes that need no look at the machine

static _Thread_local const HoloScope *current;

static _Thread_local struct {
    bool        is_noted;
    size_t      size;
    const char *whose; // whose limit it was; NULL: the system had none
    uint64_t    held, limit;
} refused;

// ---- the machine

static uint64_t machine_look(void)
{
    uint64_t held = atomic_load(&process.held) - 1, all = holo_machine_memory(held);
    uint64_t limit = all ? all / 10 * 9 : UINT64_MAX / 2;
    atomic_store(&machine_limit, limit);
    return limit;
}

static uint64_t limit_of(const HoloAccount *a)
{
    uint64_t limit = atomic_load_explicit(&a->limit, memory_order_relaxed);
    if (limit || a->parent) return limit ? limit : UINT64_MAX / 2;
    limit = atomic_load_explicit(&machine_limit, memory_order_relaxed);
    return limit ? limit : UNASKED;
}

// Is there room for `held` bytes after all? The machine may have more than when it was asked.
static bool machine_has(const HoloAccount *a, uint64_t held)
{
    return !a->parent && !atomic_load(&a->limit) && held <= machine_look();
}

// ---- accounts

static bool charge(HoloAccount *a, size_t size)
{
    uint64_t held = 0;
    bool     fits = size < UINT64_MAX / 4;
    if (fits) held = atomic_fetch_add_explicit(&a->held, size, memory_order_relaxed) - 1;
    if (fits && (held + size <= limit_of(a) || machine_has(a, held + size))) return true;
    if (fits) atomic_fetch_sub_explicit(&a->held, size, memory_order_relaxed);
    holo_memory_refused(size);
    refused.whose = a->parent ? "limit set for this" : "memory limit";
    refused.held  = held;
    refused.limit = limit_of(a);
    return false;
}

static void refund(HoloAccount *a, size_t size)
{
    if (atomic_fetch_sub_explicit(&a->held, size, memory_order_acq_rel) == size) free(a);
}

static bool charge_both(HoloAccount *a, size_t size)
{
    if (!charge(a, size)) return false;
    if (!a->parent || charge(a->parent, size)) return true;
    refund(a, size);
    return false;
}

void holo_account_refund(HoloAccount *a, size_t size)
{
    HoloAccount *parent = a->parent; // the account may be gone after this
    refund(a, size);
    if (parent) refund(parent, size);
}

static HoloAccount *account_now(void)
{
    for (const HoloScope *s = current; s; s = s->outer)
        if (s->account) return s->account;
    return &process;
}

HoloAccount *holo_account_charge(size_t size)
{
    HoloAccount *a = account_now();
    return charge_both(a, size) ? a : NULL;
}

bool holo_account_resize(HoloAccount *a, size_t from, size_t to)
{
    if (to > from) return charge_both(a, to - from);
    if (from > to) holo_account_refund(a, from - to);
    return true;
}

HoloAccount *holo_account_open(void)
{
    HoloAccount *a = malloc(sizeof *a);
    if (!a) return holo_memory_refused(sizeof *a), NULL;
    atomic_init(&a->held, 1);
    atomic_init(&a->limit, 0);
    a->parent = &process;
    return a;
}

void holo_account_close(HoloAccount *a)
{
    if (a) refund(a, 1);
}

uint64_t holo_account_held(const HoloAccount *a)
{
    return atomic_load(&a->held) - 1;
}

void holo_account_limit(HoloAccount *a, uint64_t bytes)
{
    atomic_store(&a->limit, bytes);
}

void holo_memory_set_limit(uint64_t bytes)
{
    atomic_store(&process.limit, bytes);
}

uint64_t holo_memory_limit(void)
{
    uint64_t limit = atomic_load(&process.limit);
    return limit ? limit : machine_look();
}

uint64_t holo_memory_held(void)
{
    return holo_account_held(&process);
}

static uint64_t left_of(const HoloAccount *a, uint64_t limit)
{
    uint64_t held = holo_account_held(a);
    return held < limit ? limit - held : 0;
}

uint64_t holo_memory_left(void)
{
    const HoloAccount *a   = account_now();
    uint64_t           all = left_of(&process, holo_memory_limit()), own = a->parent ? left_of(a, limit_of(a)) : all;
    return own < all ? own : all;
}

// ---- scopes

void holo_scope_enter(HoloScope *scope)
{
    if (!current) refused.is_noted = false; // what others met is of no interest here
    scope->outer = current;
    current      = scope;
}

void holo_scope_leave(const HoloScope *scope)
{
    current = scope->outer;
}

const HoloScope *holo_scope_current(void)
{
    return current;
}

const HoloScope *holo_scope_replace(const HoloScope *scope)
{
    const HoloScope *before = current;
    current                 = scope;
    return before;
}

// ---- blocks

typedef struct Header {
    alignas(16) size_t size; // of the block with its header
    HoloAccount *account;
} Header;

void *holo_realloc(void *old, size_t size)
{
    Header      *block = old ? (Header *)old - 1 : NULL;
    size_t       from  = block ? block->size : 0, to;
    HoloAccount *a     = block ? block->account : account_now();
    if (!holo_size_add(size ? size : 1, sizeof *block, &to)) return holo_memory_refused(SIZE_MAX), NULL;
    if (to > from && !charge_both(a, to - from)) return NULL;
    Header *moved = realloc(block, to);
    if (!moved) {
        if (to > from) holo_account_refund(a, to - from);
        holo_memory_refused(size);
        return NULL;
    }
    if (from > to) holo_account_refund(a, from - to);
    *moved = (Header){to, a};
    return moved + 1;
}

void holo_free(void *memory)
{
    if (!memory) return;
    Header      *block = (Header *)memory - 1;
    HoloAccount *a     = block->account;
    size_t       size  = block->size;
    free(block);
    holo_account_refund(a, size);
}

// ---- in words

void holo_memory_refused(size_t size)
{
    refused.is_noted = true;
    refused.size     = size;
    refused.whose    = NULL;
}

HoloSizeText holo_size_text(uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    HoloSizeText             out;
    double                   size = (double)bytes;
    int                      unit = 0;
    while (size >= 1024 && unit < HOLO_COUNT(units) - 1) size /= 1024, unit++;
    snprintf(out.text, sizeof out.text, unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
    return out;
}

void holo_memory_reason(char *text, size_t room)
{
    bool is_noted    = refused.is_noted;
    refused.is_noted = false;
    *text            = 0;
    if (!is_noted) return;
    if (refused.size == SIZE_MAX)
        snprintf(text, room, ": more was asked for than can be counted");
    else if (!refused.whose)
        snprintf(text, room, ": %s were asked for, and the system has none left", holo_size_text(refused.size).text);
    else
        snprintf(text, room, ": %s were asked for; the %s is %s, and %s of that are in use",
                 holo_size_text(refused.size).text, refused.whose, holo_size_text(refused.limit).text,
                 holo_size_text(refused.held).text);
}

void holo_memory_purpose(char *text, size_t room)
{
    size_t at = 0;
    *text     = 0;
    for (const HoloScope *s = current; s; s = s->outer) {
        if (!s->what || at >= room) continue;
        at += (size_t)snprintf(text + at, room - at, "%s%s%s%s", at ? " in " : " for ", s->what, s->name ? " " : "",
                               s->name ? s->name : "");
    }
}
