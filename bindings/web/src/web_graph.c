// web_graph.c - drawings of graphs for JavaScript, as the command `hologram graph` makes them.
#include "web.h"

#include "picture.h"

#include <stdlib.h>

// What commands print goes through this, so that terminals see nothing strange. Here there are no terminals.
int cli_printf(FILE *stream, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = (vfprintf)(stream, format, args); // not the macro of cli.h
    va_end(args);
    return size;
}

// The graph of a file at a stage, HoloStage, as SVG; NULL: it cannot be read.
char *WEB(web_drawing)(const char *path, int stage, const char *title)
{
    HoloListing *listing;
    char        *text = NULL;
    size_t       size;
    if (holo_listing_open(NULL, path, (HoloStage)stage, &listing, web_anew())) return NULL;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        Picture *picture = picture_make(listing, title);
        picture_layout(picture);
        picture_write_svg(out, &picture, 1);
        if (fclose(out)) {
            free(text);
            text = NULL;
        }
    }
    cli_free_all();
    holo_listing_close(listing);
    if (!text) web_last.status = HOLO_NO_MEMORY;
    return text;
}
