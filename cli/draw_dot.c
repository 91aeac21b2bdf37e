// draw_dot.c - pictures as DOT, for Graphviz: it does its own layout.

#include "draw.h"

#include <string.h>

static void quoted(FILE *out, const char *text)
{
    for (const char *s = draw_safe(text); *s; s++) {
        if (*s == '\n') {
            fputs("\\n", out);
            continue;
        }
        if (*s == '"' || *s == '\\') fputc('\\', out);
        fputc(*s, out);
    }
}

static const char *fill_of(const PictureBox *box)
{
    static const char *const fills[][2] = {
        {"port", "#26303f"}, {"matrix", "#dbe8ff"},  {"active", "#ffe6d3"}, {"pool", "#d9f5e4"},  {"normal", "#efe2ff"},
        {"move", "#eef0f4"}, {"control", "#ffe1ea"}, {"point", "#fff6cf"},  {"other", "#e0f4f8"},
    };
    for (int i = 0; i < CLI_COUNT(fills); i++)
        if (!strcmp(fills[i][0], box->color)) return fills[i][1];
    return "#ffffff";
}

static void one(FILE *out, const Picture *picture, int cluster)
{
    fprintf(out, "  subgraph cluster_%d {\n    label=\"", cluster);
    quoted(out, picture->title);
    fputs("\";\n", out);
    for (int i = 0; i < picture->box_count; i++) {
        const PictureBox *box = &picture->boxes[i];
        fprintf(out, "    n%d_%d [label=\"", cluster, i);
        quoted(out, box->title);
        for (int k = 0; k < box->line_count; k++) {
            fputs("\\n", out);
            quoted(out, box->lines[k]);
        }
        fprintf(out, "\", fillcolor=\"%s\"%s];\n", fill_of(box), box->is_port ? ", fontcolor=white" : "");
    }
    for (int w = 0; w < picture->wire_count; w++) {
        const PictureWire *wire = &picture->wires[w];
        for (int k = 0; k < wire->to_count; k++) {
            fprintf(out, "    n%d_%d -> n%d_%d [tooltip=\"", cluster, wire->from, cluster, wire->to[k]);
            quoted(out, wire->label);
            fputs("\"];\n", out);
        }
    }
    fputs("  }\n", out);
}

void picture_write_dot(FILE *out, Picture *const *pictures, int count)
{
    fputs("digraph hologram {\n"
          "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11];\n"
          "  edge [color=\"#8a97aa\", arrowsize=0.7];\n",
          out);
    for (int i = 0; i < count; i++) one(out, pictures[i], i);
    fputs("}\n", out);
}
