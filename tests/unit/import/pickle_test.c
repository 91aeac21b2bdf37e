// pickle_test.c - the reader of pickles: what all protocols give, and what is refused.
#include "import/wire/pickle.h"
#include "support/models.h"

#include <string.h>

static const HoloPickleName names[] = {{"torch.Size", HOLO_PICKLE_TUPLE, 0},
                                       {"torch.float32", HOLO_PICKLE_OBJECT, 7},
                                       {"__torch__.*", HOLO_PICKLE_OBJECT, 0},
                                       {0}};

// The bytes are a text with its 0 left out.
#define READ(arena, bytes, out, error) read_bytes((arena), (bytes), sizeof(bytes) - 1, (out), (error))

static HoloStatus read_bytes(HoloArena *arena, const char *bytes, size_t size, const HoloPickle **out, HoloError *error)
{
    char *kept = holo_arena_take(arena, size); // with a red zone behind it where that is watched
    memcpy(kept, bytes, size);
    HoloPickleInput input = {.file = "x.pkl", .bytes = kept, .size = size, .names = names};
    size_t          used;
    HoloStatus      status = holo_pickle_read(arena, &input, out, &used, error);
    if (!status) assert_int_equal(used, size);
    return status;
}

// {'a': [1, -2, 300, 70000, True, None], 'b': (0.5, 'x\n\u00e9', {3: 4}), 'c': 2**40} as Python writes it, in
// all protocols.
#define TEXT(bytes)              \
    {                            \
        bytes, sizeof(bytes) - 1 \
    }
static const HoloString texts[] = {
    TEXT("(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naI01\naNasVb\np3\n(F0.5\nVx\\u000a\351\np4\n(dp5\nI3\n"
         "I4\nstp6\nsVc\np7\nL1099511627776L\ns."),
    TEXT("}q\000(X\001\000\000\000aq\001]q\002(K\001J\376\377\377\377M,\001Jp\021\001\000I01\nNeX\001\000\000"
         "\000bq\003(G?\340\000\000\000\000\000\000X\004\000\000\000x\n\303\251q\004}q\005K\003K\004stq\006X"
         "\001\000\000\000cq\007L1099511627776L\nu."),
    TEXT("\200\002}q\000(X\001\000\000\000aq\001]q\002(K\001J\376\377\377\377M,\001Jp\021\001\000\210NeX\001"
         "\000\000\000bq\003G?\340\000\000\000\000\000\000X\004\000\000\000x\n\303\251q\004}q\005K\003K\004s"
         "\207q\006X\001\000\000\000cq\007\212\006\000\000\000\000\000\001u."),
    TEXT("\200\003}q\000(X\001\000\000\000aq\001]q\002(K\001J\376\377\377\377M,\001Jp\021\001\000\210NeX\001"
         "\000\000\000bq\003G?\340\000\000\000\000\000\000X\004\000\000\000x\n\303\251q\004}q\005K\003K\004s"
         "\207q\006X\001\000\000\000cq\007\212\006\000\000\000\000\000\001u."),
    TEXT("\200\004\225G\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001J\376\377\377\377M,\001Jp\021"
         "\001\000\210Ne\214\001b\224G?\340\000\000\000\000\000\000\214\004x\n\303\251\224}\224K\003K\004s\207"
         "\224\214\001c\224\212\006\000\000\000\000\000\001u."),
    TEXT("\200\005\225G\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001J\376\377\377\377M,\001Jp\021"
         "\001\000\210Ne\214\001b\224G?\340\000\000\000\000\000\000\214\004x\n\303\251\224}\224K\003K\004s\207"
         "\224\214\001c\224\212\006\000\000\000\000\000\001u."),
};

static void test_protocols(void **state)
{
    (void)state;
    static const int64_t ints[] = {1, -2, 300, 70000, 1};
    for (int i = 0; i < HOLO_COUNT(texts); i++) {
        HoloArena         arena = {0};
        const HoloPickle *root, *a, *b;
        EXPECT_OK(read_bytes(&arena, texts[i].data, texts[i].size, &root, &error));
        a = holo_pickle_find(root, "a");
        b = holo_pickle_find(root, "b");
        assert_true(a && b && a->kind == HOLO_PICKLE_LIST && b->kind == HOLO_PICKLE_TUPLE);
        assert_int_equal(a->count, 6);
        for (int k = 0; k < 5; k++) assert_int_equal(a->item[k]->integer, ints[k]);
        assert_int_equal(a->item[4]->kind, HOLO_PICKLE_BOOL);
        assert_int_equal(a->item[5]->kind, HOLO_PICKLE_NONE);
        assert_true(b->item[0]->kind == HOLO_PICKLE_FLOAT && b->item[0]->real > 0.49 && b->item[0]->real < 0.51);
        assert_true(holo_pickle_is_text(b->item[1], "x\n\xc3\xa9"));
        assert_int_equal(b->item[2]->item[1]->integer, 4);
        assert_int_equal(holo_pickle_find(root, "c")->integer, (int64_t)1 << 40);
        assert_null(holo_pickle_find(root, "d"));
        assert_int_equal(root->height, 4);
        holo_arena_deinit(&arena);
    }
}

static void test_calls(void **state)
{
    (void)state;
    HoloArena         arena = {0};
    const HoloPickle *v;
    EXPECT_OK(READ(&arena, "ccollections\nOrderedDict\n((lp0\n(lp1\nS'k'\naI5\naatR.", &v, &error)); // of pairs
    assert_int_equal(v->kind, HOLO_PICKLE_DICT);
    assert_int_equal(holo_pickle_find(v, "k")->integer, 5);
    EXPECT_OK(READ(&arena, "\x80\2ccollections\nOrderedDict\n)RU\1kK\6s}U\1mNsb.", &v, &error)); // with attributes
    assert_int_equal(holo_pickle_find(v, "k")->integer, 6);
    assert_non_null(holo_pickle_find(v->state, "m"));
    EXPECT_OK(READ(&arena, "ctorch\nSize\n((I2\nI3\nttR.", &v, &error));
    assert_true(v->kind == HOLO_PICKLE_TUPLE && v->count == 2 && v->item[1]->integer == 3);
    EXPECT_OK(READ(&arena, "ctorch\nfloat32\n.", &v, &error));
    assert_true(v->kind == HOLO_PICKLE_NAME && v->row->what == 7);
    EXPECT_OK(READ(&arena, "\x80\2c__torch__.a\nNet\n)\x81}(U\1wK\1ub.", &v, &error)); // a class that a pattern lists
    assert_int_equal(holo_pickle_call(v, "__torch__.a.Net")->count, 0);
    assert_null(holo_pickle_call(v, "__torch__.a.Other"));
    assert_int_equal(holo_pickle_find(v->state, "w")->integer, 1);
    EXPECT_OK(READ(&arena, "(c__builtin__\nset\n(lI1\naI2\nao.", &v, &error)); // as Python 2 named it
    assert_true(v->kind == HOLO_PICKLE_SET && v->count == 2);
    EXPECT_OK(READ(&arena, "\x80\2U\3idxQ.", &v, &error));
    assert_true(v->kind == HOLO_PICKLE_PERSISTENT && holo_pickle_is_text(v->item[0], "idx"));
    EXPECT_OK(READ(&arena, "\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", &v, &error));
    assert_true(v->kind == HOLO_PICKLE_LONG && v->text.size == 10);
    holo_arena_deinit(&arena);
}

static void test_refused(void **state)
{
    (void)state;
#define ROW(bytes, status, words)               \
    {                                           \
        bytes, sizeof(bytes) - 1, status, words \
    }
    static const struct {
        const char *bytes;
        size_t      size;
        HoloStatus  status;
        const char *words;
    } rows[] = {
        ROW("cos\nsystem\n(S'x'\ntR.", HOLO_UNSUPPORTED, "it would run code: 'os.system'"),
        ROW("\x80\4\x8c\2os\x8c\6system\x93.", HOLO_UNSUPPORTED, "it would run code: 'os.system'"),
        ROW("(ios\nsystem\n.", HOLO_UNSUPPORTED, "it would run code: 'os.system'"),
        ROW("cbuiltins\neval\n.", HOLO_UNSUPPORTED, "'builtins.eval'"),
        ROW("ctorch.storage\n_load_from_bytes\n.", HOLO_UNSUPPORTED, "'torch.storage._load_from_bytes'"),
        ROW("ctorch\nSizes\n.", HOLO_UNSUPPORTED, "'torch.Sizes'"),
        ROW("", HOLO_BAD_MODEL, "cut off"),
        ROW("I1\n", HOLO_BAD_MODEL, "cut off"),
        ROW("\x80", HOLO_BAD_MODEL, "cut off"),
        ROW("X\377\377\377\377a.", HOLO_BAD_MODEL, "cut off"),
        ROW("\x8d\377\377\377\377\377\377\377\377a.", HOLO_BAD_MODEL, "cut off"),
        ROW("\x80\6N.", HOLO_UNSUPPORTED, "protocol 6"),
        ROW("\377", HOLO_BAD_MODEL, "byte 0: the pickle is broken: there is no such instruction"),
        ROW(".", HOLO_BAD_MODEL, "does not end with one value"),
        ROW("NN.", HOLO_BAD_MODEL, "does not end with one value"),
        ROW("0", HOLO_BAD_MODEL, "there is none"),
        ROW("t.", HOLO_BAD_MODEL, "no"),
        ROW("N(R.", HOLO_BAD_MODEL, "more values than there are"),
        ROW("NNR.", HOLO_BAD_MODEL, "not a name"),
        ROW("ctorch\nSize\nNR.", HOLO_BAD_MODEL, "not a tuple"),
        ROW("]K\1K\2s.", HOLO_BAD_MODEL, "no such container"),
        ROW("}(K\1u.", HOLO_BAD_MODEL, "a key without a value"),
        ROW("h\1.", HOLO_BAD_MODEL, "not remembered"),
        ROW("Nr\377\377\377\177.", HOLO_BAD_MODEL, "impossible place"),
        ROW("Np-1\n.", HOLO_BAD_MODEL, "impossible place"),
        ROW("I99999999999999999999\n.", HOLO_BAD_MODEL, "more than 64 bits"),
        ROW("Ix\n.", HOLO_BAD_MODEL, "digits"),
        ROW("Fx\n.", HOLO_BAD_MODEL, "not a number"),
        ROW("Sx\n.", HOLO_BAD_MODEL, "no quotes"),
        ROW("S'\\x4'\n.", HOLO_BAD_MODEL, "escape"),
        ROW("V\\u12\n.", HOLO_BAD_MODEL, "escape"),
        ROW("]q\0h\0a.", HOLO_BAD_MODEL, "a value contains itself"),
        ROW("\x80\5\x97.", HOLO_UNSUPPORTED, "a buffer beside it"),
        ROW("\x82\1.", HOLO_UNSUPPORTED, "an extension"),
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloArena         arena = {0};
        const HoloPickle *v;
        EXPECT_FAIL(read_bytes(&arena, rows[i].bytes, rows[i].size, &v, &error), rows[i].status, rows[i].words);
        holo_arena_deinit(&arena);
    }
}

// Few bytes cannot make a deep tree, or copy a long list many times.
static void test_limits(void **state)
{
    (void)state;
    static char       bytes[60000];
    HoloArena         arena = {0};
    const HoloPickle *v;
    for (int depth = 250; depth <= 300; depth += 50) {
        bytes[0] = 'N';
        memset(bytes + 1, '\x85', (size_t)depth);
        bytes[depth + 1] = '.';
        if (depth < 256)
            EXPECT_OK(read_bytes(&arena, bytes, (size_t)depth + 2, &v, &error));
        else
            EXPECT_FAIL(read_bytes(&arena, bytes, (size_t)depth + 2, &v, &error), HOLO_BAD_MODEL, "nested too deep");
    }
    size_t size   = 0;
    bytes[size++] = '(';
    for (int i = 0; i < 20000; i++) bytes[size++] = 'N';
    memcpy(bytes + size, "tq\0cbuiltins\nset\nq\1", 19);
    size += 19;
    while (size + 10 < sizeof bytes) {
        memcpy(bytes + size, "h\1h\0\x85R0", 7);
        size += 7;
    }
    memcpy(bytes + size, "0.", 2);
    EXPECT_FAIL(read_bytes(&arena, bytes, size + 2, &v, &error), HOLO_BAD_MODEL, "copies its lists too often");
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("pickle", tests, NULL, NULL);
}
