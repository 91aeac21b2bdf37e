// parse_python.h - only for the two files of the Python parser.
#ifndef HOLO_LANG_PARSE_PYTHON_H
#define HOLO_LANG_PARSE_PYTHON_H

#include "lang/parser.h"

HOLO_MUST HoloStatus holo_python_expression(HoloParser *p, HoloAst **out);
// The statements of one block, which is indented, or the rest of the line behind a colon. `doc` (may be NULL) gets the
// text at the beginning of an indented block.
HOLO_MUST HoloStatus holo_python_block(HoloParser *p, const char **doc, HoloAst **out);
HOLO_MUST HoloStatus holo_python_line_end(HoloParser *p);
// A type by its name, the type variable of the module among them.
HOLO_MUST HoloStatus holo_python_type(HoloParser *p, uint8_t *out);
// What to write instead of a word of Python that kernels do not have; NULL: there is no such word.
const char *holo_python_advice(const char *word);

#endif
