"""png.py OUT.png WIDTH HEIGHT - a picture whose red grows to the right and whose green grows downwards; blue is 128."""

import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


width, height = int(sys.argv[2]), int(sys.argv[3])
rows = b"".join(
    b"\0" + b"".join(bytes((255 * x // (width - 1), 255 * y // (height - 1), 128)) for x in range(width)) for y in range(height)
)
with open(sys.argv[1], "wb") as out:
    out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
    out.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
