// graph_scan.h - reads graph text word by word (docs/graph-text.md). It skips space and comments between words.
#ifndef HOLO_GRAPH_SCAN_H
#define HOLO_GRAPH_SCAN_H

#include "graph/graph.h"

typedef struct HoloScan {
    HoloArena      *arena;
    HoloDims       *dims;
    HoloError      *error;
    const char     *name;      // name of the text, for errors; NULL: "graph text"
    const char     *text, *at; // the whole text, and what comes next
    const HoloNode *caller;    // "@name" means its attributes; NULL: the text is not the body of an operator
    HoloAttr       *fallback;  // the body's defaults for attributes
    int             fallback_count;
    int             nesting;
} HoloScan;

HOLO_MUST HoloStatus holo_scan_wrong(HoloScan *p, const char *expected); // fails and names the line and what was found
void                 holo_scan_skip(HoloScan *p);
bool                 holo_scan_is_next(HoloScan *p, char c);
bool                 holo_scan_accept(HoloScan *p, const char *token); // skips it if it is next
HOLO_MUST HoloStatus holo_scan_expect(HoloScan *p, const char *token);

HOLO_MUST HoloStatus holo_scan_quoted(HoloScan *p, HoloString *out); // with escapes resolved
HOLO_MUST HoloStatus holo_scan_name(HoloScan *p, const char **out);
HOLO_MUST HoloStatus holo_scan_int(HoloScan *p, int64_t *out);
HOLO_MUST HoloStatus holo_scan_float(HoloScan *p, double *out);
HOLO_MUST HoloStatus holo_scan_dim(HoloScan *p, HoloDim *out);
HOLO_MUST HoloStatus holo_scan_type(HoloScan *p, HoloTensor *out);

#endif
