// repository.c - models and the folders that they come from. See repository.h.
#include "repository.h"
#include "journal.h"
#include "scan.h"

#include "hologram_compiler.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

typedef struct Place { // a version of a model
    struct Place *next;
    char         *name, *version;
    uint64_t      signature; // of the file that was tried last
    Model        *model;     // NULL: it is not there
    char         *reason;    // NULL: nothing is wrong
    bool          is_unloaded, is_loading, is_found;
} Place;

typedef struct Change {
    struct Change *next;
    char          *name;
    bool           load;
    void (*done)(void *state, const char *why);
    void *state;
    char *why;
} Change;

struct Repository {
    Server         *server;
    pthread_mutex_t lock;  // of places and changes
    Place          *first; // sorted by name and version
    Change         *changes;
    pthread_t       thread;
    bool            has_thread;
    _Atomic bool    is_ending, is_ready;
    int             bell, notify;
    char          **watched;
    int             watched_count;
};

// ---- opening

static char *message_of(const char *path, HoloStatus status, const HoloError *error)
{
    return take_format("%s: %s", path, *error->text ? error->text : holo_status_text(status));
}

static HoloModel *open_model(Repository *r, const Found *f, char **out_why)
{
    HoloModel    *model    = NULL;
    HoloCompiler *compiler = NULL;
    HoloError     error    = {0};
    HoloStatus    status;
    if (f->is_archive) {
        status = holo_model_open(f->path, &model, &error);
    } else {
        status = holo_compiler_create(&compiler);
        // While others are served, a compile has one core.
        if (!status) holo_compiler_set_threads(compiler, r->is_ready ? 1 : schedule_cores(r->server->schedule));
        if (!status) status = holo_compile_model(compiler, f->path, &model, NULL, &error);
        holo_compiler_destroy(compiler);
    }
    if (status) *out_why = message_of(f->path, status, &error);
    return status ? NULL : model;
}

static Place *place_find(Repository *r, const char *name, const char *version)
{
    for (Place *p = r->first; p; p = p->next)
        if (!strcmp(p->name, name) && !strcmp(p->version, version)) return p;
    return NULL;
}

static bool is_before(const Place *p, const Found *f)
{
    int    order = strcmp(p->name, f->name);
    size_t a = strlen(p->version), b = strlen(f->version);
    return order ? order < 0 : a != b ? a < b : strcmp(p->version, f->version) < 0;
}

static Place *place_make(Repository *r, const Found *f)
{
    Place *p = take(sizeof *p), **at = &r->first;
    p->name    = take_text(f->name);
    p->version = take_text(f->version);
    while (*at && is_before(*at, f)) at = &(*at)->next;
    p->next    = *at;
    return *at = p;
}

// Opens what was found and puts it in its place. The old model stays if the new one cannot be opened.
static void place_open(Repository *r, Place *p, const Found *f)
{
    char      *why   = NULL;
    double     began = now();
    HoloModel *holo  = open_model(r, f, &why);
    Model     *model = holo ? model_create(r->server, f->name, f->version, f->path, holo) : NULL, *old = NULL;
    char       seconds[32];
    snprintf(seconds, sizeof seconds, "%.6f", now() - began);
    ModelMetrics *m = metrics_model(r->server->metrics, f->name);
    __atomic_add_fetch(model ? &m->loads : &m->failures, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&r->lock);
    p->signature  = f->signature;
    p->is_loading = false;
    free(p->reason);
    p->reason = why ? take_text(why) : NULL;
    if (model) old = p->model, p->model = model;
    bool has_old = old || (!model && p->model);
    pthread_mutex_unlock(&r->lock);
    if (model)
        journal(JOURNAL_INFO, has_old ? "replaced" : "loaded", "model", f->name, "version", f->version, "path", f->path,
                "seconds", seconds, NULL);
    else
        journal(JOURNAL_ERROR, "load-failed", "model", f->name, "version", f->version, "why", why, "old",
                has_old ? "stays" : "none", NULL);
    model_release(old);
    free(why);
}

// ---- looking

static void look_at(Repository *r, const Found *f)
{
    pthread_mutex_lock(&r->lock);
    Place *p = place_find(r, f->name, f->version);
    if (!p) p = place_make(r, f), p->signature = ~f->signature;
    p->is_found = true;
    bool opens  = p->signature != f->signature && !p->is_unloaded;
    if (opens) p->is_loading = true;
    pthread_mutex_unlock(&r->lock);
    if (opens) place_open(r, p, f); // only this thread removes places
}

static void forget_lost(Repository *r)
{
    Place *lost = NULL;
    pthread_mutex_lock(&r->lock);
    for (Place **at = &r->first; *at;) {
        Place *p = *at;
        if (p->is_found) {
            p->is_found = false;
            at          = &p->next;
            continue;
        }
        *at     = p->next;
        p->next = lost;
        lost    = p;
    }
    pthread_mutex_unlock(&r->lock);
    for (Place *next; lost; lost = next) {
        next = lost->next;
        if (!r->is_ending) journal(JOURNAL_INFO, "removed", "model", lost->name, "version", lost->version, NULL);
        model_release(lost->model);
        free(lost->name);
        free(lost->version);
        free(lost->reason);
        free(lost);
    }
}

static void watch_folders(Repository *r, const Scan *s)
{
    const uint32_t events =
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_ONLYDIR | IN_DELETE_SELF;
    if (r->notify < 0) return;
    for (int i = 0; i < s->folder_count; i++) // one that is watched already stays as it is
        if (inotify_add_watch(r->notify, s->folder[i], events) < 0)
            journal(JOURNAL_WARNING, "not-watched", "folder", s->folder[i], "why", strerror(errno), NULL);
}

static bool is_given(const Options *o, const Found *f)
{
    for (int i = 0; i < o->path_count; i++)
        if (!strcmp(o->paths[i], f->path)) return true;
    return false;
}

// Two files that were named, of which only one could be served. (Of those in folders, one is left out.)
static bool names_differ(const Options *o, const Scan *s, char *why, size_t room)
{
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < i && is_given(o, &s->found[i]); k++) {
            const Found *a = &s->found[k], *b = &s->found[i];
            if (!is_given(o, a) || a->is_archive != b->is_archive || strcmp(a->name, b->name) ||
                strcmp(a->version, b->version))
                continue;
            if (!strcmp(a->path, b->path))
                snprintf(why, room, "%s is given twice", a->path);
            else
                snprintf(why, room, "%s and %s are both called %s: give one of them another name", a->path, b->path,
                         a->name);
            return false;
        }
    return true;
}

static bool paths_check(const Server *server, char *why, size_t room)
{
    Scan s  = {0};
    bool is = true;
    for (int i = 0; i < server->options.path_count && is; i++) is = scan_path(&s, server->options.paths[i], why, room);
    for (int i = 0; i < server->options.path_count && is; i++)
        for (int k = 0; k < s.count && is; k++)
            if (!strcmp(s.found[k].path, server->options.paths[i]) && !scan_is_model(s.found[k].path)) {
                is = false;
                snprintf(why, room, "%s: it has the name of a model, but is none", s.found[k].path);
            }
    is = is && names_differ(&server->options, &s, why, room);
    scan_free(&s);
    return is;
}

// The only model may have another name than its file.
static void name_only(Scan *s, const char *name)
{
    for (int i = 1; i < s->count; i++)
        if (strcmp(s->found[0].name, s->found[i].name)) {
            journal(JOURNAL_WARNING, "not-named", "why", "--name is for one model, and there are several", NULL);
            return;
        }
    for (int i = 0; i < s->count; i++) {
        free(s->found[i].name);
        s->found[i].name = take_text(name);
    }
}

// An archive beside the model that it was made of is as it should be.
static void tell_left_out(const Found *taken, const Found *other)
{
    if (taken->is_archive == other->is_archive)
        journal(JOURNAL_WARNING, "left-out", "path", other->path, "why", "another model has its name", "other",
                taken->path, NULL);
}

static void look(Repository *r)
{
    const Options *o = &r->server->options;
    Scan           s = {0};
    char           why[512];
    for (int i = 0; i < o->path_count; i++)
        if (!scan_path(&s, o->paths[i], why, sizeof why)) journal(JOURNAL_WARNING, "not-found", "why", why, NULL);
    scan_sort(&s, r->is_ready ? NULL : tell_left_out);
    if (!s.count && !r->is_ready)
        journal(JOURNAL_WARNING, "no-models", "why",
                o->no_watch ? "there is no model: copy one to the folder, and send SIGHUP"
                            : "there is no model yet: copy one to the folder, and it appears",
                NULL);
    if (o->name) name_only(&s, o->name);
    watch_folders(r, &s); // first, so that what changes while models are opened is seen
    for (int i = 0; i < s.count && !r->is_ending; i++) look_at(r, &s.found[i]);
    if (!r->is_ending) forget_lost(r);
    scan_free(&s);
}

// ---- changes that clients ask for

static void change_done(void *state)
{
    Change *c = state;
    c->done(c->state, c->why ? c->why : "");
    free(c->name);
    free(c->why);
    free(c);
}

static void change_apply(Repository *r, Change *c)
{
    bool   is_known = false;
    Model *old[64];
    int    old_count = 0;
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next) {
        if (strcmp(p->name, c->name)) continue;
        is_known       = true;
        p->is_unloaded = !c->load;
        if (c->load && !p->model) p->signature = 0; // it is opened anew
        if (!c->load && p->model && old_count < 64) old[old_count++] = p->model, p->model = NULL;
    }
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < old_count; i++) model_release(old[i]);
    if (c->load) look(r);
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next)
        if (!strcmp(p->name, c->name)) {
            is_known = true;
            if (c->load && p->reason && !c->why) c->why = take_text(p->reason);
        }
    pthread_mutex_unlock(&r->lock);
    if (!is_known) c->why = take_format("there is no model '%.100s'", c->name);
    loop_post(r->server->loop, change_done, c);
}

void repository_change(Repository *r, const char *name, bool load, void (*done)(void *, const char *), void *state)
{
    Change *c = take(sizeof *c), **at;
    c->name   = take_text(name);
    c->load   = load;
    c->done   = done;
    c->state  = state;
    pthread_mutex_lock(&r->lock);
    for (at = &r->changes; *at;) at = &(*at)->next;
    *at = c;
    pthread_mutex_unlock(&r->lock);
    repository_look(r);
}

void repository_look(Repository *r)
{
    uint64_t one = 1;
    if (write(r->bell, &one, sizeof one) < 0 && errno != EAGAIN) abort();
}

// ---- the thread

// Waits until something happened, and a little longer: files come in groups.
static void wait_for_news(Repository *r)
{
    struct pollfd fds[2] = {{r->bell, POLLIN, 0}, {r->notify, POLLIN, 0}};
    char          events[4096];
    uint64_t      rung;
    if (poll(fds, r->notify >= 0 ? 2 : 1, -1) < 0) return;
    if (fds[0].revents && read(r->bell, &rung, sizeof rung) > 0) return;
    for (int i = 0; i < 20; i++) {
        while (read(r->notify, events, sizeof events) > 0) {
        }
        if (poll(fds, 2, 50) <= 0 || fds[0].revents) return;
    }
}

static void *watch(void *state)
{
    Repository *r = state;
    look(r);
    r->is_ready = true;
    journal(JOURNAL_INFO, "ready", NULL);
    while (!r->is_ending) {
        wait_for_news(r);
        pthread_mutex_lock(&r->lock);
        Change *c  = r->changes;
        r->changes = NULL;
        pthread_mutex_unlock(&r->lock);
        for (Change *next; c; c = next) {
            next = c->next;
            change_apply(r, c);
        }
        if (!r->is_ending) look(r);
    }
    return NULL;
}

Repository *repository_create(Server *server, char *why, size_t room)
{
    Repository *r      = take(sizeof *r);
    r->server          = server;
    server->repository = r;
    r->bell            = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    r->notify          = server->options.no_watch ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    pthread_mutex_init(&r->lock, NULL);
    if (!paths_check(server, why, room)) return repository_destroy(r), server->repository = NULL;
    r->has_thread = !pthread_create(&r->thread, NULL, watch, r);
    if (r->has_thread) return r;
    snprintf(why, room, "a thread cannot be made");
    repository_destroy(r);
    return server->repository = NULL;
}

void repository_destroy(Repository *r)
{
    if (!r) return;
    r->is_ending = true;
    repository_look(r);
    if (r->has_thread) pthread_join(r->thread, NULL);
    for (Place *p = r->first; p; p = p->next) p->is_found = false;
    forget_lost(r);
    close(r->bell);
    if (r->notify >= 0) close(r->notify);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

// ---- asking

Model *repository_take(Repository *r, const char *name, const char *version, int *out_status, char *why, size_t room)
{
    Model *found = NULL;
    Place *last  = NULL;
    *out_status  = 404;
    snprintf(why, room, "there is no model '%.100s'%s%.20s", name, version ? " of version " : "",
             version ? version : "");
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next) {
        if (strcmp(p->name, name) || (version && *version && strcmp(p->version, version))) continue;
        last = p;
        if (p->model) found = p->model; // the last one is the latest
    }
    if (found) {
        model_hold(found);
    } else if (last) {
        *out_status = 503;
        snprintf(why, room, "the model '%.100s' %s%.400s", name,
                 last->is_loading    ? "is being opened"
                 : last->is_unloaded ? "is unloaded"
                                     : "could not be opened: ",
                 !last->is_loading && !last->is_unloaded && last->reason ? last->reason : "");
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

Model *repository_only(Repository *r, bool (*can)(const Model *m))
{
    Model *found = NULL;
    bool   many  = false;
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next) {
        if (!p->model || !can(p->model)) continue;
        many  = many || (found && strcmp(found->name, p->name));
        found = p->model;
    }
    if (found && !many) model_hold(found);
    pthread_mutex_unlock(&r->lock);
    return many ? NULL : found;
}

void repository_list(Repository *r, void (*each)(void *, const Listed *), void *state)
{
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next) {
        Listed l = {p->name, p->version, p->reason ? p->reason : "", p->model, p->is_unloaded, p->is_loading};
        each(state, &l);
    }
    pthread_mutex_unlock(&r->lock);
}

bool repository_is_ready(Repository *r)
{
    bool is = r->is_ready;
    pthread_mutex_lock(&r->lock);
    for (Place *p = r->first; p; p = p->next) is = is && (p->model || !p->is_loading);
    pthread_mutex_unlock(&r->lock);
    return is;
}

static void write_place(void *state, const Listed *l)
{
    Bytes *out = state;
    bytes_add_text(out, "hologram_model_ready{model=");
    bytes_json(out, l->name, strlen(l->name));
    bytes_format(out, ",version=\"%s\"} %d\n", l->version, l->model != NULL);
}

static void write_queue(void *state, const Listed *l)
{
    Bytes *out = state;
    if (!l->model) return;
    bytes_add_text(out, "hologram_queue_length{model=");
    bytes_json(out, l->name, strlen(l->name));
    bytes_format(out, ",version=\"%s\"} %d\n", l->version,
                 queue_waiting((Queue *)&l->model->tensors) + queue_waiting((Queue *)&l->model->talks));
}

void repository_metrics(Repository *r, Bytes *out)
{
    bytes_add_text(
        out,
        "# HELP hologram_model_ready Whether a version of a model can be asked.\n# TYPE hologram_model_ready gauge\n");
    repository_list(r, write_place, out);
    bytes_add_text(out, "# HELP hologram_queue_length Requests that wait.\n# TYPE hologram_queue_length gauge\n");
    repository_list(r, write_queue, out);
}
