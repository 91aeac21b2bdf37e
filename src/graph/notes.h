// notes.h - what was decided while compiling, and why. Whoever decides writes it down, for `hologram explain`.
//
// Notes are not results: if there is no memory, or there are too many, a note is left out and nothing fails.
#ifndef HOLO_GRAPH_NOTES_H
#define HOLO_GRAPH_NOTES_H

#include "base/base.h"
#include "graph/graph.h"

enum { HOLO_NOTES_MAX = 400 };

typedef struct HoloNotes { // set to zeros first
    HoloArena arena;
    HoloNote *list; // HOLO_NOTES_MAX notes; their texts are in the arena
    int       count;
    bool      is_late; // no more notes about what is not made: the graph no longer shows what it was made of
} HoloNotes;

void holo_notes_deinit(HoloNotes *notes);
// Adds a note. Texts are copied (NULL: ""), and a count of 0 becomes 1. If a note says the same already (for things
// that were made: about the same place), its count and bytes grow instead. `notes` may be NULL.
void holo_notes_add(HoloNotes *notes, const HoloNote *note);
// Forgets what a pass said about things it did not make, because the pass will look again; unless it is late.
void holo_notes_renew(HoloNotes *notes, const char *pass);

// The types of some nodes, "Cast, Mul, Add", cut after a dozen. Writes to `text` and returns it.
enum { HOLO_NOTE_TEXT = 240 };
const char *holo_note_types(char text[HOLO_NOTE_TEXT], HoloNode *const *nodes, int count);
// A formatted text, in the same way.
const char *holo_note_text(char text[HOLO_NOTE_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
