// draw.h - what the writers of pictures share.
#ifndef HOLO_CLI_DRAW_H
#define HOLO_CLI_DRAW_H

#include "picture.h"

const char              *draw_safe(const char *text);                     // names made safe to show; line breaks stay
extern const char *const draw_style;                                      // the style sheet of boxes and lines
void                     draw_picture(FILE *out, const Picture *picture); // SVG elements, without the enclosing element

#endif
