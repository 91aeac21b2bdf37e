// notes.h - what was decided while compiling, and why: written down by whoever decides, for `hologram explain`.
//
// Notes are no results: where memory is out, or there are too many, one is left out and nothing fails.
#ifndef HOLO_GRAPH_NOTES_H
#define HOLO_GRAPH_NOTES_H

#include "base/base.h"
#include "graph/graph.h"

enum { HOLO_NOTES_MAX = 400 };

typedef struct HoloNotes { // zero-initialize
    HoloArena arena;
    HoloNote *list; // HOLO_NOTES_MAX of them, texts in the arena
    int       count;
    bool      is_late; // of what is not made, all has been said: the graph no longer shows what it was made of
} HoloNotes;

void holo_notes_deinit(HoloNotes *notes);
// Adds a note, whose texts are copied (NULL: ""), with a count of 1 where it is 0. Where one says the same already (of what
// was made, about the same place), its count and bytes grow instead. `notes` may be NULL.
void holo_notes_add(HoloNotes *notes, const HoloNote *note);
// Forgets what a pass has said about what it did not make, which it looks at again; unless it is late.
void holo_notes_renew(HoloNotes *notes, const char *pass);

// The types of some nodes, "Cast, Mul, Add", in the text given, which is returned: cut behind a dozen.
enum { HOLO_NOTE_TEXT = 240 };
const char *holo_note_types(char text[HOLO_NOTE_TEXT], HoloNode *const *nodes, int count);
// A formatted text in the same way.
const char *holo_note_text(char text[HOLO_NOTE_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
