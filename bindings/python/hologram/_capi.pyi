# hologram.capi: the functions of the C library by their names in C, made from include/hologram.json.
from typing import Any

def __getattr__(name: str) -> Any: ...
