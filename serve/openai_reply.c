// openai_reply.c - answers of language models: whole, or as a stream of events.
#include "openai.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { BACKLOG_MAX = 4 << 20 }; // a client that does not read its stream has this many bytes of it kept

// ---- its life

static void reply_release(Reply *r)
{
    if (--r->holds) return;
    Exchange *e = r->exchange;
    if (e->state == r) e->state = NULL, e->gone = NULL;
    for (int i = 0; i < r->count; i++) {
        Choice *c       = &r->choice[i];
        Bytes  *parts[] = {&c->text, &c->logprobs, &c->tokens, &c->token_logprobs, &c->top_logprobs, &c->offsets};
        for (int k = 0; k < SERVE_COUNT(parts); k++) bytes_free(parts[k]);
    }
    json_decref(r->tools);
    json_decref(r->asked);
    json_decref(r->output);
    exchange_release(e);
    free(r->model);
    free(r);
}

static void choice_end(Talk *t)
{
    Choice *c = t->state;
    c->talk   = NULL;
    reply_release(c->reply);
}

Reply *reply_create(Exchange *e, const Model *model, int count, const ReplyForm *form)
{
    Reply   *r = take(sizeof *r + (size_t)count * sizeof *r->choice);
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) < 0) number = unix_nano();
    snprintf(r->id, sizeof r->id, "%s%016llx", form->ids, (unsigned long long)number);
    r->exchange = e;
    r->holds    = 1;
    r->form     = form;
    r->is_chat  = form->is_chat;
    r->count    = count;
    r->created  = time(NULL);
    r->model    = take_text(model->name);
    exchange_hold(e);
    return r;
}

void reply_drop(Reply *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->choice[i].talk) talk_free(r->choice[i].talk);
    reply_release(r);
}

static void cancel_all(Reply *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->choice[i].talk) talk_cancel(r->choice[i].talk);
}

static void gone(Exchange *e)
{
    if (e->state) cancel_all(e->state);
}

// ---- pieces of JSON

static const char *finish_of(const Talk *t)
{
    return t->result.finish == HOLO_ENDING_LENGTH ? "length" : "stop";
}

static void add_usage(const Reply *r, Bytes *b)
{
    bytes_format(
        b,
        "\"usage\":{\"prompt_tokens\":%llu,\"completion_tokens\":%llu,\"total_tokens\":%llu,\"prompt_tokens_details\":{\"cached_tokens\":%llu}}",
        (unsigned long long)r->prompt_tokens, (unsigned long long)r->tokens,
        (unsigned long long)(r->prompt_tokens + r->tokens), (unsigned long long)r->cached_tokens);
}

static void add_head(const Reply *r, Bytes *b, bool is_chunk)
{
    bytes_format(b, "{\"id\":\"%s\",\"object\":\"%s\",\"created\":%ld,\"model\":", r->id,
                 !r->is_chat ? "text_completion"
                 : is_chunk  ? "chat.completion.chunk"
                             : "chat.completion",
                 r->created);
    bytes_json(b, r->model, strlen(r->model));
    bytes_add_text(b, ",");
}

static void add_token(Bytes *b, const TalkBest *t)
{
    bytes_add_text(b, "{\"token\":");
    bytes_json(b, t->bytes ? t->bytes : "", t->size);
    bytes_format(b, ",\"logprob\":%.7g,\"bytes\":[", (double)t->logprob < -9999 ? -9999.0 : (double)t->logprob);
    for (size_t i = 0; i < t->size; i++) bytes_format(b, "%s%u", i ? "," : "", (unsigned char)t->bytes[i]);
    bytes_add_text(b, "]");
}

static void comma(Bytes *b)
{
    if (b->size) bytes_add(b, ",", 1);
}

static void keep_logprobs(Choice *c, const TalkPiece *p, Bytes *one)
{
    if (!c->reply->logprobs || p->token == UINT32_MAX) return;
    if (c->reply->is_chat) {
        add_token(one, &p->own);
        bytes_add_text(one, ",\"top_logprobs\":[");
        for (size_t i = 0; i < p->best_count; i++) {
            if (i) bytes_add_text(one, ",");
            add_token(one, &p->best[i]);
            bytes_add_text(one, "}");
        }
        bytes_add_text(one, "]}");
        comma(&c->logprobs);
        bytes_add(&c->logprobs, one->data, one->size);
        return;
    }
    comma(&c->tokens), comma(&c->token_logprobs), comma(&c->top_logprobs), comma(&c->offsets);
    bytes_json(&c->tokens, p->own.bytes ? p->own.bytes : "", p->own.size);
    bytes_format(&c->token_logprobs, "%.7g", (double)p->own.logprob);
    bytes_format(&c->offsets, "%zu", c->text.size);
    bytes_add_text(&c->top_logprobs, "{");
    for (size_t i = 0; i < p->best_count; i++) {
        if (i) bytes_add_text(&c->top_logprobs, ",");
        bytes_json(&c->top_logprobs, p->best[i].bytes ? p->best[i].bytes : "", p->best[i].size);
        bytes_format(&c->top_logprobs, ":%.7g", (double)p->best[i].logprob);
    }
    bytes_add_text(&c->top_logprobs, "}");
}

static void add_logprobs(const Choice *c, Bytes *b, const Bytes *one)
{
    const char *none = "";
    if (!c->reply->logprobs)
        bytes_add_text(b, "\"logprobs\":null,");
    else if (c->reply->is_chat)
        bytes_format(b, "\"logprobs\":{\"content\":[%s]},",
                     one                ? one->data ? one->data : none
                     : c->logprobs.data ? c->logprobs.data
                                        : none);
    else
        bytes_format(
            b, "\"logprobs\":{\"tokens\":[%s],\"token_logprobs\":[%s],\"top_logprobs\":[%s],\"text_offset\":[%s]},",
            c->tokens.data ? c->tokens.data : none, c->token_logprobs.data ? c->token_logprobs.data : none,
            c->top_logprobs.data ? c->top_logprobs.data : none, c->offsets.data ? c->offsets.data : none);
}

// ---- streams

void reply_event(Reply *r, const char *name, const char *data, size_t size)
{
    if (!r->exchange->has_begun) {
        exchange_extra(r->exchange, "cache-control", "no-store");
        exchange_begin(r->exchange, 200, "text/event-stream", -1);
    }
    Bytes line = {0};
    if (name) bytes_format(&line, "event: %s\n", name);
    bytes_add_text(&line, "data: ");
    bytes_add(&line, data, size);
    bytes_add_text(&line, "\n\n");
    exchange_write(r->exchange, line.data, line.size);
    bytes_free(&line);
}

// A text that could be a call of a tool is not sent before it is complete.
static bool is_held(const Choice *c)
{
    const char *p = c->text.data ? c->text.data : "";
    if (!c->reply->may_call) return false;
    if (c->reply->must_call) return true;
    p += strspn(p, " \t\r\n");
    return !*p || *p == '{' || *p == '<';
}

static void send_chunk(Choice *c, const char *text, size_t size, const char *finish, json_t *calls, const Bytes *one)
{
    Reply *r = c->reply;
    Bytes  b = {0};
    add_head(r, &b, true);
    bytes_format(&b, "\"choices\":[{\"index\":%d,", c->index);
    if (r->is_chat) {
        bytes_add_text(&b, "\"delta\":{");
        if (!c->has_role) bytes_add_text(&b, "\"role\":\"assistant\"");
        if (size || !c->has_role) {
            bytes_add_text(&b, c->has_role ? "\"content\":" : ",\"content\":");
            bytes_json(&b, text ? text : "", size);
        }
        char *dumped = calls ? json_dumps(calls, JSON_COMPACT) : NULL;
        if (dumped) bytes_format(&b, "%s\"tool_calls\":%s", size || !c->has_role ? "," : "", dumped);
        free(dumped);
        bytes_add_text(&b, "},");
        c->has_role = true;
    } else {
        bytes_add_text(&b, "\"text\":");
        bytes_json(&b, text ? text : "", size);
        bytes_add_text(&b, ",");
    }
    if (one)
        add_logprobs(c, &b, one);
    else
        bytes_add_text(&b, "\"logprobs\":null,");
    bytes_format(&b, "\"finish_reason\":%s%s%s}]", finish ? "\"" : "", finish ? finish : "null", finish ? "\"" : "");
    if (r->wants_usage) bytes_add_text(&b, ",\"usage\":null");
    bytes_add_text(&b, "}");
    reply_event(r, NULL, b.data, b.size);
    bytes_free(&b);
}

static void piece(Talk *t, const TalkPiece *p)
{
    Choice *c   = t->state;
    Reply  *r   = c->reply;
    Bytes   one = {0};
    keep_logprobs(c, p, &one);
    bytes_add(&c->text, p->text, p->size);
    if (r->streams && !is_held(c)) {
        size_t size = c->text.size - c->sent;
        if (size || one.size || c->tokens.size)
            r->form->chunk(c, c->text.data ? c->text.data + c->sent : "", size, &one);
        c->sent = c->text.size;
        if (!r->is_chat) // those of /v1/completions were sent
            c->tokens.size = c->token_logprobs.size = c->top_logprobs.size = c->offsets.size = 0;
        if (r->exchange->wire->backlog(r->exchange) > BACKLOG_MAX) {
            snprintf(r->exchange->note, sizeof r->exchange->note, "the client does not read its stream");
            cancel_all(r);
            exchange_end(r->exchange, NULL, 0);
        }
    }
    bytes_free(&one);
}

static void stream_chunk(Choice *c, const char *text, size_t size, const Bytes *logprobs)
{
    send_chunk(c, text, size, NULL, NULL, logprobs);
}

static void stream_last(Choice *c)
{
    json_t *calls = tool_calls_find(c->reply, c->text.data, c->text.size), *call;
    size_t  i, left = c->text.size - c->sent;
    json_array_foreach(calls, i, call) json_object_set_new(call, "index", json_integer((json_int_t)i));
    if (!calls && left) send_chunk(c, c->text.data + c->sent, left, NULL, NULL, NULL);
    send_chunk(c, "", 0, calls ? "tool_calls" : c->finish, calls, NULL);
    json_decref(calls);
}

static void stream_end(Reply *r)
{
    Bytes b = {0};
    if (r->wants_usage) {
        add_head(r, &b, true);
        bytes_add_text(&b, "\"choices\":[],");
        add_usage(r, &b);
        bytes_add_text(&b, "}");
        reply_event(r, NULL, b.data, b.size);
        b.size = 0;
    }
    bytes_add_text(&b, "[DONE]");
    reply_event(r, NULL, b.data, b.size);
    bytes_free(&b);
    exchange_end(r->exchange, NULL, 0);
}

static void stream_failed(Reply *r, const char *text)
{
    Bytes b = {0};
    bytes_add_text(&b, "{\"error\":{\"message\":");
    bytes_json(&b, text, strlen(text));
    bytes_add_text(&b, ",\"type\":\"server_error\"}}");
    reply_event(r, NULL, b.data, b.size);
    bytes_free(&b);
}

// ---- whole answers

static void add_choice(const Choice *c, Bytes *b, const char *finish)
{
    json_t *calls  = tool_calls_find(c->reply, c->text.data, c->text.size);
    char   *dumped = calls ? json_dumps(calls, JSON_COMPACT) : NULL;
    bytes_format(b, "{\"index\":%d,", c->index);
    if (c->reply->is_chat) {
        bytes_add_text(b, "\"message\":{\"role\":\"assistant\",\"content\":");
        if (dumped)
            bytes_format(b, "null,\"tool_calls\":%s", dumped);
        else
            bytes_json(b, c->text.data ? c->text.data : "", c->text.size);
        bytes_add_text(b, ",\"refusal\":null},");
    } else {
        bytes_add_text(b, "\"text\":");
        bytes_json(b, c->text.data ? c->text.data : "", c->text.size);
        bytes_add_text(b, ",");
    }
    add_logprobs(c, b, NULL);
    bytes_format(b, "\"finish_reason\":\"%s\"}", dumped ? "tool_calls" : finish);
    free(dumped);
    json_decref(calls);
}

static void whole(Reply *r)
{
    Bytes b = {0};
    add_head(r, &b, false);
    bytes_add_text(&b, "\"choices\":[");
    for (int i = 0; i < r->count; i++) {
        if (i) bytes_add_text(&b, ",");
        add_choice(&r->choice[i], &b, r->choice[i].finish);
    }
    bytes_add_text(&b, "],");
    add_usage(r, &b);
    bytes_add_text(&b, "}");
    if (b.failed)
        exchange_fail(r->exchange, 503, "out of memory");
    else
        exchange_send(r->exchange, 200, "application/json", b.data, b.size);
    bytes_free(&b);
}

const ReplyForm reply_chat = {"chatcmpl-", true, stream_chunk, stream_last, stream_end, whole, stream_failed};
const ReplyForm reply_text = {"cmpl-", false, stream_chunk, stream_last, stream_end, whole, stream_failed};

// ---- what becomes of its texts

static void done(Talk *t)
{
    Choice *c = t->state;
    Reply  *r = c->reply;
    r->prompt_tokens += c->counts_prompt ? t->result.prompt_tokens : 0;
    r->cached_tokens += c->counts_prompt ? t->result.cached_tokens : 0;
    r->tokens += t->result.tokens;
    c->finish = finish_of(t);
    if (r->streams) r->form->last(c);
    if (++r->ended < r->count || r->has_failed) return;
    if (r->streams)
        r->form->end(r);
    else
        r->form->whole(r);
}

// One that fails ends them all.
static void fail(Talk *t, int status, const char *text)
{
    Choice *c = t->state;
    Reply  *r = c->reply;
    if (r->has_failed) return;
    r->has_failed = true;
    cancel_all(r);
    if (!r->exchange->has_begun) return exchange_fail(r->exchange, status, "%s", text);
    snprintf(r->exchange->note, sizeof r->exchange->note, "%.250s", text);
    r->form->failed(r, text);
    exchange_end(r->exchange, NULL, 0);
}

void reply_start(Reply *r)
{
    r->exchange->state = r;
    r->exchange->gone  = gone;
    for (int i = 0; i < r->count; i++) {
        Talk *t  = r->choice[i].talk;
        t->piece = piece;
        t->done  = done;
        t->fail  = fail;
        t->end   = choice_end;
        r->holds++;
    }
    for (int i = 0; i < r->count; i++) {
        if (r->has_failed) // the queue was full
            talk_free(r->choice[i].talk);
        else
            talk_start(r->choice[i].talk);
    }
    reply_release(r);
}
