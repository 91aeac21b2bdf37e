// memory.h - the heap and its limits: who holds memory, for what, and how much of it there may be.
//
// All memory of the library is counted, in one place: for the process, and for the compile or session that asked for it.
// What would go past a limit is refused as if the system had none left, and holo_fail says then how much was asked for,
// for what, and what the limit is. Files that are mapped are not counted: their pages can be dropped at any time.
#ifndef HOLO_BASE_MEMORY_H
#define HOLO_BASE_MEMORY_H

#include "base/base.h"

// An account counts the bytes that a compile or a session holds. It is freed when it is closed and all its memory is, too.
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
// Threads that work for another take its scope; returns what they had.
const HoloScope *holo_scope_current(void);
const HoloScope *holo_scope_replace(const HoloScope *scope);

// ---- for those who take memory from the system

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
