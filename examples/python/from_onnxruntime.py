"""A program for ONNX Runtime: only its import says `hologram.`. Needs NumPy.

usage: from_onnxruntime.py MODEL.onnx
"""

import sys

import hologram.onnxruntime as ort
import numpy as np

options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
session = ort.InferenceSession(sys.argv[1], sess_options=options, providers=["CPUExecutionProvider"])
for port in session.get_inputs():
    print(port.name, port.type, port.shape)
shape = [d if isinstance(d, int) else 1 for d in session.get_inputs()[0].shape]
outputs = session.run(None, {session.get_inputs()[0].name: np.zeros(shape, np.float32)})
print([o.shape for o in outputs])
