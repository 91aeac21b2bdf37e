// memory.h - the heap and its limits: who holds memory, for what, and how much there may be.
//
// All memory of the library is counted in one place: for the process, and for the compile or session that asked for it.
// A request that would exceed a limit is refused as if the system had no memory, and holo_fail then says how much was
// asked for, for what, and what the limit is. Mapped files are not counted: their pages can be dropped at any time.
#ifndef HOLO_BASE_MEMORY_H
#define HOLO_BASE_MEMORY_H

#include "base/base.h"

// An account counts the bytes that a context, a compile or a session holds, and allocates them as its context says. Its
// bytes also count for the account of the thread that opened it, and so on up to the process. It is freed when it is
// closed and all its memory is freed.
typedef struct HoloAccount HoloAccount;
HoloAccount               *holo_account_open(void);            // NULL: no memory; it has no limit
void                       holo_account_close(HoloAccount *a); // accepts NULL
uint64_t                   holo_account_held(const HoloAccount *a);
void                       holo_account_limit(HoloAccount *a, uint64_t bytes); // 0: none

// Bytes that this thread may take now without exceeding a limit.
uint64_t holo_memory_left(void);

// What a thread is doing. Its memory counts for the innermost account, and messages name what the scopes say.
typedef struct HoloScope {
    HoloAccount            *account; // NULL: that of the outer scope
    const char             *what;    // "node", "pass", "file"; NULL: nothing
    const char             *name;    // of the node ...; NULL: none
    struct HoloStop        *stop;    // of the compile that this is part of; NULL: that of the outer scope
    const struct HoloScope *outer;   // filled in
} HoloScope;
void holo_scope_enter(HoloScope *scope);       // for this thread, until it leaves the scope
void holo_scope_leave(const HoloScope *scope); // must be the innermost
// From here to the end of the block, this thread's memory counts for the account.
#define HOLO_IN(account_) HOLO_IN_FOR(account_, NULL)
// The same, for what messages about memory name.
#define HOLO_IN_FOR(account_, what_)                                                                        \
    HoloScope holo_in_ __attribute__((cleanup(holo_scope_end))) = {.account = (account_), .what = (what_)}; \
    holo_scope_enter(&holo_in_)
static inline void holo_scope_end(HoloScope *scope)
{
    holo_scope_leave(scope);
}
// Threads that work for another thread take its scope. Returns what they had.
const HoloScope *holo_scope_current(void);
const HoloScope *holo_scope_replace(const HoloScope *scope);

// The flag that ends the work of this thread: see stop.h. NULL: none.
struct HoloStop *holo_scope_stop(void);
// Called between two pieces of work. HOLO_CANCELLED: it must end.
HOLO_MUST HoloStatus holo_scope_continue(HoloError *error);

// The account of a context, for all that is made in it. NULL for no context: the account of the outer scope is used.
HoloAccount *holo_context_account(const HoloContext *context);

// Sends a message to the context of this thread's account, if it wants messages.
void holo_tell(HoloLogLevel level, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Does anyone want such messages? For messages whose parts take time to make.
bool holo_is_told(HoloLogLevel level);
// Logs the failure of a public call. Returns `status`.
HoloStatus holo_tell_failure(HoloStatus status, const char *what, const HoloError *error);

// ---- for code that takes memory from the system

// Whole pages directly from the system, large ones if the size is large enough, with one more page in front.
size_t holo_page_size(void);
size_t holo_pages_extent(size_t size);               // bytes that are taken for `size`
char  *holo_pages_take(size_t extent, uint32_t how); // points behind the first page; NULL: no memory
void   holo_pages_free(char *pages, size_t extent);

// Counts `size` bytes. NULL: that would exceed a limit, and is noted.
HOLO_MUST HoloAccount *holo_account_charge(size_t size);
void                   holo_account_refund(HoloAccount *a, size_t size);
// Changes the number of bytes that count for `a`.
HOLO_MUST bool holo_account_resize(HoloAccount *a, size_t from, size_t to);
// Notes that the system refused `size` bytes; SIZE_MAX: the number is too large to write.
void holo_memory_refused(size_t size);
// Writes what was noted last, and forgets it: ": 6.0 GiB were asked for, ...". If nothing is noted: "".
void holo_memory_reason(char *text, size_t room);
// Writes what the thread is doing: " for node conv1 in pass fold"; "" if no scope says it.
void holo_memory_purpose(char *text, size_t room);

// Bytes that this process could have, from what the machine and its control groups have left; 0: not known.
uint64_t holo_machine_memory(uint64_t held);

// "1.5 GiB", in a buffer of its own.
typedef struct HoloSizeText {
    char text[32];
} HoloSizeText;
HoloSizeText holo_size_text(uint64_t bytes);

// Blocks on the heap, or, where they are large, from the system in large pages: the heap would get them in small ones,
// and give them back each time. Not zeroed.
void *holo_block_take(size_t size); // NULL: no memory
void  holo_block_free(void *block, size_t size);

#endif
