// picture.h - a graph as boxes and lines: made from a listing, laid out in layers, written in several formats.
#ifndef HOLO_CLI_PICTURE_H
#define HOLO_CLI_PICTURE_H

#include "cli.h"

enum { PICTURE_LINES = 7 };

typedef struct PictureBox {
    const char *title;
    const char *lines[PICTURE_LINES]; // under the title
    int         line_count;
    const char *result;   // the type of the first output, written under the box; "" for outputs
    const char *about;    // everything about it, in lines
    const char *color;    // of the family of operators: a class of the style sheet
    bool        is_port;  // an input or an output of the model
    bool        is_plain; // in a planned graph: runs without a fast kernel
    int         layer;
    double      x, y, width, height; // x of the middle, y of the top
} PictureBox;

typedef struct PictureWire { // a value: from the box that makes it to those that use it
    const char *label;
    int         from, to_count;
    int        *to;
} PictureWire;

typedef struct PictureStroke { // a line to draw: through all points, downwards
    int     count;
    double *x, *y;
    bool    has_arrow;
} PictureStroke;

typedef struct Picture {
    const char    *title;
    PictureBox    *boxes; // producers before users
    PictureWire   *wires;
    PictureStroke *strokes;
    int            box_count, wire_count, stroke_count, stroke_room;
    double         width, height;
} Picture;

// Of the model's own level: what subgraphs hold is told in the box of their node.
Picture *picture_make(const HoloListing *listing, const char *title);
void     picture_layout(Picture *picture); // layout.c

void picture_write_svg(FILE *out, Picture *const *pictures, int count); // side by side
void picture_write_dot(FILE *out, Picture *const *pictures, int count);
void picture_write_html(FILE *out, Picture *const *pictures, int count); // one tab each

// Text as XML wants it. `limit` characters at most, ended by an ellipsis where there are more; 0: no limit.
void xml_text(FILE *out, const char *text, int limit);

#endif
