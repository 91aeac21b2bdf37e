"""apple.py FILE.png - whether the picture is red in the middle and white in a corner."""
import struct
import sys
import zlib

with open(sys.argv[1], "rb") as file:
    data = file.read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0]
    if kind == b"IHDR":
        width, height, bits, color = struct.unpack(">IIBB", body[:10])
        assert (bits, color) == (8, 2)
    packed += body if kind == b"IDAT" else b""
    at += 12 + size
raw, rows = zlib.decompress(packed), []
for y in range(height):
    line = raw[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
    assert line[0] == 1  # each byte is the difference from the pixel before it
    row = []
    for i, byte in enumerate(line[1:]):
        row.append((byte + (row[i - 3] if i >= 3 else 0)) % 256)
    rows.append(row)
red, green, blue = rows[height * 5 // 8][3 * (width // 2):3 * (width // 2) + 3]
print("middle", red, green, blue, "corner", rows[0][:3])
sys.exit(not (red > 150 and red > green + 40 and red > blue + 40 and min(rows[0][:3]) > 220))
