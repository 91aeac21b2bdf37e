// shared.c - regions of shared memory. See shared.h.
#include "shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REGIONS_MAX = 4096 };

struct Shared {
    pthread_mutex_t lock; // workers read the list, too
    Region         *first;
    int             count;
};

Shared *shared_create(void)
{
    Shared *s = take(sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void shared_destroy(Shared *s)
{
    if (!s) return;
    shared_unregister(s, NULL);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

const Region *shared_first(const Shared *s)
{
    return s->first;
}

const Region *shared_find(const Shared *s, const char *name)
{
    for (const Region *r = s->first; r; r = r->next)
        if (!strcmp(r->name, name)) return r;
    return NULL;
}

int shared_register(Shared *s, const char *name, const char *key, uint64_t offset, uint64_t size, char *why,
                    size_t room)
{
    struct stat info;
    const char *plain = *key == '/' ? key + 1 : key;
    if (!*plain || strchr(plain, '/') || *plain == '.')
        return snprintf(why, room, "'%.100s' is no name of shared memory", key), 400;
    if (shared_find(s, name)) return snprintf(why, room, "there is a region '%.100s' already", name), 400;
    if (s->count == REGIONS_MAX) return snprintf(why, room, "there are too many regions"), 503;
    char *path = take_format("/%s", plain);
    int   fd   = shm_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    free(path);
    if (fd < 0) return snprintf(why, room, "the shared memory '%.100s' cannot be opened: %m", key), 400;
    if (fstat(fd, &info) || offset > (uint64_t)info.st_size || size > (uint64_t)info.st_size - offset) {
        close(fd);
        return snprintf(why, room, "the shared memory '%.100s' is smaller than offset and byte_size say", key), 400;
    }
    Region *r = take(sizeof *r);
    *r        = (Region){s->first, take_text(name), take_text(key), fd, offset, size};
    pthread_mutex_lock(&s->lock);
    s->first = r;
    s->count++;
    pthread_mutex_unlock(&s->lock);
    return 0;
}

void shared_unregister(Shared *s, const char *name)
{
    pthread_mutex_lock(&s->lock);
    for (Region **at = &s->first; *at;) {
        Region *r = *at;
        if (name && strcmp(r->name, name)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        close(r->fd);
        free(r->name);
        free(r->key);
        free(r);
        s->count--;
    }
    pthread_mutex_unlock(&s->lock);
}

// A descriptor of its own of the region, which may be given up meanwhile; -1: `why`. *at becomes the place in it.
static int place(Shared *s, const char *name, uint64_t *at, uint64_t size, char *why, size_t room)
{
    int fd = -1;
    pthread_mutex_lock(&s->lock);
    const Region *r = shared_find(s, name);
    if (!r)
        snprintf(why, room, "there is no region of shared memory '%.100s'", name);
    else if (*at > r->size || size > r->size - *at)
        snprintf(why, room, "the tensor does not fit into the region '%.100s'", name);
    else if ((fd = dup(r->fd)) < 0)
        snprintf(why, room, "there are too many open files");
    if (fd >= 0) *at += r->offset;
    pthread_mutex_unlock(&s->lock);
    return fd;
}

bool shared_read(Shared *s, const char *name, uint64_t offset, void *data, uint64_t size, char *why, size_t room)
{
    int     fd = place(s, name, &offset, size, why, room);
    ssize_t n  = 1;
    if (fd < 0) return false;
    for (uint64_t at = 0; at < size && n > 0; at += (uint64_t)n)
        n = pread(fd, (char *)data + at, size - at, (off_t)(offset + at));
    close(fd);
    if (n <= 0) snprintf(why, room, "the region '%.100s' cannot be read", name);
    return n > 0;
}

bool shared_write(Shared *s, const char *name, uint64_t offset, const void *data, uint64_t size, char *why, size_t room)
{
    int     fd = place(s, name, &offset, size, why, room);
    ssize_t n  = 1;
    if (fd < 0) return false;
    for (uint64_t at = 0; at < size && n > 0; at += (uint64_t)n)
        n = pwrite(fd, (const char *)data + at, size - at, (off_t)(offset + at));
    close(fd);
    if (n <= 0) snprintf(why, room, "the region '%.100s' cannot be written", name);
    return n > 0;
}
