// lang_check_test.c - kernels to programs: what is refused, and what the optimizer makes of what is not.
#include "lang/lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body) "def k(a: DeviceArray[f32], b: DeviceArray[i32], n: i32, x: f32, u: u32):\n" body

static HoloStatus compile(HoloArena *arena, const char *name, const char *text, HoloKernelProgram **out, int *count,
                          HoloError *error)
{
    HoloKernelSource *source = HOLO_NEW(arena, HoloKernelSource, 1);
    HoloAstModule    *module = HOLO_NEW(arena, HoloAstModule, 1);
    *source                  = (HoloKernelSource){name, text, strlen(text)};
    HOLO_TRY(holo_kernel_parse(arena, source, holo_kernel_language_of(name), module, error));
    return holo_kernel_compile(arena, module, 0, out, count, error);
}

static void expect_bad(const char *name, const char *text, const char *message)
{
    HoloArena          arena = {0};
    HoloError          error = {0};
    HoloKernelProgram *kernel;
    int                count;
    if (compile(&arena, name, text, &kernel, &count, &error) != HOLO_BAD_MODEL) fail_msg("accepted: %s", text);
    if (!strstr(error.text, message)) fail_msg("\"%s\" is not in \"%s\"", message, error.text);
    holo_arena_deinit(&arena);
}

// The program's instructions, behind its declarations.
static void expect_code(const char *body, const char *want)
{
    HoloArena          arena = {0};
    HoloError          error = {0};
    HoloKernelProgram *kernel;
    int                count;
    char               text[4096];
    snprintf(text, sizeof text, KERNEL("%s"), body);
    if (compile(&arena, "k.py", text, &kernel, &count, &error)) fail_msg("%s", error.text);
    const char *got = strstr(holo_isa_print(&arena, &kernel[0].program, NULL), "u: u32\n") + 7;
    assert_string_equal(got, want);
    holo_arena_deinit(&arena);
}

static const char *const refused[][2] = {
    {KERNEL("    y = z\n"), "k.py:2:9: there is no variable 'z'"},
    {KERNEL("    y = a\n"), "take an element: a[i]"},
    {KERNEL("    y = x[0]\n"), "'x' is a number and has no elements"},
    {KERNEL("    y = frob(x)\n"), "there is no function 'frob'"},
    {KERNEL("    y = sqr(x)\n"), "did you mean sqrt?"},
    {KERNEL("    y = sqrt\n"), "'sqrt' is a function"},
    {KERNEL("    y = sqrt(n)\n"), "sqrt is a function of floats; this is i32"},
    {KERNEL("    y = sqrt(x, x)\n"), "sqrt takes 1 argument, not 2"},
    {KERNEL("    y = k(n)\n"), "'k' calls itself: there is no recursion"},
    {KERNEL("    y = x + True\n"), "f32 cannot be computed with bool"},
    {KERNEL("    y = n + 1.5\n"), "i32 cannot be a number with a point"},
    {KERNEL("    y = u + -1\n"), "-1 does not fit into u32"},
    {KERNEL("    if n:\n        a[0] = 1\n"), "a condition is true or false; this is i32"},
    {KERNEL("    y = n and n\n"), "compare: x != 0"},
    {KERNEL("    y = x & 1\n"), "bit operations need integers"},
    {KERNEL("    y = n ** n\n"), "an integer can only be raised to a constant"},
    {KERNEL("    y = ~x\n"), "there is no 'inv' for f32"},
    {KERNEL("    y = a[x]\n"), "an index is a whole number; this is f32"},
    {KERNEL("    b[0] = x\n"), "this is f32, but i32 is needed"},
    {KERNEL("    b[0] = get_global_id()\n"), "convert it: i32(x)"},
    {KERNEL("    y = 0\n    y += x\n"), "'y' is i32, and this is f32"},
    {KERNEL("    if n > 0:\n        y = 1\n    b[0] = y\n"), "'y' may have no value here"},
    {KERNEL("    for i in range(n):\n        y = 1\n    b[0] = y\n"), "'y' may have no value here"},
    {KERNEL("    for i in range(4):\n        y = 1\n    b[0] = y\n"), "'y' may have no value here"},
    {KERNEL("    for i in range(x):\n        pass\n"), "a range is made of whole numbers"},
    {KERNEL("    for i in range(0, n, 0):\n        pass\n"), "a step of 0 never ends"},
    {KERNEL("    break\n"), "'break' stands outside of a loop"},
    {KERNEL("    return\n    a[0] = x\n"), "this is never reached"},
    {KERNEL("    return x\n"), "a kernel gives no value back"},
    {KERNEL("    exp(x)\n"), "the result of exp is not used"},
    {KERNEL("    y = barrier()\n"), "a barrier has no value"},
    {KERNEL("    t = local(f32, n)\n"), "the size of an array is fixed"},
    {KERNEL("    t = local(f32, 5000)\n"), "local arrays of f32 have 1 to 1024 elements"},
    {KERNEL("    if n > 0:\n        t = local(f32, 4)\n"), "an array cannot be made here"},
    {KERNEL("    y = local_id(3)\n"), "an axis is 0, 1 or 2"},
    {KERNEL("    t = local(i32, 4)\n    atomic_add(t, 0, 1)\n"), "a local array belongs to one lane"},
    {KERNEL("    atomic_and(a, 0, 1)\n"), "there is no atomic_and of f32"},
    {KERNEL("    a[atomic_add(b, 0, 1)] += 1\n"), "this would be done twice"},
    {KERNEL("    if local_id() > 3:\n        barrier()\n"), "k.py:3:9: program k, instruction"},
    {KERNEL("    for i in range(local_id()):\n        a[0] = block_sum(x)\n"), "k.py:3:16: program k, instruction"},
    {KERNEL("    if local_id() > 3:\n        barrier()\n"), "move it out of the 'if' or the loop"},
    {KERNEL("    a[-1] = 2\n"), "an index begins at 0"},
    {KERNEL("    n = 0 ** 9223372036854775807 + (-1) ** 9223372036854775807 + 2 ** 63\n"),
     "this has no value that fits into 64 bits"},
    {KERNEL("    t = local(widen(T), 8)\n"), "there is no type 'widen'"},
    {"T = types(f32, f16)\ndef k(a: DeviceArray[T]):\n    x: widen(T) = 0\n    a[0] = x + a[1]\n",
     "this is f32, but f16 is needed"},
    {KERNEL("    n = 3000000000\n"), "does not fit into i32"},
    {KERNEL("    parallel_map_unary(a, a, \"frob\", n)\n"), "there is no operation 'frob' here"},
    {"@inline\ndef f(x):\n    return g(x)\n@inline\ndef g(x):\n    return f(x)\n" KERNEL("    y = f(x)\n"),
     "'g' is defined below"},
    {"@inline\ndef f(x):\n    y = x\n" KERNEL("    y = f(x)\n"), "the helper 'f' gives no value"},
    {"@inline\ndef f(x):\n    return x\n", "there are helpers, but no kernel"},
    {KERNEL("    pass\n") KERNEL("    pass\n"), "there is a function 'k' already"},
    {"def j(n: i32):\n    pass\n" KERNEL("    y = j(n)\n"), "'j' is a kernel: kernels are launched, not called"},
    {"@kernel(lanes=n / 2)\ndef k(n: i32):\n    pass\n", "the number of lanes is a whole number"},
    {"@kernel(lanes=a[0])\ndef k(a: DeviceArray[i32]):\n    pass\n", "there is no array 'a'"},
};

static void test_refused(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(refused); i++) expect_bad("k.py", refused[i][0], refused[i][1]);
}

static void test_json_and_c_refused(void **state)
{
    (void)state;
    expect_bad(
        "k.json",
        "{\"version\": \"1.0\", \"kernel\": {\"name\": \"k\", \"params\": [], \"body\": [{\"type\": \"let\", \"name\": "
        "\"y\", \"value\": {\"type\": \"var\", \"name\": \"z\"}}]}}",
        "k.json: .kernel.body[0].value: there is no variable 'z'");
    static const char *const rows[][2] = {
        {"int k() {}", "this cannot stand outside of a function"},
        {"#include <math.h>\n", "the language needs no #include"},
        {"kernel int k() {}", "a kernel gives no value back"},
        {"kernel void k(frob x) {}", "a type is expected here"},
        {"kernel void k(int x) { int *p; }", "there are no pointers here"},
        {"kernel void k(int x) { x = *x; }", "there are no pointers but parameters"},
        {"kernel void k(int x) { goto y; }", "use break, continue and return"},
        {"kernel void k(int x) { do { } while (1); }", "'do' is not in the language"},
        {"kernel void k(int x) { int y = x++; }", "k.c:1:33: this is a statement, not a value"},
        {"kernel void k(global int *a) { int i = 0; a[i++] = 1; }", "k.c:1:46: this is a statement, not a value"},
        {"kernel void k(int x) { y = x; }", "there is no variable 'y'"},
        {"kernel void k(int x) { { int y = 2; } y = x; }", "there is no variable 'y'"},
        {"kernel void k(const int x) { x = 2; }", "'x' is const"},
        {"kernel void k(global const int *a) { a[0] = 2; }", "'a' is const"},
        {"kernel void k(global const int *a) { atomic_add(a, 0, 2); }", "'a' is const"},
        {"kernel void k(int n) { for (int i = 0; i < n; i += i) { } }", "a for counts by a constant"},
        {"kernel void k(long n) { for (long i = n; i > 0; i -= -9223372036854775807 - 1) { } }",
         "this has no value that fits into 64 bits"},
        {"kernel void k(int n) { printf(\"%d\", n); }", "'printf' is not in the language"},
        {"types T(float, half);\nkernel void k(global T *a) { a[0] = (widen(T))a[1]; }", "write widen(x)"},
        {"#define F(x) (x)\nkernel void k(int n) { }", "a macro has no parameters"},
        {"inline int f(float x) { return x; }\nkernel void k(global int *a) { a[0] = f(2.5f); }",
         "'result' is i32, and this is f32"},
        {"kernel void k(int x) { for (;;) { } }", "a for declares its variable"},
        {"kernel void k(int n) { for (int i = 0; i < n; i--) { } }", "a constant towards its end"},
        {"kernel void k(int n) { for (int i = 0; i < n; i++) { n = 2; } }", "changes in its body"},
        {"kernel void k(int n) { for (int i = 0; i < n; i++) { i = 2; } }", "changes in its body"},
        {"kernel void k(int n) { if (n) { } }", "a condition is true or false"},
        {"kernel void k(int n) { int n; int y; int y; }", "this block already has a 'y'"},
        {"kernel void k(int n) { n.x = 2; }", "there are no structures"},
        {"kernel void k(int n) { n = 2 }", "a statement ends with ;"},
        {"kernel void k(int n) { /* ", "this comment does not end"},
        {"kernel void k(int n) { n = 2.5q; }", "the suffixes are f, u, l and ul"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) expect_bad("k.c", rows[i][0], rows[i][1]);
}

// Blow-ups that a small source can ask for end with an error.
static void test_too_large(void **state)
{
    (void)state;
    static char text[1 << 16];
    char       *at = text + sprintf(text, "@inline\ndef h0(x):\n    return x * x + 1.5\n");
    for (int i = 1; i < 30; i++)
        at += sprintf(at, "@inline\ndef h%d(x):\n    return h%d(x) + h%d(x * %d.5)\n", i, i - 1, i - 1, i);
    sprintf(at, KERNEL("    a[0] = h29(x)\n"));
    expect_bad("k.py", text, "the kernel is too large");
}

static void test_folding(void **state)
{
    (void)state;
    expect_code("    b[0] = 7 // 2 * 2 ** 3 - -7 // 2 % 5\n", // 24 - (-4 % 5)
                "    const.i32 r0, 0\n"
                "    const.i32 r1, 23\n"
                "    st.i32 b[r0], r1\n");
    expect_code("    y = x * 2\n    a[0] = x / 4 + 1.0 / 3.0\n", // nobody needs y; a quarter is exact
                "    param.f32 r0, x\n"
                "    const.i32 r1, 0\n"
                "    const.f32 r2, 0.25\n"
                "    const.f32 r3, 0.333333343\n"
                "    fma.f32 r4, r0, r2, r3\n"
                "    st.f32 a[r1], r4\n");
    expect_code("    b[0] = n // 8 + n % 8\n", "    param.i32 r0, n\n"
                                               "    const.i32 r1, 0\n"
                                               "    const.i32 r2, 3\n"
                                               "    shr.i32 r3, r0, r2\n"
                                               "    const.i32 r4, 7\n"
                                               "    and.i32 r5, r0, r4\n"
                                               "    add.i32 r6, r3, r5\n"
                                               "    st.i32 b[r1], r6\n");
}

static void test_common_and_choice(void **state)
{
    (void)state;
    // one load, one product; the if is a choice
    expect_code(
        "    y = a[0] * x\n    z = 0.0\n    if n > 3:\n        z = y\n    else:\n        z = x * a[0] + 1\n    a[1] = z\n",
        "    const.i32 r0, 0\n"
        "    ld.f32 r1, a[r0]\n"
        "    param.i32 r2, n\n"
        "    param.f32 r3, x\n"
        "    mul.f32 r4, r3, r1\n"
        "    const.i32 r5, 3\n"
        "    set.gt.i32 p6, r2, r5\n"
        "    const.f32 r7, 1\n"
        "    add.f32 r8, r4, r7\n"
        "    sel.f32 r9, p6, r4, r8\n"
        "    const.i32 r10, 1\n"
        "    st.f32 a[r10], r9\n");
}

static void test_loops(void **state)
{
    (void)state;
    // x * x does not change in the loop; the sum stays in its register
    expect_code("    y = 0.0\n    for i in range(n):\n        y += a[i] * (x * x)\n    a[0] = y\n",
                "    param.i32 r0, n\n"
                "    param.f32 r1, x\n"
                "    const.f32 r2, 0\n"
                "    const.i32 r3, 0\n"
                "    const.i32 r4, 1\n"
                "    mul.f32 r5, r1, r1\n"
                "    mov.f32 r6, r2\n"
                "    mov.i32 r7, r3\n"
                "    loop\n"
                "        set.ge.i32 p8, r7, r0\n"
                "        breakif p8\n"
                "        ld.f32 r9, a[r7]\n"
                "        fma.f32 r6, r9, r5, r6\n"
                "        add.i32 r7, r7, r4\n"
                "    end\n"
                "    st.f32 a[r3], r6\n");
    // a short range is written out
    expect_code("    y = 0\n    for i in range(4):\n        y += i * n\n    b[0] = y\n", "    param.i32 r0, n\n"
                                                                                         "    const.i32 r1, 0\n"
                                                                                         "    const.i32 r2, 1\n"
                                                                                         "    shl.i32 r3, r0, r2\n"
                                                                                         "    add.i32 r4, r0, r3\n"
                                                                                         "    const.i32 r5, 3\n"
                                                                                         "    mad.i32 r6, r0, r5, r4\n"
                                                                                         "    st.i32 b[r1], r6\n");
}

// What the documentation shows compiles.
static void test_documentation(void **state)
{
    (void)state;
    static char page[1 << 16];
    FILE       *file = fopen("docs/kernel-language.md", "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    int found = 0;
    for (char *at = page, *end; (at = strstr(at, "\n```")); at = end + 4, found++) {
        char       *start = strchr(at + 1, '\n') + 1;
        const char *name  = !strncmp(at + 4, "python", 6) ? "k.py" : !strncmp(at + 4, "c\n", 2) ? "k.c" : NULL;
        end               = strstr(start, "\n```");
        assert_non_null(end);
        *end                     = '\0';
        HoloArena          arena = {0};
        HoloError          error = {0};
        HoloKernelProgram *kernel;
        int                count;
        if (name && compile(&arena, name, start, &kernel, &count, &error)) fail_msg("%s", error.text);
        holo_arena_deinit(&arena);
    }
    assert_true(found >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_json_and_c_refused),
        cmocka_unit_test(test_too_large),         cmocka_unit_test(test_folding),
        cmocka_unit_test(test_common_and_choice), cmocka_unit_test(test_loops),
        cmocka_unit_test(test_documentation),
    };
    return cmocka_run_group_tests_name("lang_check", tests, NULL, NULL);
}
