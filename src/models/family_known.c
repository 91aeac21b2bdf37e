// family_known.c - which family a model is of, by its architecture or by its model type, and what is nearest to an unknown one.
#include "base/text.h"
#include "models/family.h"

#include <stdio.h>
#include <string.h>

// ---- names in a text

// The first name of a line "family NAME" or "architectures NAME, ...". NULL: the text has no such line.
static const char *line_find(const char *text, const char *line)
{
    size_t size = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at += size)
        if (at == text || at[-1] == '\n') return at + size;
    return NULL;
}

// Goes to the next name of the line. NULL: there is none.
static const char *name_next(const char *at)
{
    at += strcspn(at, ",\n");
    if (*at != ',') return NULL;
    return at + 1 + strspn(at + 1, " ");
}

static bool has_name(const char *text, const char *line, const char *name)
{
    for (const char *at = line_find(text, line); at; at = name_next(at))
        if (strcspn(at, ", \n") == strlen(name) && !strncmp(at, name, strlen(name))) return true;
    return false;
}

// ---- what is nearest

// The name on any such line that is nearest to `name`.
static void nearest(const char *line, const char *name, char *out, size_t room)
{
    int best = HOLO_TEXT_NAME_MAX * 2;
    for (const HoloFamilyText *t = holo_family_texts; t->name; t++)
        for (const char *at = line_find(t->text, line); at; at = name_next(at)) {
            size_t length = strcspn(at, ", \n");
            int    far    = holo_text_distance(name, strlen(name), at, length);
            if (far >= best) continue;
            best = far;
            snprintf(out, room, "%.*s", (int)length, at);
        }
}

static HoloStatus unknown(const HoloFamilyRequest *request, HoloError *error)
{
    char        near[HOLO_TEXT_NAME_MAX + 1] = "";
    const char *family = request->family, *architecture = request->architecture;
    if (architecture)
        nearest("architectures ", architecture, near, sizeof near);
    else if (family)
        nearest("family ", family, near, sizeof near);
    return holo_fail(error, HOLO_UNSUPPORTED,
                     "there is no description of the architecture %.100s%s%.100s%s; the nearest that is known is %s. "
                     "Export the model to ONNX",
                     architecture ? architecture : "", family ? " (model type " : "", family ? family : "",
                     family ? ")" : "", near);
}

// ---- finding

// Texts without the name of a family are shared: they are read before that of the family.
static int shared_count(void)
{
    int count = 0;
    while (holo_family_texts[count].name && !line_find(holo_family_texts[count].text, "family ")) count++;
    return count;
}

HoloStatus holo_family_build(HoloArena *arena, const HoloFamilyRequest *request, HoloFamilyModel *out, HoloError *error)
{
    HoloFamilyText texts[HOLO_FAMILY_SHARED + 1];
    int            shared = shared_count();
    if (shared > HOLO_FAMILY_SHARED) return holo_fail(error, HOLO_INTERNAL, "too many families' texts are shared");
    memcpy(texts, holo_family_texts, (size_t)shared * sizeof *texts);
    for (const HoloFamilyText *t = holo_family_texts + shared; t->name; t++) {
        if (request->architecture ? !has_name(t->text, "architectures ", request->architecture)
                                  : !request->family || !has_name(t->text, "family ", request->family))
            continue;
        texts[shared] = *t;
        return holo_family_build_text(arena, texts, shared + 1, request, out, error);
    }
    return unknown(request, error);
}
