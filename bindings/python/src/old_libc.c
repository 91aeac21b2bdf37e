// old_libc.c - has the extension ask for functions of libc by their oldest versions, so that one file runs with glibc 2.28, too.
//
// glibc moved functions of threads and of loading into libc with 2.34, gave exp, log, log2 and pow other versions with 2.29, and made stat a function
// with 2.33. The linker has calls of these go here (-Wl,--wrap, see rules.mk).
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/stat.h>

#if defined __x86_64__
#define OLD     "GLIBC_2.2.5"
#define OLD_SET "GLIBC_2.3.4"
#define STAT    1
#else
#define OLD     "GLIBC_2.17"
#define OLD_SET "GLIBC_2.17"
#define STAT    0
#endif

#define OLD_VERSION(name, version) __asm__(".symver old_" #name ", " #name "@" version)

#define PASS(result, name, version, params, args) \
    result old_##name params;                     \
    OLD_VERSION(name, version);                   \
    result __wrap_##name params;                  \
    result __wrap_##name params                   \
    {                                             \
        return old_##name args;                   \
    }

PASS(int, pthread_create, OLD, (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *p), (t, a, f, p))
PASS(int, pthread_join, OLD, (pthread_t t, void **p), (t, p))
PASS(int, pthread_kill, OLD, (pthread_t t, int s), (t, s))
PASS(int, pthread_once, OLD, (pthread_once_t * o, void (*f)(void)), (o, f))
PASS(int, pthread_mutex_trylock, OLD, (pthread_mutex_t * m), (m))
PASS(int, pthread_setaffinity_np, OLD_SET, (pthread_t t, size_t n, const cpu_set_t *s), (t, n, s))
PASS(void *, dlopen, OLD, (const char *path, int how), (path, how))
PASS(void *, dlsym, OLD, (void *library, const char *name), (library, name))
PASS(int, dlclose, OLD, (void *library), (library))
PASS(double, exp, OLD, (double x), (x))
PASS(double, log, OLD, (double x), (x))
PASS(double, log2, OLD, (double x), (x))
PASS(double, pow, OLD, (double x, double y), (x, y))

int __xstat(int version, const char *path, struct stat *out);
int __fxstat(int version, int file, struct stat *out);
int __wrap_stat(const char *path, struct stat *out);
int __wrap_fstat(int file, struct stat *out);

int __wrap_stat(const char *path, struct stat *out)
{
    return __xstat(STAT, path, out);
}

int __wrap_fstat(int file, struct stat *out)
{
    return __fxstat(STAT, file, out);
}
