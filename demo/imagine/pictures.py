#!/usr/bin/env python3
"""pictures.py OUT.npz - the pictures and captions that the demo's text-to-image model learns from.

Pictures are those of Debian's fonts-noto-color-emoji, made 64x64 on white; captions are the names and keywords of Unicode
(packages unicode-data, unicode-cldr-core). Needs python3-fonttools, python3-pil and python3-numpy. People with a color of
skin are left out: there are five of each, and they would be most of the pictures.
"""
import io
import json
import re
import sys
import xml.etree.ElementTree

import numpy
from fontTools.ttLib import TTFont
from PIL import Image

FONT = "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf"
NAMES = "/usr/share/unicode/emoji/emoji-test.txt"
KEYWORDS = ["/usr/share/unicode/cldr/common/%s/en.xml" % kind for kind in ("annotations", "annotationsDerived")]
SIZE = 64
SKIN = range(0x1F3FB, 0x1F400)
SELECTOR = 0xFE0F


def named():
    """Every emoji with its name: (code points, name)."""
    with open(NAMES, encoding="utf-8") as lines:
        for line in lines:
            found = re.match(r"([0-9A-F ]+); fully-qualified +# \S+ E[0-9.]+ (.*)", line)
            if not found:
                continue
            codes = [int(code, 16) for code in found[1].split()]
            if not any(code in SKIN for code in codes):
                yield codes, found[2].lower().replace("flag: ", "flag of ").replace(":", "").strip()


def keywords():
    found = {}
    for path in KEYWORDS:
        for item in xml.etree.ElementTree.parse(path).iter("annotation"):
            if not item.get("type"):
                text = item.get("cp").replace(chr(SELECTOR), "")
                found.setdefault(text, []).extend(word.strip().lower() for word in item.text.split("|"))
    return found


class Font:
    def __init__(self):
        font = TTFont(FONT)
        self.of_code = font.getBestCmap()
        self.strike = font["CBDT"].strikeData[0]
        self.ligatures = {}
        for lookup in font["GSUB"].table.LookupList.Lookup:
            for table in lookup.SubTable:
                table = getattr(table, "ExtSubTable", table)
                for first, rows in getattr(table, "ligatures", {}).items():
                    for row in rows:
                        self.ligatures[(first, *row.Component)] = row.LigGlyph

    def picture(self, codes):
        glyphs = tuple(self.of_code.get(code) for code in codes if code != SELECTOR)
        glyph = glyphs[0] if len(glyphs) == 1 else self.ligatures.get(glyphs)
        data = self.strike.get(glyph)
        return Image.open(io.BytesIO(data.imageData)).convert("RGBA") if data else None


def on_white(picture):
    side = max(picture.size)
    white = Image.new("RGBA", (side, side), (255, 255, 255, 255))
    white.alpha_composite(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
    return numpy.asarray(white.convert("RGB").resize((SIZE, SIZE), Image.LANCZOS))


def main(out):
    font, words = Font(), keywords()
    pictures, captions = [], []
    for codes, name in named():
        picture = font.picture(codes)
        if picture is None:
            continue
        text = "".join(chr(code) for code in codes if code != SELECTOR)
        pictures.append(on_white(picture))
        captions.append([name] + [word for word in dict.fromkeys(words.get(text, [])) if word != name])
    numpy.savez_compressed(out, pictures=numpy.stack(pictures), captions=json.dumps(captions))
    print(len(pictures), "pictures")


if __name__ == "__main__":
    main(sys.argv[1])
