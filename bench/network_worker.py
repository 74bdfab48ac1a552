"""Runs networks in one way; bench/networks.py starts a process for each.

    network_worker.py THREADS     with NETWORK_RUNTIME: a key of RUNTIMES;
                                  NETWORK_FOLDER: where the ONNX files are

Answers to {"task": name, "seconds": s}: the median seconds of a call, after a
first one; {"result": name, "to": path}: writes what the network gives;
{"drop": name}: forgets it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy

RUNTIME = os.environ["NETWORK_RUNTIME"]
FOLDER = Path(os.environ["NETWORK_FOLDER"])
THREADS = int(sys.argv[1])
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measured import measure, serve  # noqa: E402


def given(name):
    """The network's arguments as arrays."""
    with numpy.load(FOLDER / f"{name}.npz") as file:
        return list(file.values())


def arrays(result):
    """Tensors of a result as arrays."""
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [numpy.asarray(part.detach().float().numpy()) for part in parts]


class Hotaru:
    """compile(): a captured graph. Files where the network is another's."""

    def __init__(self, bfloat16):
        import network_list

        import hotaru

        self.hotaru, self.list = hotaru, network_list
        self.version = hotaru.__version__
        hotaru.set_num_threads(THREADS)
        hotaru.set_grad_enabled(False)
        self.precision_asked = "bf16" if bfloat16 else "ieee"

    def load(self, name):
        settings = self.hotaru.backends.mkldnn
        settings.fp32_precision = "ieee"  # making one may compute its weights
        if name in self.list.OWN:
            model = self.list.make(name)[0]
        else:
            model = self.hotaru.onnx.load(FOLDER / f"{name}.onnx").eval()
        settings.fp32_precision = self.precision_asked
        model = self.hotaru.compile(model, fullgraph=True)
        inputs = [self.hotaru.from_numpy(one) for one in given(name)]
        return lambda: model(*inputs)

    def results(self, run):
        return arrays(run())


class PyTorch:
    """Eager, or compiled by inductor with the weights as constants."""

    def __init__(self, compiled, autocast=False):
        import network_list
        import torch

        self.torch, self.list, self.compiled = torch, network_list, compiled
        self.lower = torch.autocast("cpu", torch.bfloat16, enabled=autocast)
        self.version = torch.__version__
        torch.set_num_threads(THREADS)
        torch.set_grad_enabled(False)

    def load(self, name):
        model = self.list.make(name)[0]
        if self.compiled:
            import torch._inductor.config as settings

            settings.freezing = True
            self.torch._dynamo.reset()
            model = self.torch.compile(model, fullgraph=True)
        inputs = [self.torch.from_numpy(one) for one in given(name)]

        def run():
            with self.lower:
                return model(*inputs)

        return run

    def results(self, run):
        return arrays(run())


class OnnxRuntime:
    def __init__(self):
        import onnxruntime

        self.runtime = onnxruntime
        self.version = onnxruntime.__version__

    def load(self, name):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        session = self.runtime.InferenceSession(
            str(FOLDER / f"{name}.onnx"), options, providers=["CPUExecutionProvider"]
        )
        names = [one.name for one in session.get_inputs()]
        feed = dict(zip(names, given(name)))
        return lambda: session.run(None, feed)

    def results(self, run):
        return run()


class OpenVino:
    """In float32, or in what it takes by itself on this processor."""

    def __init__(self, float32):
        import openvino

        self.core = openvino.Core()
        self.version = openvino.__version__.partition("-")[0]
        self.options = {
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": THREADS,
            "NUM_STREAMS": "1",
            "ENABLE_CPU_PINNING": False,
        }
        if float32:
            self.options["INFERENCE_PRECISION_HINT"] = "f32"
        else:
            self.options["EXECUTION_MODE_HINT"] = "PERFORMANCE"

    def load(self, name):
        path = FOLDER / f"{name}.onnx"
        model = self.core.compile_model(path, "CPU", self.options)
        taken = model.get_property("INFERENCE_PRECISION_HINT")
        self.precision = taken.get_type_name()
        request = model.create_infer_request()
        feed = dict(enumerate(given(name)))

        def run():
            request.infer(feed, share_inputs=True)
            return request

        return run

    def results(self, run):
        outputs = run().model_outputs
        return [run().get_tensor(one).data.copy() for one in outputs]


RUNTIMES = {
    "hotaru": lambda: Hotaru(False),
    "hotaru bfloat16": lambda: Hotaru(True),
    "eager": lambda: PyTorch(False),
    "compile": lambda: PyTorch(True),
    "autocast": lambda: PyTorch(False, True),
    "onnxruntime": OnnxRuntime,
    "openvino": lambda: OpenVino(True),
    "openvino own": lambda: OpenVino(False),
}


def answer(request, runtime, ready):
    if "drop" in request:
        ready.pop(request["drop"], None)
        return {}
    name = request.get("task") or request["result"]
    if name not in ready:
        ready[name] = runtime.load(name)
        ready[name]()
    if "result" in request:
        made = runtime.results(ready[name])
        numpy.savez(request["to"], *map(numpy.asarray, made))
        return {"precision": getattr(runtime, "precision", None)}
    return {"seconds": measure(ready[name], request["seconds"])}


def main() -> None:
    runtime = RUNTIMES[RUNTIME]()
    ready: dict = {}
    hello = {"version": runtime.version, "tasks": []}
    serve(hello, lambda request: answer(request, runtime, ready))


if __name__ == "__main__":
    main()
