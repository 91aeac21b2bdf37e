// draw_svg.c - pictures as SVG, alone or inside a page of HTML.

#include "draw.h"

#include <math.h>
#include <string.h>

// ---- text

const char *draw_safe(const char *text)
{
    char *all = cli_format("%s", "");
    for (const char *line = text;; line++) { // line breaks are the program's own
        size_t size  = strcspn(line, "\n");
        char  *whole = cli_format("%.*s", (int)size, line);
        size_t room  = holo_text_safe(whole, NULL, 0) + 1;
        char  *safe  = cli_take(room, 1);
        holo_text_safe(whole, safe, room);
        line += size;
        all = cli_format("%s%s%s", all, safe, *line ? "\n" : "");
        if (!*line) return all;
    }
}

void xml_text(FILE *out, const char *text, int limit)
{
    int written = 0;
    for (const unsigned char *s = (const unsigned char *)draw_safe(text); *s;) {
        int size = *s < 0x80 ? 1 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4; // safe text is UTF-8
        if (limit && ++written > limit) {
            fputs("…", out);
            return;
        }
        if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '"')
            fputs("&quot;", out);
        else
            fwrite(s, 1, (size_t)size, out);
        s += size;
    }
}

const char *const draw_style =
    "text{font-family:system-ui,'Segoe UI',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#1c2430}"
    ".head{font-size:17px;font-weight:600}.sub{font-size:12px;fill:#69758a}"
    ".t{font-size:12.5px;font-weight:600;text-anchor:middle}"
    ".l{font-size:10px;text-anchor:middle;fill:#465063}"
    ".r{font-size:9.5px;fill:#7b8799;paint-order:stroke;stroke:#fff;stroke-width:3px}"
    ".w{fill:none;stroke:#a9b4c4;stroke-width:1.4}.a{fill:#a9b4c4}"
    ".b rect{stroke-width:1.2}.b.plain rect{stroke-dasharray:4 3}"
    ".port rect{fill:#26303f;stroke:#26303f}.port text{fill:#fff}"
    ".matrix rect{fill:#dbe8ff;stroke:#5b8def}.active rect{fill:#ffe6d3;stroke:#f0883e}"
    ".pool rect{fill:#d9f5e4;stroke:#3fae72}.normal rect{fill:#efe2ff;stroke:#9a67ea}"
    ".move rect{fill:#eef0f4;stroke:#9aa5b5}.control rect{fill:#ffe1ea;stroke:#e0567f}"
    ".point rect{fill:#fff6cf;stroke:#d9b21c}.other rect{fill:#e0f4f8;stroke:#37a3b8}";

// ---- lines and boxes

// Lines leave and enter vertically: a step to the side is a curve with vertical ends.
static void stroke(FILE *out, const PictureStroke *s)
{
    fprintf(out, "<path class=\"w\" d=\"M%.1f %.1f", s->x[0], s->y[0]);
    for (int i = 1; i < s->count; i++) {
        double end = s->y[i] - (s->has_arrow && i == s->count - 1 ? 5 : 0), middle = (s->y[i - 1] + end) / 2;
        if (fabs(s->x[i] - s->x[i - 1]) < 0.5)
            fprintf(out, "V%.1f", end);
        else
            fprintf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", s->x[i - 1], middle, s->x[i], middle, s->x[i], end);
    }
    fputs("\"/>\n", out);
    if (!s->has_arrow) return;
    double x = s->x[s->count - 1], y = s->y[s->count - 1];
    fprintf(out, "<path class=\"a\" d=\"M%.1f %.1fl-3.5 -6h7z\"/>\n", x, y);
}

static void box(FILE *out, const PictureBox *b)
{
    fprintf(out, "<g class=\"b %s%s\"><title>", b->color, b->is_plain ? " plain" : "");
    xml_text(out, b->about, 0);
    fprintf(out, "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%g\"/>", b->x - b->width / 2,
            b->y, b->width, b->height, b->is_port ? 15.0 : 7.0);
    fprintf(out, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\">", b->x, b->y + 19.5);
    xml_text(out, b->title, 40);
    fputs("</text>", out);
    for (int i = 0; i < b->line_count; i++) {
        fprintf(out, "<text class=\"l\" x=\"%.1f\" y=\"%.1f\">", b->x, b->y + 36 + 15 * i);
        xml_text(out, b->lines[i], 40);
        fputs("</text>", out);
    }
    fputs("</g>\n", out);
    if (!*b->result) return;
    fprintf(out, "<text class=\"r\" x=\"%.1f\" y=\"%.1f\">", b->x + 6, b->y + b->height + 13);
    xml_text(out, b->result, 44);
    fputs("</text>\n", out);
}

void draw_picture(FILE *out, const Picture *picture)
{
    int nodes = 0;
    for (int i = 0; i < picture->box_count; i++) nodes += !picture->boxes[i].is_port;
    fprintf(out, "<text class=\"head\" x=\"24\" y=\"28\">");
    xml_text(out, picture->title, 80);
    fprintf(out, "</text><text class=\"sub\" x=\"24\" y=\"46\">%d nodes</text>\n", nodes);
    for (int i = 0; i < picture->stroke_count; i++) stroke(out, &picture->strokes[i]);
    for (int i = 0; i < picture->box_count; i++) box(out, &picture->boxes[i]);
}

void picture_write_svg(FILE *out, Picture *const *pictures, int count)
{
    double width = 0, height = 0;
    for (int i = 0; i < count; i++) {
        width += fmax(pictures[i]->width, 320);
        height = fmax(height, pictures[i]->height);
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height, draw_style);
    double x = 0;
    for (int i = 0; i < count; i++) {
        fprintf(out, "<g transform=\"translate(%.1f 0)\">\n", x);
        draw_picture(out, pictures[i]);
        fputs("</g>\n", out);
        x += fmax(pictures[i]->width, 320);
    }
    fputs("</svg>\n", out);
}
