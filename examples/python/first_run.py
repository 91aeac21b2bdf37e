"""The first run: a model is compiled, opened, and reads a handwritten digit.

usage: first_run.py MODEL.onnx IMAGE.npy
"""

import os
import sys
import tempfile

import hologram

model_file, image_file = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    archive = os.path.join(folder, "model.holo")
    report = hologram.compile(model_file, archive)
    print(f"{report.nodes_before} nodes became {report.steps} steps; verified: {report.verified}")
    with hologram.open(archive) as model:
        image = hologram.read(image_file)
        scores = model(image).tolist()[0]
        print(f"it is a {scores.index(max(scores))}")
