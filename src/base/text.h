// text.h - shortens names that are too long to show.
#ifndef HOLO_BASE_TEXT_H
#define HOLO_BASE_TEXT_H

#include "base/base.h"

// Copies the text if it fits into `room`, with its 0. Otherwise writes its beginning, its end and a number computed
// from all of it, so that different texts still look different.
void holo_text_short(const char *text, char *out, size_t room);

#endif
