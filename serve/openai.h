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

void openai_completions(Exchange *e);
void openai_chat(Exchange *e);
void openai_embeddings(Exchange *e);
void openai_images(Exchange *e);
void openai_transcriptions(Exchange *e);
void openai_translations(Exchange *e);

// ---- an answer of one text or several (openai_reply.c)

typedef struct Reply Reply;

typedef struct Choice {
    Reply      *reply;
    Talk       *talk; // NULL: it has ended
    int         index;
    Bytes       text;                                          // all of it
    size_t      sent;                                          // of it, if it is streamed
    Bytes       logprobs;                                      // entries, with commas
    Bytes       tokens, token_logprobs, top_logprobs, offsets; // the same as /v1/completions has them
    bool        has_role;
    bool        counts_prompt; // the first answer to its prompt
    const char *finish;        // when it has ended
} Choice;

struct Reply {
    Exchange *exchange;
    int       holds; // one for each text that has not ended, and one of the maker
    bool      is_chat, streams, wants_usage, logprobs, may_call, must_call, has_failed;
    uint32_t  top;
    char      id[48];
    long      created;
    char     *model;
    json_t   *tools; // NULL: none
    int       count, ended;
    uint64_t  prompt_tokens, cached_tokens, tokens;
    Choice    choice[];
};

Reply *reply_create(Exchange *e, const Model *model, int count, bool is_chat);
void   reply_start(Reply *r); // all its texts; then the reply belongs to them
void   reply_drop(Reply *r);  // it was never started
// Calls of tools in a text: a JSON array as clients expect it. NULL: there are none.
json_t *tool_calls_find(const Reply *r, const char *text, size_t size);
// What a call looks like, as a JSON schema; NULL: the tools are not valid, and *out_why says why.
char *tools_schema(json_t *tools, const char *only, const char **out_why);

#endif
