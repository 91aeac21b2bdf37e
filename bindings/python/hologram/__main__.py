"""python -m hologram: the program `hologram`."""

import sys

from . import _hologram


def main():
    sys.stdout.flush()
    return _hologram.cli(["hologram"] + sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
