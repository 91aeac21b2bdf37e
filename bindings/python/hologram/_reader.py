"""What models say of texts and pictures as a whole: vectors and labels."""

import os
from typing import NamedTuple, Optional

from . import _hologram, capi
from ._lists import _numpy


class Label(NamedTuple):
    """A label, and how sure the model is of it; str() of it is its name. `token` is what it is of, where a model labels tokens."""

    name: str
    id: int
    score: float
    token: Optional[str] = None

    def __str__(self):
        return self.name


class Reader:
    """A model that is run on one text or picture at a time."""

    def __init__(self, model, threads=None, max_length=None, pooling=None, normalize=None):
        pool = None if threads is None else capi.holo_pool_create(threads)
        if max_length is not None and max_length < 1:
            raise ValueError("max_length is a number of tokens, from 1 on")
        wish = 0 if normalize is None else 1 if normalize else -1
        self._handle = _hologram.reader_create(model, pool, max_length or 0, pooling, wish)
        self.sees = capi.holo_reader_sees(self._handle)

    def vectors(self, texts):
        vectors = [_hologram.reader_embed(self._handle, text) for text in texts]
        numpy = _numpy()
        if numpy is None:
            return vectors
        return numpy.stack([numpy.asarray(vector) for vector in vectors]) if vectors else numpy.zeros((0, 0), "float32")

    def labels(self, item, top):
        if self.sees:
            given = _hologram.reader_classify_picture(self._handle, os.fspath(item))
        else:
            given = _hologram.reader_classify(self._handle, item)
        if given and len(given[0]) == 2:
            return [Label(*label, token) for label, token in given]
        return [Label(*label) for label in given[:top]]
