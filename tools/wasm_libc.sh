#!/bin/sh
# wasm_libc.sh BUILD - the few functions of libc that the runtime calls, for WebAssembly with 64-bit memory, as BUILD/libc64.a, from Debian's sources
# of wasi-libc: Debian's own library is for 32 bits alone. CC says how to compile.
#
# A long double is a double here, so that no arithmetic of 128 bits is needed.
build=$(cd "$1" && pwd) && cd "$(dirname "$0")/.." || exit 1
sh tools/sources.sh "$build/libc" wasi-libc || {
    echo "apt-get could not fetch the sources of wasi-libc (apt-get source)" >&2
    exit 1
}
source=$(echo "$build"/libc/wasi-libc-*) own=$build/libc/own objects=$build/libc/objects
musl=$source/libc-top-half/musl
rm -rf "$own" "$objects" && mkdir -p "$own" "$objects" || exit 1

# A header that is for 32 bits: of it the numbers of errors are needed alone.
mkdir -p "$build/root/usr/include/wasi" && sed '/_Static_assert/d; /#error/d' /usr/include/wasm32-wasi/wasi/api.h > "$build/root/usr/include/wasi/api.h" || exit 1

# Copies with doubles.
for file in src/internal/floatscan.c src/internal/floatscan.h src/stdio/vfprintf.c src/stdlib/strtod.c; do
    sed 's/long double/double/g; s/LDBL_/DBL_/g; s/\bfrexpl\b/frexp/g; s/\bscalbnl\b/scalbn/g; s/\bcopysignl\b/copysign/g; s/\bfmodl\b/fmod/g; s/\bfabsl\b/fabs/g; s/\bstrtold\b/strtold_none/g;
         s/\([0-9]\)L\b/\1/g' "$musl/$file" > "$own/$(basename "$file")" || exit 1
done
{ cat "$musl/arch/wasm32/atomic_arch.h" && printf '#define a_cas_p(p, t, s) __sync_val_compare_and_swap((void *volatile *)(p), (void *)(t), (void *)(s))\n'; } > "$own/atomic_arch.h"
cat > "$own/rest.c" << 'END'
#include <stddef.h>
#include <stdint.h>
int errno;
const int __ENOMEM = 48, __EINVAL = 28;
extern char __heap_base;
/* Memory grows by pages of 64 KiB and never shrinks. */
void *sbrk(intptr_t more)
{
    size_t end = __builtin_wasm_memory_size(0) << 16;
    if (!more) return (void *)end;
    if (more < 0 || more & 0xffff) __builtin_trap();
    return __builtin_wasm_memory_grow(0, (size_t)more >> 16) == SIZE_MAX ? (void *)SIZE_MAX : (void *)end;
}
const char __utc[] = "UTC";
void        __stdio_exit_needed(void) {}
double sqrt(double x)
{
    return __builtin_sqrt(x);
}
int  fegetround(void) { return 0; }
int  fesetround(int way) { return way; }
long sysconf(int what) { return (void)what, 65536; } /* the size of a page */
int  wctomb(char *to, int letter) { return (void)to, (void)letter, -1; } /* nothing prints wide letters */
char *strerror(int number)
{
    (void)number;
    return "an error";
}
int      fflush(void *file) { return (void)file, 0; }
size_t   fread(void *to, size_t size, size_t count, void *file) { return (void)to, (void)size, (void)count, (void)file, 0; }
typedef __int128          Wide;
typedef unsigned __int128 Unsigned;
typedef union { Unsigned all; uint64_t half[2]; } Halves;
Wide __multi3(Wide x, Wide y)
{
    Halves a = {(Unsigned)x}, b = {(Unsigned)y}, c;
    uint64_t a0 = (uint32_t)a.half[0], a1 = a.half[0] >> 32, b0 = (uint32_t)b.half[0], b1 = b.half[0] >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    c.half[0] = other << 32 | (uint32_t)low;
    c.half[1] = a1 * b1 + (middle >> 32) + (other >> 32) + a.half[0] * b.half[1] + a.half[1] * b.half[0];
    return (Wide)c.all;
}
Wide __ashlti3(Wide x, int by)
{
    Halves a = {(Unsigned)x}, c = {0};
    c.half[1] = by >= 64 ? a.half[0] << (by - 64) : by ? a.half[1] << by | a.half[0] >> (64 - by) : a.half[1];
    c.half[0] = by >= 64 ? 0 : a.half[0] << by;
    return (Wide)c.all;
}
Wide __lshrti3(Wide x, int by)
{
    Halves a = {(Unsigned)x}, c = {0};
    c.half[0] = by >= 64 ? a.half[1] >> (by - 64) : by ? a.half[0] >> by | a.half[1] << (64 - by) : a.half[0];
    c.half[1] = by >= 64 ? 0 : a.half[1] >> by;
    return (Wide)c.all;
}
Unsigned __udivti3(Unsigned x, Unsigned y)
{
    Halves a = {x}, q = {0}, r = {0}, d = {y};
    for (int i = 127; i >= 0; i--) {
        r.half[1] = r.half[1] << 1 | r.half[0] >> 63;
        r.half[0] = r.half[0] << 1 | (a.half[i / 64] >> i % 64 & 1);
        if (r.half[1] > d.half[1] || (r.half[1] == d.half[1] && r.half[0] >= d.half[0])) {
            uint64_t borrow = r.half[0] < d.half[0];
            r.half[0] -= d.half[0];
            r.half[1] -= d.half[1] + borrow;
            q.half[i / 64] |= (uint64_t)1 << i % 64;
        }
    }
    return q.all;
}
Wide __divti3(Wide x, Wide y)
{
    Unsigned q = __udivti3(x < 0 ? 0 - (Unsigned)x : (Unsigned)x, y < 0 ? 0 - (Unsigned)y : (Unsigned)y);
    return (x < 0) != (y < 0) ? (Wide)(0 - q) : (Wide)q;
}
END

flags="-Os -w -ffunction-sections -fno-builtin -DBULK_MEMORY_THRESHOLD=32 -isystem $build/root/usr/include -I$own -I$source/libc-top-half/headers/private -I$musl/src/include -I$musl/src/internal -I$musl/arch/wasm32 -I$musl/arch/generic"
for file in "$own"/*.c "$source"/dlmalloc/src/dlmalloc.c \
    $(cd "$musl/src" && printf "$musl/src/%s " string/mem*.c string/str[cnlrs][!ei]*.c string/strlen.c string/strstr.c string/strspn.c string/strcspn.c string/stpcpy.c string/strchrnul.c \
        stdlib/atoi.c stdlib/bsearch.c stdlib/qsort*.c stdlib/strtol.c internal/intscan.c internal/shgetc.c stdio/snprintf.c stdio/vsnprintf.c stdio/__towrite.c stdio/__toread.c stdio/__uflow.c stdio/fwrite.c \
        ctype/isalnum.c ctype/isdigit.c ctype/isspace.c ctype/tolower.c ctype/isupper.c time/gmtime_r.c time/__secs_to_tm.c) \
    $(for name in cos sin exp log log10 pow fmod fmodf frexp ldexp scalbn nextafter round fma fmaf fmax fmaxf fmin floor copysign fabs \
        __cos __sin __rem_pio2 __rem_pio2_large exp_data log_data pow_data __math_divzero __math_invalid __math_oflow __math_uflow __math_xflow __math_check_oflow __math_check_uflow; do
        echo "$musl/src/math/$name.c"; done); do
    [ -f "$file" ] || continue
    # shellcheck disable=SC2086
    $CC $flags -c "$file" -o "$objects/$(basename "$file" .c).o" || { echo "wasm_libc.sh: $file cannot be compiled" >&2; failed=1; }
done
[ -z "$failed" ] || exit 1
rm -f "$build/libc64.a" && llvm-ar-19 rcs "$build/libc64.a" "$objects"/*.o
