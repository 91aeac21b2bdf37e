// template_parse.h - what the two halves of the template's parser share: tokens, and the tree that grows.
#ifndef HOLO_TEXT_TEMPLATE_PARSE_H
#define HOLO_TEXT_TEMPLATE_PARSE_H

#include "text/template_lex.h"

typedef struct HoloTemplateParser {
    HoloArena               *arena;
    HoloError               *error;
    HoloStatus               status; // the first failure; then tokens are END
    const HoloTemplateToken *token;  // the current one
    HoloTemplateNode        *node;
    uint32_t                *list, *waiting; // waiting: nodes of lists that are not finished
    HoloTextSpan            *name;
    uint8_t                 *text;
    int                      node_count, node_room, list_count, list_room, waiting_count, waiting_room;
    int                      name_count, name_room;
    size_t                   text_size, text_room;
    int                      depth, loops, choices; // nesting: of everything, of loops in a body, of conditions
    uint32_t                 macro;                 // HOLO_MACRO_*: what the current macro uses
    const HoloTemplateToken *unknown; // the first filter or test of the current tag that is not known; NULL: none
    bool                     unknown_is_test;
} HoloTemplateParser;

// Records a failure at a line. Returns HOLO_NO_NODE.
uint32_t holo_template_fail(HoloTemplateParser *p, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// One level deeper, until `p->depth` is decremented; false: too deep.
bool holo_template_enter(HoloTemplateParser *p);

// ---- tokens

void holo_template_next(HoloTemplateParser *p);
bool holo_template_is(const HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text); // the current token
bool holo_template_skip(HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text);     // passes it if it is
void holo_template_expect(HoloTemplateParser *p, HoloTemplateTokenKind kind, const char *text);   // or fails

// ---- nodes

// Adds a node with up to 6 arguments, as many as its kind has. Returns its number.
uint32_t holo_template_node(HoloTemplateParser *p, HoloTemplateKind kind, uint32_t line, const uint32_t *args);
#define HOLO_NODE(p, kind, line, ...) holo_template_node((p), HOLO_TN_##kind, (line), (const uint32_t[6]){__VA_ARGS__})
// Lists are collected with `wait`, and finished from where they began: `begin` is waiting_count before the first.
void     holo_template_wait(HoloTemplateParser *p, uint32_t node);
uint32_t holo_template_list(HoloTemplateParser *p, int begin, uint32_t *out_count);
uint32_t holo_template_text(HoloTemplateParser *p, HoloString text);
uint32_t holo_template_name(HoloTemplateParser *p, HoloString name);

// ---- expressions

uint32_t holo_template_expression(HoloTemplateParser *p);
// Expressions with commas between them are a tuple. Without choice: an `if` ends it.
uint32_t holo_template_tuple(HoloTemplateParser *p, bool with_choice);
// What can be assigned to: names, tuples of them and, if asked for, an attribute of a name.
uint32_t holo_template_target(HoloTemplateParser *p, bool with_attribute);
// Filters behind `node`, each with its bar; the first without, if asked for.
uint32_t holo_template_filters(HoloTemplateParser *p, uint32_t node, bool without_bar);

#endif
