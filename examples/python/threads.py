"""One model, many threads: runs of all of them at once, and the same with asyncio.

usage: threads.py MODEL.onnx
"""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor

import hologram

model = hologram.open(sys.argv[1], threads=1)  # each run on its caller's thread
requests = [model.make_inputs({"batch": 2}, seed) for seed in range(100)]

with ThreadPoolExecutor(4) as pool:
    answers = list(pool.map(model.run, requests))


async def ask_all():
    return await asyncio.gather(*(model.run_async(request) for request in requests))


again = asyncio.run(ask_all())
name = model.outputs[0].name
same = sum(a[name].tolist() == b[name].tolist() for a, b in zip(answers, again))
print(f"{same} of {len(requests)} answers are the same")
