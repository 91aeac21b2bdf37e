// xml_test.c - the reader of XML: what it gives, and what it refuses, with the line.
#include "import/wire/xml.h"
#include "support/models.h"

#include <string.h>

static HoloArena arena;

static HoloXml *parsed(const char *text)
{
    HoloXml *x;
    EXPECT_OK(holo_xml_read(&arena, text, strlen(text), &x, &error));
    return x;
}

static void refuses(const char *text, const char *words)
{
    HoloXml  *x;
    HoloError why = {0};
    assert_int_equal(holo_xml_read(&arena, text, strlen(text), &x, &why), HOLO_BAD_MODEL);
    if (!strstr(why.text, words)) fail_msg("%s: '%s', not '%s'", text, why.text, words);
}

static void test_elements(void **state)
{
    (void)state;
    const HoloXml *x = parsed(
        "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- a --><net name=\"a&lt;b\" v='&#65;&#x42;&#233;'>\n <dim> 3 </dim>"
        "<dim>4</dim><!-- <dim>5</dim> --><e/><c><![CDATA[<x> & y]]></c></net> ");
    const HoloXml *dim;
    int            at = 0;
    assert_string_equal(x->name, "net");
    assert_string_equal(holo_xml_attr(x, "name"), "a<b");
    assert_string_equal(holo_xml_attr(x, "v"), "AB\xC3\xA9");
    assert_null(holo_xml_attr(x, "none"));
    assert_non_null(dim = holo_xml_next(x, "dim", &at));
    assert_string_equal(dim->text, " 3 ");
    assert_non_null(dim = holo_xml_next(x, "dim", &at));
    assert_string_equal(dim->text, "4");
    assert_null(holo_xml_next(x, "dim", &at));
    assert_string_equal(holo_xml_child(x, "c")->text, "<x> & y");
    assert_int_equal(holo_xml_child(x, "e")->child_count, 0);
    assert_null(holo_xml_child(x, "f"));
    assert_null(holo_xml_attr(NULL, "name"));
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    refuses("", "an element is missing");
    refuses("<a>", "an element does not end");
    refuses("<a>\n\n<b></a>", "line 3");
    refuses("<a></b>", "another name");
    refuses("<a x=1/>", "without quotes");
    refuses("<a x='1/>", "does not end");
    refuses("<a x>", "without its value");
    refuses("<a>&x;</a>", "an entity that is not known");
    refuses("<a>&amp</a>", "an & without its ;");
    refuses("<a>&#0;</a>", "a character that there is none of");
    refuses("<a>&#x110000;</a>", "a character that there is none of");
    refuses("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "declares a document type");
    refuses("<a/><b/>", "there is more behind its end");
    refuses("<a><!-- </a>", "it is cut off");
    refuses("<a/", "a tag does not end");
    char deep[1000] = "";
    for (int i = 0; i < 100; i++) strcat(deep, "<a>");
    refuses(deep, "nested too deep");
}

static int finish(void **state)
{
    (void)state;
    holo_arena_deinit(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_elements), cmocka_unit_test(test_what_is_wrong)};
    return cmocka_run_group_tests(tests, NULL, finish);
}
