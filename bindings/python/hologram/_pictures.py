"""Pictures of texts."""

import os

from . import _hologram
from ._hologram import ArgumentError, PictureWork, UnsupportedError, capi


class Picture:
    """A picture that a model makes of a text, step by step: made by Model.imagine. Iterate over it: each step gives its number, from 1 on.
    `image()` takes the steps that are left.

        picture = model.imagine("a red fox")
        for step in picture:
            print(step, "of", picture.steps)
        picture.save("fox.png")
    """

    def __init__(self, model, prompt, negative=None, scheduler=None, threads=None, **options):
        settings = _hologram.imagine_defaults(model)
        if settings is None:
            raise UnsupportedError("the model makes no pictures: it needs the parts unet, text_encoder and vae_decoder, and a tokenizer")
        pool = None if threads is None else capi.holo_pool_create(threads)
        given = {name: value for name, value in options.items() if value is not None}
        self._work, self._image = PictureWork._create(model, pool, prompt, negative, scheduler, given), None
        self.steps, self.step, self.done = given.get("steps", settings["steps"]), 0, False

    def __iter__(self):
        return self

    def __next__(self):
        if self.done:
            raise StopIteration
        self.done = self._work.step()
        self.step += 1
        return self.step

    def preview(self):
        """The picture so far: an array of uint8, [height, width, 3]."""
        return self._work.see() if self._image is None else self._image

    def image(self):
        """The picture: an array of uint8, [height, width, 3], red, green and blue."""
        for _ in self:
            pass
        if self._image is None:
            self._image = self._work.see()
        return self._image

    def save(self, path):
        """Writes the picture as a PNG file."""
        path = os.fsdecode(path)
        if os.path.splitext(path)[1].lower() != ".png":
            raise ArgumentError(f"{path}: a picture is written as a PNG file, so its name must end with .png")
        capi.holo_image_write_png(path, self.image())

    def close(self):
        """Frees it. A picture that is done stays."""
        self._work.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
