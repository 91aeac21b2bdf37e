// print.c - all that the program prints. Names come from files: whatever a terminal would obey is written out.
//
// What the program itself wants from a terminal it says by marks: a byte 1 and a letter, for which codes are put here.
// A name with such bytes can give colors at most.

#include "print.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    char        letter;
    const char *name, *code;
} marks[] = {
    {'0', "reset", "\033[0m"},  {'b', "bold", "\033[1m"},    {'d', "dim", "\033[2m"},   {'r', "red", "\033[31m"},
    {'g', "green", "\033[32m"}, {'y', "yellow", "\033[33m"}, {'u', "blue", "\033[34m"}, {'c', "cyan", "\033[36m"},
    {'<', "begin line", "\r"},  {'>', "end line", "\033[K"},
};

const char *cli_mark(const char *name)
{
    static char text[CLI_COUNT(marks)][3];
    for (int i = 0; i < CLI_COUNT(marks); i++) {
        if (strcmp(marks[i].name, name)) continue;
        text[i][0] = 1;
        text[i][1] = marks[i].letter;
        return text[i];
    }
    return "";
}

static const char *code_of(const char *mark)
{
    for (int i = 0; mark[0] == 1 && i < CLI_COUNT(marks); i++)
        if (marks[i].letter == mark[1]) return marks[i].code;
    return NULL;
}

// A piece without marks, new lines and tabs; it is cut out of its text for a moment.
static void piece_put(FILE *stream, char *piece, size_t size)
{
    char room[256], *safe = room, after = piece[size];
    bool is_plain = true;
    for (size_t i = 0; i < size && is_plain; i++) is_plain = piece[i] >= 0x20 && piece[i] < 0x7F;
    piece[size]  = 0;
    size_t needs = is_plain ? size : holo_text_safe(piece, room, sizeof room);
    if (!is_plain && needs >= sizeof room && (safe = malloc(needs + 1))) holo_text_safe(piece, safe, needs + 1);
    if (safe) fwrite(is_plain ? piece : safe, 1, needs, stream);
    if (safe != room) free(safe);
    piece[size] = after;
}

static void text_put(FILE *stream, char *text)
{
    while (*text) {
        const char *code = code_of(text);
        size_t      size = code || *text == '\n' || *text == '\t' ? 0 : strcspn(text + 1, "\n\t\001") + 1;
        if (size)
            piece_put(stream, text, size);
        else
            fwrite(code ? code : text, 1, code ? strlen(code) : 1, stream);
        text += size ? size : code ? 2 : 1;
    }
}

int cli_vprintf(FILE *stream, const char *format, va_list args)
{
    char    room[1024], *text = room;
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(room, sizeof room, format, args);
    if (size >= (int)sizeof room && (text = malloc((size_t)size + 1))) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    if (size < 0 || !text) return -1;
    if (stream == stdout || stream == stderr)
        text_put(stream, text);
    else
        fwrite(text, 1, (size_t)size, stream);
    if (text != room) free(text);
    return size;
}

int cli_printf(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = cli_vprintf(stream, format, args);
    va_end(args);
    return size;
}
