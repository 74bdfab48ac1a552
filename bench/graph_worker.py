"""Measures models in one runtime; bench/graphs.py starts one per runtime.

    graph_worker.py THREADS     with GRAPH_RUNTIME: eager, graph (hotaru),
                                script, compile (PyTorch), onnx (ONNX Runtime)

Requests and answers as bench/worker.py's.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import models
import worker

RUNTIME = os.environ["GRAPH_RUNTIME"]
THREADS = int(sys.argv[1])
SILERO = "Silero VAD chunk"


def silero(runtime):
    """A 512-sample chunk of a real recording; the state goes on and on."""
    statement, names = worker.silero()
    if runtime == "onnx":
        return onnx_silero(names["chunks"])
    if runtime == "graph":
        names["model"] = torch.graphs.make_graphed_callables(names["model"])
    return statement, names


def onnx_silero(chunks):
    """The package's own ONNX file, fed as its Python wrapper does."""
    import numpy as np

    session = onnx_session(os.environ["SILERO_ONNX"])
    state = np.zeros((2, 1, 128), np.float32)
    inputs = {"sr": np.array(16000, np.int64), "state": state}
    context = np.zeros((1, 64), np.float32)
    sound = [chunk.numpy() for chunk in (next(chunks) for _ in range(50))]
    turn = iter(range(10**9))

    def step():
        nonlocal context
        chunk = sound[next(turn) % len(sound)]
        inputs["input"] = np.concatenate([context, chunk], axis=1)
        out, inputs["state"] = session.run(None, inputs)
        context = inputs["input"][:, -64:]
        return out

    return "step()", {"step": step}


def onnx_session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"]
    )


def onnx(model, arguments):
    """The model through PyTorch's exporter, fed with numpy arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with contextlib.redirect_stdout(sys.stderr):
            torch.onnx.export(model, arguments, path, dynamo=True)
        session = onnx_session(path)
    names = [i.name for i in session.get_inputs()]
    feed = dict(zip(names, (a.numpy() for a in arguments)))
    return "run(None, feed)", {"run": session.run, "feed": feed}


def network(name):
    model, arguments = models.make(name)
    if RUNTIME == "onnx":
        return onnx(model, arguments)
    if RUNTIME == "graph":
        model = torch.graphs.make_graphed_callables(model, arguments)
    elif RUNTIME == "script":
        model = torch.jit.freeze(torch.jit.trace(model, arguments))
    elif RUNTIME == "compile":
        model = torch.compile(model)
    names = [f"x{i}" for i in range(len(arguments))]
    statement = f"model({', '.join(names)})"
    return statement, {"model": model, **dict(zip(names, arguments))}


def tasks():
    made = {name: (lambda name=name: network(name)) for name in models.MODELS}
    made[SILERO] = lambda: silero(RUNTIME)
    return made


def main() -> None:
    worker.TASKS.clear()
    worker.TASKS.update(tasks())
    if RUNTIME == "compile":
        del worker.TASKS[SILERO]  # is TorchScript
    worker.main()


if __name__ == "__main__":
    main()
