// xml.h - XML as a tree of elements, for formats that use a plain part of it: elements, attributes, text, comments, CDATA,
// the five named entities and numbered characters. Documents that declare their own entities (DOCTYPE) are refused.
//
// Elements are nested at most HOLO_XML_DEPTH deep, and the memory of the tree is in proportion to the text.
#ifndef HOLO_IMPORT_WIRE_XML_H
#define HOLO_IMPORT_WIRE_XML_H

#include "base/base.h"

enum { HOLO_XML_DEPTH = 64 };

typedef struct HoloXmlAttr {
    const char *name, *value;
} HoloXmlAttr;

typedef struct HoloXml HoloXml;
struct HoloXml {
    const char  *name;
    const char  *text; // of its own text the first piece that is not blank
    HoloXmlAttr *attr;
    HoloXml    **child;
    int          attr_count, attr_room, child_count, child_room;
};

// The root element; everything is in the arena. Errors name the line.
HOLO_MUST HoloStatus holo_xml_read(HoloArena *arena, const char *bytes, size_t size, HoloXml **out, HoloError *error);

const char    *holo_xml_attr(const HoloXml *x, const char *name);  // NULL: there is none; also if x is NULL
const HoloXml *holo_xml_child(const HoloXml *x, const char *name); // the first; NULL: there is none
const HoloXml *holo_xml_next(const HoloXml *x, const char *name,
                             int *in_out); // walks the children of a name, from 0 on

#endif
