// memory.c - the heap, with counting.
//
// Every block has a header with its size and its account. So anybody may free it, also another copy of this library.
// The count of an account begins with 1, for its owner; whoever brings it to 0 frees the account.
#include "base/memory.h"

#include "base/files.h"
#include "base/guard.h"
#include "base/stop.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct HoloAccount {
    _Atomic uint64_t held;
    _Atomic uint64_t limit;   // 0: none; for the process 0 means not set, and the machine decides
    HoloAccount     *parent;  // it counts the same bytes; NULL: this is the process's account
    HoloAlloc        alloc;   // where its memory comes from; no function: the system
    HoloContext     *context; // the context it belongs to, which outlives its memory; NULL: none
};

struct HoloContext {
    HoloAccount *account;
    HoloLogFn    log; // NULL: messages are not wanted
    void        *log_state;
    HoloLogLevel log_least;
};

static HoloAccount process = {.held = 1};

// What the machine allows. It is looked up when first needed, and again before something is refused.
static _Atomic uint64_t machine_limit;
enum { UNASKED = 32 << 20 }; // bytes that may be taken without asking the machine

static _Thread_local const HoloScope *current;

static _Thread_local struct {
    bool        is_noted;
    size_t      size;
    const char *whose; // whose limit it was; NULL: the system had no memory
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

// Is there room for `held` bytes after all? The machine may have more now.
static bool machine_has(const HoloAccount *a, uint64_t held)
{
    return !a->parent && !atomic_load(&a->limit) && held <= machine_look();
}

// ---- accounts

static bool charge(HoloAccount *a, size_t size)
{
    uint64_t held = 0;
    bool     fits = (uint64_t)size < UINT64_MAX / 4;
    if (fits) held = atomic_fetch_add_explicit(&a->held, size, memory_order_relaxed) - 1;
    if (fits && (held + size <= limit_of(a) || machine_has(a, held + size))) return true;
    if (fits) atomic_fetch_sub_explicit(&a->held, size, memory_order_relaxed);
    holo_memory_refused(size);
    refused.whose = a->parent ? "limit set for this" : "memory limit";
    refused.held  = held;
    refused.limit = limit_of(a);
    return false;
}

static void *raw_resize(const HoloAlloc *alloc, void *old, size_t from, size_t to)
{
    if (alloc->resize) return alloc->resize(alloc->state, old, from, to, alignof(max_align_t));
    return realloc(old, to);
}

static void raw_free(const HoloAlloc *alloc, void *old, size_t size)
{
    if (alloc->resize)
        alloc->resize(alloc->state, old, size, 0, alignof(max_align_t));
    else
        free(old);
}

static void refund_one(HoloAccount *a, size_t size)
{
    if (atomic_fetch_sub_explicit(&a->held, size, memory_order_acq_rel) != size) return;
    HoloAccount *parent = a->parent;
    HoloAlloc    alloc  = a->alloc;
    raw_free(&alloc, a, sizeof *a);
    holo_account_refund(parent, sizeof *a);
}

void holo_account_refund(HoloAccount *a, size_t size)
{
    while (a) {
        HoloAccount *parent = a->parent; // the account may be gone after this; its parent still counts these bytes
        refund_one(a, size);
        a = parent;
    }
}

static bool charge_all(HoloAccount *a, size_t size)
{
    for (HoloAccount *at = a; at; at = at->parent) {
        if (charge(at, size)) continue;
        for (HoloAccount *back = a, *next; back != at; back = next) next = back->parent, refund_one(back, size);
        return false;
    }
    return true;
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
    return charge_all(a, size) ? a : NULL;
}

bool holo_account_resize(HoloAccount *a, size_t from, size_t to)
{
    if (to > from) return charge_all(a, to - from);
    if (from > to) holo_account_refund(a, from - to);
    return true;
}

static HoloAccount *account_make(HoloAccount *parent, const HoloAlloc *alloc)
{
    if (!charge_all(parent, sizeof *parent)) return NULL;
    HoloAccount *a = raw_resize(alloc, NULL, 0, sizeof *a);
    if (!a) {
        holo_account_refund(parent, sizeof *a);
        holo_memory_refused(sizeof *a);
        return NULL;
    }
    atomic_init(&a->held, 1);
    atomic_init(&a->limit, 0);
    a->parent  = parent;
    a->alloc   = *alloc;
    a->context = parent->context;
    return a;
}

HoloAccount *holo_account_open(void)
{
    HoloAccount *parent = account_now();
    return account_make(parent, &parent->alloc);
}

void holo_account_close(HoloAccount *a)
{
    if (a) refund_one(a, 1);
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
    uint64_t left = left_of(&process, holo_memory_limit());
    for (const HoloAccount *a = account_now(); a->parent; a = a->parent) {
        uint64_t own = left_of(a, limit_of(a));
        if (own < left) left = own;
    }
    return left;
}

// ---- scopes

void holo_scope_enter(HoloScope *scope)
{
    if (!current) refused.is_noted = false; // failures elsewhere do not matter here
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

struct HoloStop *holo_scope_stop(void)
{
    const HoloScope *scope = current;
    while (scope && !scope->stop) scope = scope->outer;
    return scope ? scope->stop : NULL;
}

HoloStatus holo_scope_continue(HoloError *error)
{
    return holo_stop_is_due(holo_scope_stop()) ? holo_fail(error, HOLO_CANCELLED, "it was cancelled") : HOLO_OK;
}

const HoloScope *holo_scope_replace(const HoloScope *scope)
{
    const HoloScope *before = current;
    current                 = scope;
    return before;
}

// ---- blocks

typedef struct Header {
    alignas(16) size_t size; // size of the block with its header
    HoloAccount *account;
} Header;

void *holo_realloc(void *old, size_t size)
{
    Header      *block = old ? (Header *)old - 1 : NULL;
    size_t       from  = block ? block->size : 0, to;
    HoloAccount *a     = block ? block->account : account_now();
    if (!holo_size_add(size ? size : 1, sizeof *block, &to)) return holo_memory_refused(SIZE_MAX), NULL;
    if (to > from && !charge_all(a, to - from)) return NULL;
    Header *moved = raw_resize(&a->alloc, block, from, to);
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
    raw_free(&a->alloc, block, size);
    holo_account_refund(a, size);
}

// The page in front of the memory says whose it is.
static HoloAccount **owner_of(void *memory)
{
    return (HoloAccount **)memory - 1;
}

// The same with the caller's allocator: zeroed, with a page in front.
static char *hooked_pages(const HoloAlloc *alloc, size_t extent, size_t page)
{
    char *start = alloc->resize(alloc->state, NULL, 0, extent + page, page);
    return start ? (char *)memset(start, 0, extent + page) + page : NULL;
}

void *holo_memory_take(size_t size, uint32_t how)
{
    if (size > SIZE_MAX / 2) return holo_memory_refused(size), NULL;
    size_t       extent = holo_pages_extent(size), page = holo_page_size();
    HoloAccount *a = holo_account_charge(extent + page);
    if (!a) return NULL;
    char *pages = a->alloc.resize ? hooked_pages(&a->alloc, extent, page) : holo_pages_take(extent, how);
    if (!pages) {
        holo_account_refund(a, extent + page);
        holo_memory_refused(size);
        return NULL;
    }
    *owner_of(pages) = a;
    return pages;
}

void holo_memory_free(void *memory, size_t size)
{
    if (!memory) return;
    size_t       extent = holo_pages_extent(size), page = holo_page_size();
    HoloAccount *a = *owner_of(memory);
    holo_guard_show(memory, extent);
    if (a->alloc.resize)
        a->alloc.resize(a->alloc.state, (char *)memory - page, extent + page, 0, page);
    else
        holo_pages_free(memory, extent);
    holo_account_refund(a, extent + page);
}

enum { BLOCK_LARGE = 4 << 20 };

void *holo_block_take(size_t size)
{
    return size < BLOCK_LARGE ? holo_realloc(NULL, size) : holo_memory_take(size, 0);
}

void holo_block_free(void *block, size_t size)
{
    if (size < BLOCK_LARGE)
        holo_free(block);
    else
        holo_memory_free(block, size);
}

// ---- contexts

HoloStatus holo_context_create(const HoloAlloc *alloc, HoloContext **out_context, HoloError *error)
{
    static const HoloAlloc system = {0};
    HoloAccount           *a      = account_make(&process, alloc ? alloc : &system);
    *out_context                  = NULL;
    if (!a) return holo_fail_memory(error);
    HoloScope scope = {.account = a};
    holo_scope_enter(&scope);
    HoloContext *context = holo_realloc(NULL, sizeof *context);
    HoloStatus   status  = context ? HOLO_OK : holo_fail_memory(error);
    holo_scope_leave(&scope);
    if (status) {
        holo_account_close(a);
        return status;
    }
    *context     = (HoloContext){.account = a};
    a->context   = context;
    *out_context = context;
    return HOLO_OK;
}

void holo_context_destroy(HoloContext *context)
{
    if (!context) return;
    HoloAccount *a = context->account;
    holo_free(context);
    holo_account_close(a);
}

HoloAccount *holo_context_account(const HoloContext *context)
{
    return context ? context->account : NULL;
}

void holo_context_set_memory_limit(HoloContext *context, uint64_t bytes)
{
    holo_account_limit(context->account, bytes);
}

uint64_t holo_context_memory(const HoloContext *context)
{
    return holo_account_held(context->account);
}

void holo_context_set_log(HoloContext *context, HoloLogLevel least, HoloLogFn log, void *state)
{
    context->log       = log;
    context->log_state = state;
    context->log_least = least;
}

bool holo_is_told(HoloLogLevel level)
{
    const HoloContext *context = account_now()->context;
    return context && context->log && level >= context->log_least;
}

void holo_tell(HoloLogLevel level, const char *format, ...)
{
    if (!holo_is_told(level)) return;
    const HoloContext *context = account_now()->context;
    char               text[sizeof(HoloError)];
    va_list            args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    context->log(context->log_state, level, text);
}

HoloStatus holo_tell_failure(HoloStatus status, const char *what, const HoloError *error)
{
    if (status)
        holo_tell(HOLO_LOG_ERROR, "%s: %s", what, error && error->status ? error->text : holo_status_text(status));
    return status;
}

// ---- sizes as text

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
    snprintf(out.text, sizeof out.text, unit ? "%.1f %s" : "%.0f %s", size, bytes == 1 ? "byte" : units[unit]);
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
