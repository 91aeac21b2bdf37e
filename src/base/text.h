// text.h - shortens names that are too long to show, and compares names.
#ifndef HOLO_BASE_TEXT_H
#define HOLO_BASE_TEXT_H

#include "base/base.h"

// Copies the text if it fits into `room`, with its 0. Otherwise writes its beginning, its end and a number computed
// from all of it, so that different texts still look different.
void holo_text_short(const char *text, char *out, size_t room);

enum { HOLO_TEXT_NAME_MAX = 64 };
// How many letters must be changed, added or taken away to make one name of the other; case does not count. Of a longer
// name the first HOLO_TEXT_NAME_MAX letters count.
int holo_text_distance(const char *a, size_t a_size, const char *b, size_t b_size);

#endif
