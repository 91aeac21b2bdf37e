// notes.c - a list of notes that says each thing once.
#include "graph/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void holo_notes_deinit(HoloNotes *notes)
{
    holo_arena_deinit(&notes->arena);
    *notes = (HoloNotes){0};
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool says_the_same(const HoloNote *a, const HoloNote *b)
{
    if (a->verdict != b->verdict || strcmp(a->pass, b->pass) || strcmp(a->what, or_empty(b->what)) ||
        strcmp(a->why, or_empty(b->why)))
        return false;
    return a->verdict != HOLO_VERDICT_MADE || !strcmp(a->place, or_empty(b->place));
}

// Did it change the graph? Then a later look will not find it again.
static bool is_done(const HoloNote *note)
{
    return note->verdict == HOLO_VERDICT_MADE || note->verdict == HOLO_VERDICT_TURNED_OFF;
}

static const char *text_keep(HoloNotes *notes, const char *text)
{
    return text && *text ? holo_arena_text(&notes->arena, text, strlen(text)) : "";
}

void holo_notes_add(HoloNotes *notes, const HoloNote *note)
{
    if (!notes || (notes->is_late && !is_done(note))) return;
    uint64_t count = note->count ? note->count : 1;
    for (int i = 0; i < notes->count; i++)
        if (says_the_same(&notes->list[i], note)) {
            notes->list[i].count += count;
            notes->list[i].bytes += note->bytes;
            return;
        }
    if (!notes->list) notes->list = HOLO_NEW(&notes->arena, HoloNote, HOLO_NOTES_MAX);
    if (!notes->list || notes->count == HOLO_NOTES_MAX) return;
    HoloNote own = {
        .pass    = text_keep(notes, note->pass),
        .place   = text_keep(notes, note->place),
        .what    = text_keep(notes, note->what),
        .why     = text_keep(notes, note->why),
        .verdict = note->verdict,
        .count   = count,
        .bytes   = note->bytes,
    };
    if (own.pass && own.place && own.what && own.why) notes->list[notes->count++] = own;
}

void holo_notes_renew(HoloNotes *notes, const char *pass)
{
    if (!notes || notes->is_late) return;
    int kept = 0;
    for (int i = 0; i < notes->count; i++)
        if (is_done(&notes->list[i]) || strcmp(notes->list[i].pass, pass)) notes->list[kept++] = notes->list[i];
    notes->count = kept;
}

const char *holo_note_types(char text[HOLO_NOTE_TEXT], HoloNode *const *nodes, int count)
{
    enum { SHOWN = 12 };
    size_t at = 0;
    int    i  = 0;
    text[0]   = 0;
    for (; i < count && i < SHOWN && at < HOLO_NOTE_TEXT - 70; i++)
        at += (size_t)snprintf(text + at, HOLO_NOTE_TEXT - at, "%s%.40s", i ? ", " : "", nodes[i]->type);
    if (i < count) snprintf(text + at, HOLO_NOTE_TEXT - at, " and %d more", count - i);
    return text;
}

const char *holo_note_text(char text[HOLO_NOTE_TEXT], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, HOLO_NOTE_TEXT, format, args);
    va_end(args);
    return text;
}
