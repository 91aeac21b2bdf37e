// decode_stream.c - decodes ids one after the other: text comes out once its characters are complete.
//
// A decoder may look at neighbors: at whether a token is the first, at bytes that together are a character. So the tokens
// since the last complete text are decoded again, together with those before, and what is new is what follows.
#include "text/tokenizer.h"

#include <string.h>

struct HoloTextStream {
    HoloTokenizer *t;
    uint32_t       flags;
    HoloIds        ids;   // from those of the last text that was given on
    size_t         known; // of the ids, those whose text was given
    HoloGrowing    text;  // given by the last call
};

HoloStatus holo_text_stream_create(HoloTokenizer *tokenizer, uint32_t flags, HoloTextStream **out_stream,
                                   HoloError *error)
{
    *out_stream = holo_realloc(NULL, sizeof **out_stream);
    if (!*out_stream) return holo_fail_memory(error);
    **out_stream = (HoloTextStream){.t = tokenizer, .flags = flags};
    return HOLO_OK;
}

void holo_text_stream_destroy(HoloTextStream *stream)
{
    if (!stream) return;
    holo_free(stream->ids.id);
    holo_growing_deinit(&stream->text);
    holo_free(stream);
}

static bool ends_open(const char *text, size_t size) // with the replacement character: more bytes may come
{
    return size >= 3 && !memcmp(text + size - 3, "\xEF\xBF\xBD", 3);
}

// What the ids say beyond what was given; nothing while the end is open, unless `all`.
static HoloStatus stream_read(HoloTextStream *s, bool all, HoloString *out_text, HoloError *error)
{
    char  *before = NULL, *now = NULL;
    size_t before_size, now_size;
    s->text.size = 0;
    *out_text    = (HoloString){"", 0};
    HOLO_TRY(holo_tokenizer_decode(s->t, s->ids.id, s->known, s->flags, &before, &before_size, error));
    HoloStatus status = holo_tokenizer_decode(s->t, s->ids.id, s->ids.count, s->flags, &now, &now_size, error);
    if (!status && now_size > before_size && (all || !ends_open(now, now_size))) {
        holo_growing_add(&s->text, now + before_size, now_size - before_size);
        if (s->text.is_failed)
            status = holo_fail_memory(error);
        else
            *out_text = (HoloString){(const char *)s->text.data, s->text.size};
        memmove(s->ids.id, s->ids.id + s->known, (s->ids.count - s->known) * sizeof *s->ids.id);
        s->ids.count -= s->known;
        s->known = s->ids.count;
    }
    holo_text_free(before);
    holo_text_free(now);
    return status;
}

HoloStatus holo_text_stream_add(HoloTextStream *stream, uint32_t id, HoloString *out_text, HoloError *error)
{
    holo_ids_add(&stream->ids, id);
    if (stream->ids.is_failed) return holo_fail_memory(error);
    return stream_read(stream, false, out_text, error);
}

HoloStatus holo_text_stream_end(HoloTextStream *stream, HoloString *out_text, HoloError *error)
{
    HOLO_TRY(stream_read(stream, true, out_text, error));
    stream->ids.count = stream->known = 0;
    return HOLO_OK;
}
