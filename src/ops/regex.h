// regex.h - regular expressions in RE2's syntax, matched in time linear in the text.
#ifndef HOLO_OPS_REGEX_H
#define HOLO_OPS_REGEX_H

#include "base/base.h"

typedef struct HoloRegex HoloRegex;

// Compiles a pattern into memory of `arena`, where it lives. It refuses, and names the byte: what RE2 does not support
// either (look-around, back references), Unicode properties, quoting by \Q, and patterns that would need more than
// 20,000 instructions.
HOLO_MUST HoloStatus holo_regex_create(HoloArena *arena, HoloString pattern, HoloRegex **out, HoloError *error);
// Does the whole text match? Two threads must not call it at once.
bool holo_regex_is_match(HoloRegex *regex, HoloString text);
// The first match at or behind byte `from`, and the longest of those that begin there. `from` is at most the size of
// the text. The text before it still counts for places such as \b. Threads: as above.
bool holo_regex_find(HoloRegex *regex, HoloString text, size_t from, size_t *begin, size_t *end);

#endif
