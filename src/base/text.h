// text.h - names that are too long to show.
#ifndef HOLO_BASE_TEXT_H
#define HOLO_BASE_TEXT_H

#include "base/base.h"

// The text where it fits into `room`, with its 0; else its beginning, its end and a number made of all of it, so that two texts
// that differ still look different.
void holo_text_short(const char *text, char *out, size_t room);

#endif
