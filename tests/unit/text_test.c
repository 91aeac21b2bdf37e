// text_test.c - text from files, made safe to show: nothing in it is obeyed by a terminal, and what is plain stays.
#include "support/models.h"

#include "base/base.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_safe), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
