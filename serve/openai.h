// openai.h - what the routes of OpenAI's protocol share.
#ifndef HOLO_SERVE_OPENAI_H
#define HOLO_SERVE_OPENAI_H

#include "speak.h"

#include <jansson.h>

enum { OPENAI_CHOICES = 128 }; // answers to one request

void openai_fail(Exchange *e, int status, const char *text); // an error in the form that clients expect
void openai_lost(Exchange *e, int status);                   // there is no such route; 404 or 405
// The body as an object. NULL: the exchange was told what is wrong.
json_t *openai_body(Exchange *e);
// The model that the request names, or the only one that can do this. NULL: the exchange was told.
Model *openai_model(Exchange *e, const char *name, bool (*can)(const Model *m), const char *what);
void   openai_send(Exchange *e, json_t *answer); // and frees it

typedef struct Refusal { // a field that would change the answer, but is not there
    const char *name;
    const char *unless; // JSON that asks for nothing
    const char *advice; // ": ..."; may be ""
} Refusal;

// The first of the fields that the body asks for. NULL: none.
const Refusal *openai_refused(const json_t *body, const Refusal *rows, int count);

void openai_completions(Exchange *e);
void openai_chat(Exchange *e);
void openai_responses(Exchange *e);
void openai_embeddings(Exchange *e);
void openai_images(Exchange *e);
void openai_transcriptions(Exchange *e);
void openai_translations(Exchange *e);

// ---- an answer of one text or several (openai_reply.c)

typedef struct Reply  Reply;
typedef struct Choice Choice;

struct Choice {
    Reply      *reply;
    Talk       *talk; // NULL: it has ended
    int         index;
    Bytes       text;                                          // all of it
    size_t      sent;                                          // of it, if it is streamed
    Bytes       logprobs;                                      // entries, with commas
    Bytes       tokens, token_logprobs, top_logprobs, offsets; // the same as /v1/completions has them
    bool        has_role;
    bool        counts_prompt; // the first answer to its prompt
    const char *finish;        // when it has ended: stop, length
};

typedef struct ReplyForm { // how a protocol writes it
    const char *ids;       // what those of its replies begin with
    bool        is_chat;   // it has messages, not a prompt
    void (*chunk)(Choice *c, const char *text, size_t size, const Bytes *logprobs); // of a stream
    void (*last)(Choice *c);                                                        // of a stream: a text has ended
    void (*end)(Reply *r);                                                          // of a stream: all texts have
    void (*whole)(Reply *r);                                                        // all at once
    void (*failed)(Reply *r, const char *text);                                     // a stream that has begun
} ReplyForm;

struct Reply {
    Exchange        *exchange;
    const ReplyForm *form;
    int              holds; // one for each text that has not ended, and one of the maker
    bool             is_chat, streams, wants_usage, logprobs, may_call, must_call, calls_once, has_failed;
    uint32_t         top;
    char             id[48];
    long             created;
    char            *model;
    json_t          *tools;          // NULL: none
    json_t          *asked, *output; // of /v1/responses: the request, and what was made so far
    int              sequence;       // of its events
    bool             has_message;
    int              count, ended;
    uint64_t         prompt_tokens, cached_tokens, tokens;
    Choice           choice[];
};

Reply *reply_create(Exchange *e, const Model *model, int count, const ReplyForm *form);
void   reply_event(Reply *r, const char *name, const char *data, size_t size); // of a stream; name may be NULL
extern const ReplyForm reply_chat, reply_text;

void reply_start(Reply *r); // all its texts; then the reply belongs to them
void reply_drop(Reply *r);  // it was never started
// Reads a request for texts and begins to answer it. The body and `asked`, which may be NULL, are freed.
void openai_answer(Exchange *e, json_t *body, const ReplyForm *form, json_t *asked);

// Calls of tools in a text: a JSON array as clients expect it. NULL: there are none.
json_t *tool_calls_find(const Reply *r, const char *text, size_t size);
// What a call looks like, as a JSON schema; NULL: the tools are not valid, and *out_why says why.
char *tools_schema(json_t *tools, const char *only, const char **out_why);

#endif
