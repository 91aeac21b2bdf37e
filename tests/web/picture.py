#!/usr/bin/env python3
"""Writes green.png, 16 x 16, into a folder. usage: picture.py FOLDER"""

import os
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


rows = b"".join(b"\0" + bytes([20, 200, 40]) * 16 for _ in range(16))
with open(os.path.join(sys.argv[1], "green.png"), "wb") as file:
    file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
