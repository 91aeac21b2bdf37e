// sanitizer.c - what the sanitizers are told by every test program: memory that there is none of gives NULL, as it does
// without them, so that the tests see what the library makes of it.

const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__tsan_default_options(void) __attribute__((visibility("default")));

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}
