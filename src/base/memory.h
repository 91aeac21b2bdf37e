// memory.h - the heap and its limits: who holds memory, for what, and how much of it there may be.
//
// All memory of the library is counted, in one place: for the process, and for the compile or session that asked for it.
// What would go past a limit is refused as if the system had none left, and holo_fail says then how much was asked for,
// for what, and what the limit is. Files that are mapped are not counted: their pages can be dropped at any time.
#ifndef HOLO_BASE_MEMORY_H
#define HOLO_BASE_MEMORY_H

#include "base/base.h"

// An account counts the bytes that a context, a compile or a session holds, and takes them from where its context does. It
// counts for the account of the thread that opened it, too, up to the process's. It is freed when it is closed and all its
// memory is, too.
typedef struct HoloAccount HoloAccount;
HoloAccount               *holo_account_open(void);            // NULL: out of memory; without a limit
void                       holo_account_close(HoloAccount *a); // NULL: nothing
uint64_t                   holo_account_held(const HoloAccount *a);
void                       holo_account_limit(HoloAccount *a, uint64_t bytes); // 0: none

// Bytes that this thread may take now before it meets a limit.
uint64_t holo_memory_left(void);

// What a thread is doing: memory that it takes is of the innermost account, and for what the scopes say.
typedef struct HoloScope {
    HoloAccount            *account; // NULL: that of the outer one
    const char             *what;    // "node", "pass", "file"; NULL: nothing to say
    const char             *name;    // of the node ...; NULL: none
    const struct HoloScope *outer;   // filled in
} HoloScope;
void holo_scope_enter(HoloScope *scope);       // of this thread, until it leaves it
void holo_scope_leave(const HoloScope *scope); // the innermost
// From here to the end of the block this thread's memory is of the account.
#define HOLO_IN(account_)                                                                  \
    HoloScope holo_in_ __attribute__((cleanup(holo_scope_end))) = {.account = (account_)}; \
    holo_scope_enter(&holo_in_)
static inline void holo_scope_end(HoloScope *scope)
{
    holo_scope_leave(scope);
}
// Threads that work for another take its scope; returns what they had.
const HoloScope *holo_scope_current(void);
const HoloScope *holo_scope_replace(const HoloScope *scope);

// The account of a context, for all that is made in it; of none: NULL, that of the outer scope.
HoloAccount *holo_context_account(const HoloContext *context);

// Tells the context of this thread's account something, if it wants to know.
void holo_tell(HoloLogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The failure of a public call is told where it is given back. Returns `status`.
HoloStatus holo_tell_failure(HoloStatus status, const char *what, const HoloError *error);

// ---- for those who take memory from the system

// Whole pages straight from the system, in large ones where it is that much, with one page more in front of them.
size_t holo_page_size(void);
size_t holo_pages_extent(size_t size);               // the bytes that are taken for `size`
char  *holo_pages_take(size_t extent, uint32_t how); // behind the first page; NULL: there are none
void   holo_pages_free(char *pages, size_t extent);

// Counts `size` bytes. NULL: that is beyond a limit, and has been noted.
HOLO_MUST HoloAccount *holo_account_charge(size_t size);
void                   holo_account_refund(HoloAccount *a, size_t size);
// Counts some more, or less, bytes of what is `a`'s.
HOLO_MUST bool holo_account_resize(HoloAccount *a, size_t from, size_t to);
// Notes that the system refused `size` bytes; SIZE_MAX: they cannot even be counted.
void holo_memory_refused(size_t size);
// Writes what was noted last, and forgets it: ": 6.0 GiB were asked for, ...". Nothing is noted: "".
void holo_memory_reason(char *text, size_t room);
// Writes what the thread is doing: " for node conv1 in pass fold"; "" where nobody said.
void holo_memory_purpose(char *text, size_t room);

// Bytes that this process could have, by what the machine and its control groups have left; 0: not known.
uint64_t holo_machine_memory(uint64_t held);

// "1.5 GiB", in a buffer of its own.
typedef struct HoloSizeText {
    char text[32];
} HoloSizeText;
HoloSizeText holo_size_text(uint64_t bytes);

#endif
