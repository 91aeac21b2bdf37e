// graph_scan.h - reading graph text word by word (docs/graph-text.md). Space and comments between words are passed over.
#ifndef HOLO_GRAPH_SCAN_H
#define HOLO_GRAPH_SCAN_H

#include "graph/graph.h"

typedef struct HoloScan {
    HoloArena      *arena;
    HoloDims       *dims;
    HoloError      *error;
    const char     *name;      // of the text, for errors; NULL: "graph text"
    const char     *text, *at; // all of it, and what comes next
    const HoloNode *caller;    // whose attributes "@name" means; NULL: not the body of an operator
    HoloAttr       *fallback;  // attributes that the body gives itself
    int             fallback_count;
    int             nesting;
} HoloScan;

HOLO_MUST HoloStatus holo_scan_wrong(HoloScan *p, const char *expected); // fails, with the line and what stands there
void                 holo_scan_skip(HoloScan *p);
bool                 holo_scan_is_next(HoloScan *p, char c);
bool                 holo_scan_accept(HoloScan *p, const char *token); // passes over it where it is next
HOLO_MUST HoloStatus holo_scan_expect(HoloScan *p, const char *token);

HOLO_MUST HoloStatus holo_scan_quoted(HoloScan *p, HoloString *out); // with escapes resolved
HOLO_MUST HoloStatus holo_scan_name(HoloScan *p, const char **out);
HOLO_MUST HoloStatus holo_scan_int(HoloScan *p, int64_t *out);
HOLO_MUST HoloStatus holo_scan_float(HoloScan *p, double *out);
HOLO_MUST HoloStatus holo_scan_dim(HoloScan *p, HoloDim *out);
HOLO_MUST HoloStatus holo_scan_type(HoloScan *p, HoloTensor *out);

#endif
