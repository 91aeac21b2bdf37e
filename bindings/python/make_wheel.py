#!/usr/bin/env python3
"""Packs build/python into a wheel: one for CPython 3.9 and later, on Linux with glibc 2.28 or later.

usage: make_wheel.py PACKAGE_FOLDER OUTPUT_FOLDER VERSION
       make_wheel.py --check FILE.so     only reads what the file needs

A wheel is a zip file, with a list of what is in it. Before it is written, the extension is read: it may need nothing but libc, and
of that only what glibc 2.28 has; otherwise this fails and says what is too new.
"""

import base64
import hashlib
import os
import platform
import struct
import subprocess
import sys
import tempfile
import zipfile

OLDEST = (2, 28)
LIBRARIES = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
DATE = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever it is made


# ---- what the extension needs

class Elf:
    """As much of a 64-bit little-endian ELF file as says which libraries it needs, and which versions of their functions."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"{path} is no ELF file of 64 bits")
        at, size, count, names = struct.unpack_from("<Q10xHHH", self.data, 0x28)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)]

    def of_kind(self, kind):
        return [s for s in self.sections if s[1] == kind]

    def text(self, section, offset):
        begin = self.sections[section][4] + offset
        return self.data[begin:self.data.index(0, begin)].decode()

    def needed(self):
        """The libraries by name."""
        names = []
        for s in self.of_kind(6):  # dynamic
            for at in range(s[4], s[4] + s[5], 16):
                tag, value = struct.unpack_from("<QQ", self.data, at)
                if tag == 1:
                    names.append(self.text(s[6], value))
        return names

    def versions(self):
        """What is needed of each library: (library, "GLIBC_2.17")."""
        found = []
        for s in self.of_kind(0x6ffffffe):  # version needs
            at = s[4]
            while True:
                _, count, library, first, following = struct.unpack_from("<HHIII", self.data, at)
                entry = at + first
                for _ in range(count):
                    _, _, _, name, step = struct.unpack_from("<IHHII", self.data, entry)
                    found.append((self.text(s[6], library), self.text(s[6], name)))
                    entry += step
                if not following:
                    break
                at += following
        return found


def check(path):
    """Fails where the extension needs more than libc of glibc 2.28; else the newest version that it needs."""
    elf, newest = Elf(path), (2, 0)
    others = sorted(set(elf.needed()) - LIBRARIES)
    if others:
        raise SystemExit(f"{path} needs {', '.join(others)}, which not every system has: link it statically")
    for library, version in elf.versions():
        number = tuple(int(part) for part in version.split("_")[1].split(".")[:2]) if version.startswith("GLIBC_2") else None
        if number is None or number > OLDEST:
            raise SystemExit(f"{path} needs {version} of {library}, which glibc {OLDEST[0]}.{OLDEST[1]} has not: see old_libc.c")
        newest = max(newest, number)
    return newest


# ---- the wheel

METADATA = """Metadata-Version: 2.1
Name: hologram
Version: {version}
Summary: A compiler and runtime for trained models
License: MIT OR Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == 'numpy'
Description-Content-Type: text/markdown

{text}"""
WHEEL = """Wheel-Version: 1.0
Generator: hologram
Root-Is-Purelib: false
Tag: {tag}
"""
SCRIPTS = """[console_scripts]
hologram = hologram.__main__:main

[torch_dynamo_backends]
hologram = hologram.torch_backend:backend
"""


def files_of(folder):
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(".pyc"):
                path = os.path.join(where, name)
                yield path, os.path.relpath(path, folder)


def stripped(path):
    """The extension without what debuggers read."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "stripped.so")
        subprocess.run(["strip", "-o", out, path], check=True)
        with open(out, "rb") as file:
            return file.read()


def contents(folder, version, tag):
    """(name, bytes) of each file."""
    for path, name in files_of(folder):
        if name.endswith(".so"):
            yield name, stripped(path)
        else:
            with open(path, "rb") as file:
                yield name, file.read()
    info = f"hologram-{version}.dist-info"
    with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
        yield f"{info}/METADATA", METADATA.format(version=version, text=file.read()).encode()
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        with open(os.path.join(ROOT, name), "rb") as file:
            yield f"{info}/licenses/{name}", file.read()
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode()
    yield f"{info}/entry_points.txt", SCRIPTS.encode()


def write(folder, output, version):
    check(os.path.join(folder, "hologram", "_hologram.abi3.so"))
    tag = f"cp39-abi3-manylinux_{OLDEST[0]}_{OLDEST[1]}_{platform.machine()}"
    os.makedirs(output, exist_ok=True)
    path, records = os.path.join(output, f"hologram-{version}-{tag}.whl"), []
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
        def put(name, data):
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        for name, data in contents(folder, version, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(data)}")
            put(name, data)
        record = f"hologram-{version}.dist-info/RECORD"
        put(record, "\n".join(records + [f"{record},,", ""]).encode())
    os.replace(path + ".part", path)
    return path


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        print("glibc {}.{} is enough".format(*check(sys.argv[2])))
    elif len(sys.argv) == 4:
        print(write(*sys.argv[1:]))
    else:
        sys.exit(__doc__.split("\n\n")[1])


if __name__ == "__main__":
    main()
