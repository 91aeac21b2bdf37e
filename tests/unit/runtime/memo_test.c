// memo_test.c - inputs that were seen before: answers from the archive and from what a session has learnt, always those
// of these very inputs; bounds; files that lie.
#include "unit/runtime/memo_case.h"

// ---- patterns and archives with them

// ---- the archive's own

static void test_hit_and_miss(void **state)
{
    (void)state;
    Run        r = begin_file(memorized(model_conv(), "conv.holo", 3, 1));
    HoloTensor y;
    assert_int_equal(holo_model_memo_count(r.model), 3);
    expect_counts(&r, 0, 0);
    for (uint64_t i = 0; i < 3; i++) {
        inputs_set(&r, 1 + 10 * i, 1);
        run_and_compare(&r, model_conv());
        EXPECT_OK(holo_session_output(r.session, 0, &y, &error));
        assert_true(is_inside(r.model, y.data)); // borrowed from the map
        expect_counts(&r, i + 1, 0);
    }
    inputs_set(&r, 5, 1);
    run_and_compare(&r, model_conv());
    EXPECT_OK(holo_session_output(r.session, 0, &y, &error));
    assert_false(is_inside(r.model, y.data));
    expect_counts(&r, 3, 1);
    // One bit of one element: other inputs.
    inputs_set(&r, 1, 1);
    ((uint32_t *)r.inputs[0].data)[431] ^= 1;
    run_and_compare(&r, model_conv());
    expect_counts(&r, 3, 2);
    ((uint32_t *)r.inputs[0].data)[431] ^= 1;
    run_and_compare(&r, model_conv());
    expect_counts(&r, 4, 2);
    end(&r);
}

static void test_several_inputs_and_open_sizes(void **state)
{
    (void)state;
    Run r = begin_file(memorized(model_dynamic(), "dynamic.holo", 2, 3)); // N is 3, then 4
    inputs_set(&r, 1, 3);
    run_and_compare(&r, model_dynamic());
    inputs_set(&r, 11, 4);
    run_and_compare(&r, model_dynamic());
    expect_counts(&r, 2, 0);
    // The same inputs the other way around, the same bytes in other sizes, and sizes that do not agree.
    inputs_set(&r, 1, 3);
    HoloTensor x = r.inputs[0];
    r.inputs[0]  = r.inputs[1];
    r.inputs[1]  = x;
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(r.session, i, &r.inputs[i], &error));
    run_and_compare(&r, model_dynamic());
    inputs_set(&r, 11, 4);
    r.inputs[0].dim[0] = r.inputs[1].dim[0] = 3;
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_set_input(r.session, i, &r.inputs[i], &error));
    run_and_compare(&r, model_dynamic());
    r.inputs[0].dim[0] = 4;
    EXPECT_OK(holo_session_set_input(r.session, 0, &r.inputs[0], &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_INPUT, "should be 4");
    expect_counts(&r, 2, 3);
    end(&r);
    // Sizes that depend on data are those of the entry.
    r = begin_file(memorized(model_data(), "data.holo", 3, 1));
    for (uint64_t i = 0; i < 3; i++) {
        inputs_set(&r, 1 + 10 * i, 1);
        run_and_compare(&r, model_data());
    }
    expect_counts(&r, 3, 0);
    end(&r);
}

static void test_outputs_of_the_caller(void **state)
{
    (void)state;
    Run   r = begin_file(memorized(model_conv(), "conv.holo", 1, 1));
    float mine[11], want[10];
    inputs_set(&r, 1, 1);
    run_and_compare(&r, model_conv());
    HoloTensor y;
    EXPECT_OK(holo_session_output(r.session, 0, &y, &error));
    memcpy(want, y.data, sizeof want);
    EXPECT_OK(holo_session_set_output(r.session, 0, mine + 1, 10 * sizeof *mine, &error));
    run_and_compare(&r, model_conv());
    EXPECT_OK(holo_session_output(r.session, 0, &y, &error));
    assert_ptr_equal(y.data, mine + 1);
    assert_memory_equal(mine + 1, want, sizeof want);
    EXPECT_OK(holo_session_set_output(r.session, 0, mine, 9 * sizeof *mine, &error));
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_BAD_ARGUMENT, "needs 40 bytes; the memory given has 36");
    EXPECT_FAIL(holo_session_output(r.session, 0, &y, &error), HOLO_BAD_ARGUMENT, "not run");
    EXPECT_OK(holo_session_set_output(r.session, 0, NULL, 0, &error));
    run_and_compare(&r, model_conv());
    expect_counts(&r, 4, 0);
    end(&r);
}

// A cancel that came before a hit does not reach the run behind it.
static void test_cancel_and_profile(void **state)
{
    (void)state;
    Run         r    = begin_file(memorized(model_tiny(), "tiny.holo", 1, 1));
    const char *path = temp_path("profile.json");
    inputs_set(&r, 1, 1);
    holo_session_profile(r.session, true);
    holo_session_cancel(r.session);
    EXPECT_OK(holo_session_run(r.session, &error));
    inputs_set(&r, 2, 1);
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_profile_write(r.session, path, &error));
    json_t *json = json_load_file(path, 0, NULL), *events = json_object_get(json, "traceEvents");
    int     hits = -1, misses = -1;
    assert_true(json_array_size(events) >= 3);
    assert_int_equal(json_unpack(json, "{s:{s:i, s:i}}", "otherData", "memo_hits", &hits, "memo_misses", &misses), 0);
    assert_int_equal(hits, 1);
    assert_int_equal(misses, 1);
    for (size_t i = 0; i < 3; i++) {
        const char *op = NULL, *kernel = NULL;
        assert_int_equal(json_unpack(json_array_get(events, i), "{s:{s:s, s:s}}", "args", "op", &op, "kernel", &kernel),
                         0);
        assert_int_equal(!strcmp(op, "memo"), i < 2);
        if (i < 2) assert_string_equal(kernel, i ? "miss" : "hit");
    }
    json_decref(json);
    end(&r);
}

// The same patterns give the same bytes, whatever the number of threads; without any, there is no section for them.
static void test_the_same_bytes(void **state)
{
    (void)state;
    size_t   size, other_size;
    uint8_t *bytes = file_read(memorized(model_conv(), "same.holo", 2, 1), &size);
    uint8_t *other = file_read(memorized(model_conv(), "same.holo", 2, 1), &other_size);
    expect_same_bytes(other, other_size, bytes, size);
    free(other);
    // Readers that do not know these sections check them as any other.
    for (uint32_t id = HOLO_SECTION_MEMO_SLOTS; id <= HOLO_SECTION_MEMO_DATA; id++) {
        const HoloSectionRecord *s    = section_find(bytes, id);
        HoloHash                 hash = holo_hash(bytes + s->offset, s->size);
        assert_int_equal(s->offset % HOLO_SECTION_ALIGN, 0);
        assert_memory_equal(hash.word, s->hash, sizeof s->hash);
    }
    other                          = file_read(archived(model_conv(), HOLO_FUSED, 1), &other_size);
    const HoloHeader        *h     = (const void *)other;
    const HoloSectionRecord *table = (const void *)(other + h->header_size);
    for (uint32_t i = 0; i < h->section_count; i++)
        assert_false(table[i].id >= HOLO_SECTION_MEMO_SLOTS && table[i].id <= HOLO_SECTION_MEMO_DATA);
    free(other);
    free(bytes);
}

static void test_patterns_that_do_not_fit(void **state)
{
    (void)state;
    HoloModel    *model = compiled(model_tiny(), HOLO_FUSED), *other = compiled(model_conv(), HOLO_FUSED);
    HoloCompiler *compiler;
    const char   *out = temp_path("none.holo"), *empty = temp_path("empty");
    mkdir(empty, 0777);
    const struct {
        const char *path, *words;
        HoloStatus  status;
    } rows[] = {
        {pattern(other, "other", 1, 1), "input x should be f32[2,3]", HOLO_BAD_INPUT},
        {empty, "has no pattern", HOLO_BAD_INPUT},
        {temp_path("no such file.npz"), "no such file", HOLO_NO_FILE},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        EXPECT_OK(holo_compiler_create(&compiler));
        EXPECT_OK(holo_compiler_add_patterns(compiler, rows[i].path, &error));
        EXPECT_FAIL(holo_compile_file(compiler, model_tiny(), out, NULL, &error), rows[i].status, rows[i].words);
        assert_int_not_equal(access(out, F_OK), 0);
        holo_compiler_destroy(compiler);
    }
    holo_model_close(other);
    holo_model_close(model);
}

// ---- models that can have none

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        int         dtype;
        const char *op, *attributes, *words;
    } rows[] = {
        {HOLO_STRING, "Identity", "", "input x is not a tensor of numbers"},
        {HOLO_F32, "RandomNormalLike", "", "RandomNormalLike, which is random"},
        {HOLO_F32, "SplitToSequence", "keepdims=1", "output y is not a tensor of numbers"},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        OnnxModel   m    = {0};
        const char *path = temp_path("refused.onnx");
        onnx_input(&m.graph, "x", rows[i].dtype, "4");
        if (i < 2) onnx_output(&m.graph, "y", rows[i].dtype, "4");
        onnx_node(&m.graph, rows[i].op, "x", i < 2 ? "y" : "s", rows[i].attributes);
        if (i == 2) {
            onnx_node(&m.graph, "SequenceInsert", "s,x", "y", "");
            Pb type = {0}, sequence = {0}, element = {0}, tensor = {0}, value = {0};
            pb_int(&tensor, 1, HOLO_F32);
            pb_message(&element, 1, &tensor);
            pb_message(&sequence, 1, &element);
            pb_message(&type, 4, &sequence);
            pb_text(&value, 1, "y");
            pb_message(&value, 2, &type);
            pb_message(&m.graph.message, 12, &value);
        }
        onnx_save(&m, path);
        Run r = begin(compiled(path, HOLO_FUSED));
        EXPECT_FAIL(holo_session_set_memo(r.session, 1 << 20, &error), HOLO_UNSUPPORTED, rows[i].words);
        EXPECT_OK(holo_session_set_memo(r.session, 0, &error));
        end(&r);
    }
    Run r = begin(compiled(model_tiny(), HOLO_FUSED));
    EXPECT_FAIL(holo_session_set_memo(r.session, 1023, &error), HOLO_BAD_ARGUMENT, "1024");
    end(&r);
}

// ---- learning

static void test_a_session_learns(void **state)
{
    (void)state;
    Run r = begin(compiled(model_conv(), HOLO_FUSED));
    assert_null(r.session->memo);
    assert_int_equal(holo_model_memo_count(r.model), 0);
    size_t before = holo_session_memory(r.session);
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 20, &error));
    for (int round = 0; round < 3; round++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            inputs_set(&r, seed, 1);
            run_and_compare(&r, model_conv());
        }
    expect_counts(&r, 8, 4);
    assert_true(holo_session_memory(r.session) > before + 4 * 3 * 12 * 12 * sizeof(float));
    // Off: what it gave last is gone, and nothing is hashed any more.
    HoloTensor y;
    EXPECT_OK(holo_session_set_memo(r.session, 0, &error));
    EXPECT_FAIL(holo_session_output(r.session, 0, &y, &error), HOLO_BAD_ARGUMENT, "not run");
    assert_null(r.session->memo);
    assert_int_equal(holo_session_memory(r.session), before);
    run_and_compare(&r, model_conv());
    expect_counts(&r, 0, 0);
    end(&r);
}

// What does not fit is computed as before; a failing run is not learnt.
static void test_what_is_not_learnt(void **state)
{
    (void)state;
    Run r = begin(compiled(model_conv(), HOLO_FUSED));
    EXPECT_OK(holo_session_set_memo(r.session, 1024, &error)); // an input has 1728 bytes
    inputs_set(&r, 1, 1);
    for (int i = 0; i < 3; i++) run_and_compare(&r, model_conv());
    expect_counts(&r, 0, 3);
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 20, &error));
    holo_session_cancel(r.session);
    EXPECT_FAIL(holo_session_run(r.session, &error), HOLO_CANCELLED, "");
    run_and_compare(&r, model_conv());
    run_and_compare(&r, model_conv());
    expect_counts(&r, 1, 5);
    end(&r);
}

// Three fit; the one that was not used for longest goes. At no time is more held than the limit.
static void test_the_oldest_goes_first(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        bool     is_hit;
    } rows[]      = {{1, false}, {2, false}, {3, false}, {1, true},  {2, true}, {4, false}, // 3 goes
                     {1, true},  {2, true},  {4, true},  {3, false},                        // 1 goes
                     {2, true},  {4, true},  {3, true},  {1, false},                        // 2 goes
                     {4, true},  {3, true},  {1, true},  {2, false}};
    Run      r    = begin(compiled(model_mlp(), HOLO_FUSED));
    uint64_t hits = 0, misses = 0;
    size_t   one, limit;
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 14, &error));
    one = r.session->memo->used;
    inputs_set(&r, 1, 1);
    EXPECT_OK(holo_session_run(r.session, &error));
    one   = r.session->memo->used - one; // an entry
    limit = 16 * sizeof(void *) + 3 * one + one / 2;
    EXPECT_OK(holo_session_set_memo(r.session, limit, &error));
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        inputs_set(&r, rows[i].seed, 1);
        run_and_compare(&r, model_mlp());
        *(rows[i].is_hit ? &hits : &misses) += 1;
        uint64_t h, m;
        holo_session_memo_counts(r.session, &h, &m);
        assert_int_equal(h, hits);
        assert_int_equal(m, misses + 1); // that of the entry measured
        assert_true(r.session->memo->used <= limit);
    }
    end(&r);
}

// Entries of all sizes, more than fit, in any order.
static void test_learning_keeps_its_bound(void **state)
{
    (void)state;
    Run        r      = begin(compiled(model_dynamic(), HOLO_FUSED));
    HoloRandom random = {1};
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 14, &error));
    for (int i = 0; i < 300; i++) {
        uint64_t seed = holo_random_next(&random) % 9;
        inputs_set(&r, seed, (int64_t)(seed * seed));
        if (i % 10)
            EXPECT_OK(holo_session_run(r.session, &error));
        else
            run_and_compare(&r, model_dynamic());
        assert_true(r.session->memo->used <= 1 << 14);
        assert_null(r.session->memo->pending);
    }
    uint64_t hits, misses;
    holo_session_memo_counts(r.session, &hits, &misses);
    assert_int_equal(hits + misses, 300);
    assert_true(hits > 50 && misses > 9);
    end(&r);
}

// An output may be written over the input: what is learnt are the inputs as they were.
static void test_inputs_that_are_written_over(void **state)
{
    (void)state;
    Run   r = begin(compiled(model_tiny(), HOLO_FUSED));
    float first[6];
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 14, &error));
    inputs_set(&r, 1, 1);
    memcpy(first, r.inputs[0].data, sizeof first);
    EXPECT_OK(holo_session_set_output(r.session, 0, r.inputs[0].data, sizeof first, &error));
    EXPECT_OK(holo_session_run(r.session, &error));
    EXPECT_OK(holo_session_set_output(r.session, 0, NULL, 0, &error));
    memcpy(r.inputs[0].data, first, sizeof first);
    run_and_compare(&r, model_tiny());
    expect_counts(&r, 1, 1);
    end(&r);
}

// ---- saving

static void test_what_was_learnt_is_saved(void **state)
{
    (void)state;
    const char *first = temp_path("first.holo"), *second = temp_path("second.holo");
    Run         r = begin(compiled(model_dynamic(), HOLO_EXACT));
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 20, &error));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        inputs_set(&r, seed, 1 + (int64_t)seed % 5);
        EXPECT_OK(holo_session_run(r.session, &error));
    }
    EXPECT_OK(holo_session_save_memo(r.session, first, &error));
    end(&r);
    r = begin_file(first);
    assert_int_equal(holo_model_memo_count(r.model), 40);
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 20, &error));
    for (uint64_t seed = 1; seed <= 60; seed++) {
        inputs_set(&r, seed, 1 + (int64_t)seed % 5);
        EXPECT_OK(holo_session_run(r.session, &error));
    }
    expect_counts(&r, 40, 20);
    EXPECT_OK(holo_session_save_memo(r.session, second, &error));
#ifdef _WIN32
    first = temp_path("again.holo"); // Windows keeps a file that is mapped
#endif
    EXPECT_OK(holo_session_save_memo(r.session, first, &error)); // over the file that is mapped
    end(&r);
    size_t   size, other_size;
    uint8_t *bytes = file_read(first, &size), *other = file_read(second, &other_size);
    expect_same_bytes(bytes, size, other, other_size);
    free(bytes);
    free(other);
    r = begin_file(second);
    assert_int_equal(holo_model_memo_count(r.model), 60);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        inputs_set(&r, seed, 1 + (int64_t)seed % 5);
        EXPECT_OK(holo_session_run(r.session, &error));
    }
    expect_counts(&r, 60, 0);
    EXPECT_FAIL(holo_session_save_memo(r.session, temp_path("no/such/folder.holo"), &error), HOLO_NO_FILE, "folder");
    end(&r);
}

// The table finds every entry of many, and nothing else.
static void test_the_table(void **state)
{
    (void)state;
    const char *path = temp_path("many.holo");
    Run         r    = begin(compiled(model_tiny(), HOLO_FUSED));
    EXPECT_OK(holo_session_set_memo(r.session, 1 << 24, &error));
    inputs_set(&r, 1, 1);
    for (int i = 0; i < 5000; i++) {
        ((float *)r.inputs[0].data)[i % 6] = (float)i;
        EXPECT_OK(holo_session_run(r.session, &error));
    }
    EXPECT_OK(holo_session_save_memo(r.session, path, &error));
    end(&r);
    r                    = begin_file(path);
    const HoloArchive *a = &r.model->archive;
    assert_int_equal(a->MEMO_ENTRIES_count, 5000);
    for (size_t i = 0; i < a->MEMO_ENTRIES_count; i++) {
        HoloHash key = {{a->MEMO_ENTRIES_at[i].key[0], a->MEMO_ENTRIES_at[i].key[1]}};
        assert_ptr_equal(holo_memo_lookup(a, key), &a->MEMO_ENTRIES_at[i]);
        key.word[1] ^= 1;
        assert_null(holo_memo_lookup(a, key));
    }
    end(&r);
}

// ---- threads: each with its session of one model

typedef struct Worker {
    const HoloModel *model;
    uint64_t         seed, hits, misses;
    HoloStatus       status;
} Worker;

static void *work(void *arg)
{
    Worker      *w = arg;
    HoloSession *session;
    HoloTensor   x = made(&holo_model_input(w->model, 0)->type, 1, 1), y = made(&x, w->seed, 1);
    w->status = holo_session_create(w->model, NULL, &session, NULL);
    if (!w->status) w->status = holo_session_set_memo(session, 1 << 16, NULL);
    for (int i = 0; i < 200 && !w->status; i++) {
        w->status = holo_session_set_input(session, 0, i % 2 ? &x : &y, NULL);
        if (!w->status) w->status = holo_session_run(session, NULL);
    }
    holo_session_memo_counts(session, &w->hits, &w->misses);
    holo_session_destroy(session);
    free(x.data);
    free(y.data);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    Run       r = begin_file(memorized(model_conv(), "conv.holo", 1, 1));
    Worker    workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.model = r.model, .seed = 100 + (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].status, HOLO_OK);
        assert_int_equal(workers[i].hits, 199);
        assert_int_equal(workers[i].misses, 1);
    }
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit_and_miss),
        cmocka_unit_test(test_several_inputs_and_open_sizes),
        cmocka_unit_test(test_outputs_of_the_caller),
        cmocka_unit_test(test_cancel_and_profile),
        cmocka_unit_test(test_the_same_bytes),
        cmocka_unit_test(test_patterns_that_do_not_fit),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_a_session_learns),
        cmocka_unit_test(test_what_is_not_learnt),
        cmocka_unit_test(test_the_oldest_goes_first),
        cmocka_unit_test(test_learning_keeps_its_bound),
        cmocka_unit_test(test_inputs_that_are_written_over),
        cmocka_unit_test(test_what_was_learnt_is_saved),
        cmocka_unit_test(test_the_table),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
