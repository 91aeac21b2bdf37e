"""reference.py FILE.safetensors NAME OUT.npy - writes a tensor as .npy.
reference.py FILE.safetensors NAME GOT.npy TOLERANCE - whether GOT is that tensor, within a part of its largest value."""
import ast
import json
import struct
import sys

TYPES = {"F32": ("<f4", "f", 4), "I64": ("<i8", "q", 8)}

with open(sys.argv[1], "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
entry = json.loads(data[8:8 + size])[sys.argv[2]]
begin, end = entry["data_offsets"]
kind, letter, width = TYPES[entry["dtype"]]
raw = data[8 + size + begin:8 + size + end]
if len(sys.argv) == 4:
    shape = "(%s,)" % ", ".join(str(n) for n in entry["shape"])
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s}" % (kind, shape)
    header = (header + " " * (63 - (10 + len(header)) % 64) + "\n").encode()
    with open(sys.argv[3], "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + raw)
else:
    with open(sys.argv[3], "rb") as file:
        got = file.read()
    at = 10 + struct.unpack("<H", got[8:10])[0]
    assert list(ast.literal_eval(got[10:at].decode())["shape"]) == entry["shape"]
    wanted = struct.unpack("<%d%s" % (len(raw) // width, letter), raw)
    given = struct.unpack("<%d%s" % (len(wanted), letter), got[at:])
    worst = max(abs(a - b) for a, b in zip(given, wanted)) / max(abs(b) for b in wanted)
    print("worst difference", worst)
    sys.exit(not worst <= float(sys.argv[4]))
