// text_test.c - text from files, made safe to show: nothing in it is obeyed by a terminal, and what is plain stays.
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/text.h"

#include <string.h>

static void test_safe(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } table[] = {
        {"conv1/weights:0", "conv1/weights:0"},
        {"größe 大小 \xF0\x9F\x98\x80", "größe 大小 \xF0\x9F\x98\x80"},
        {"a\x1b[2Jb", "a\\x1b[2Jb"},
        {"a\r\n\tb\x7f", "a\\x0d\\x0a\\x09b\\x7f"},
        {"a\xC2\x9B"
         "31m",
         "a\\x9b31m"}, // CSI in one character
        {"a\xE2\x80\xAE"
         "b",
         "a\\u{202e}b"}, // writes backwards from here on
        {"a\xE2\x80\xA8"
         "b",
         "a\\u{2028}b"},                                                // a line ends
        {"\xFF\xC0\xAF\xED\xA0\x80", "\\xff\\xc0\\xaf\\xed\\xa0\\x80"}, // no UTF-8: none, overlong, half a pair
        {"\xE2\x82", "\\xe2\\x82"},                                     // cut off
        {"", ""},
    };
    char out[64];
    for (int i = 0; i < HOLO_COUNT(table); i++) {
        size_t size = holo_text_safe(table[i].from, out, sizeof out);
        assert_string_equal(out, table[i].to);
        assert_int_equal(size, strlen(table[i].to));
    }
    assert_int_equal(holo_text_safe("a\x1b"
                                    "b",
                                    NULL, 0),
                     6);
    assert_int_equal(holo_text_safe("a\x1b"
                                    "bc",
                                    out, 4),
                     7); // what does not fit whole is left out, and all behind it
    assert_string_equal(out, "a");
}

// Two names that begin and end alike are not taken for one when they are cut.
static void test_short(void **state)
{
    (void)state;
    char a[200], b[200], x[64], y[64];
    memset(a, 'a', sizeof a - 1);
    a[sizeof a - 1] = 0;
    memcpy(b, a, sizeof a);
    b[100] = 'b';
    holo_text_short(a, x, sizeof x);
    holo_text_short(b, y, sizeof y);
    assert_string_not_equal(x, y);
    assert_int_equal(strlen(x), 63);
    assert_int_equal(strncmp(x, a, 30), 0);
    holo_text_short("batch", x, sizeof x);
    assert_string_equal(x, "batch");
    a[63] = 0;
    holo_text_short(a, x, sizeof x);
    assert_string_equal(x, a);
}

static void test_sizes(void **state)
{
    (void)state;
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_F32, "the_number_of_all_rows,the_number_of_all_columns");
    onnx_output(&m.graph, "y", HOLO_F32, NULL);
    onnx_node(&m.graph, "Relu", "x", "y", "");
    onnx_save(&m, temp_path("sizes.onnx"));
    HoloModel   *model = compiled(temp_path("sizes.onnx"), HOLO_FUSED);
    HoloSession *session;
    HoloTensor   x = {.dtype = HOLO_F32, .rank = 1, .dim = {0}};
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_FAIL(holo_session_set_input(session, 0, &x, &error), HOLO_BAD_INPUT,
                "should be f32[the_number_of_all_rows,the_number_of_all_columns], but is f32[0]");
    holo_session_destroy(session);
    holo_model_close(model);
}

static void test_messages(void **state)
{
    (void)state;
    EXPECT_FAIL(holo_fail(&error, HOLO_BAD_MODEL, "node %s", "n\x1b]0;x\x07\nhologram: fine"), HOLO_BAD_MODEL,
                "node n\\x1b]0;x\\x07\\x0ahologram: fine");
    EXPECT_FAIL(holo_fail(&error, HOLO_BAD_MODEL, "%s", "k.py:1:2: no\n    x = y\n    ^"), HOLO_BAD_MODEL,
                "k.py:1:2: no\n    x = y\n    ^");
    HoloError error = {0};
    char      name[5000];
    memset(name, 1, sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(holo_fail(&error, HOLO_BAD_MODEL, "node %s", name), HOLO_BAD_MODEL);
    assert_true(strlen(error.text) > 4000 && strlen(error.text) < sizeof error.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_safe), cmocka_unit_test(test_short),
                                       cmocka_unit_test(test_sizes), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
