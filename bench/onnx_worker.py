"""Runs ONNX files in one runtime; bench/onnx_networks.py starts one for each.

    onnx_worker.py THREADS     with ONNX_RUNTIME: hotaru, native (the network
                               built from hotaru.nn), onnxruntime;
                               ONNX_FOLDER: where the files are;
                               ONNX_CLOCK: wall or cpu

Requests and answers as bench/worker.py's, and {"start": task}: the seconds of
loading the file and of the first call.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path

RUNTIME = os.environ["ONNX_RUNTIME"]
FOLDER = Path(os.environ["ONNX_FOLDER"])
THREADS = int(sys.argv[1])
# A process's own time says more on a machine that others use.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
clock = CLOCKS[os.environ["ONNX_CLOCK"]]
sys.path.insert(0, str(Path(__file__).resolve().parent))


class OnnxRuntime:
    """The same files and arguments in ONNX Runtime."""

    def __init__(self):
        import numpy
        import onnxruntime

        self.numpy, self.runtime = numpy, onnxruntime
        self.version = onnxruntime.__version__

    def arguments(self, stem):
        return list(self.numpy.load(FOLDER / f"{stem}.npz").values())

    def load(self, stem):
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        session = self.runtime.InferenceSession(
            str(FOLDER / f"{stem}.onnx"), options, providers=["CPUExecutionProvider"]
        )
        names = [one.name for one in session.get_inputs()]
        return lambda *given: session.run(None, dict(zip(names, given)))


class Hotaru:
    """A file through `compile(onnx.load(path))`, or the network natively."""

    def __init__(self, native):
        import numpy

        import hotaru

        self.numpy, self.hotaru, self.native = numpy, hotaru, native
        self.version = hotaru.__version__
        hotaru.set_num_threads(THREADS)
        hotaru.set_grad_enabled(False)

    def arguments(self, stem):
        with self.numpy.load(FOLDER / f"{stem}.npz") as file:
            return [self.hotaru.from_numpy(one) for one in file.values()]

    def network(self, stem):
        if not self.native:
            return self.hotaru.onnx.load(FOLDER / f"{stem}.onnx").eval()
        import onnx_models

        names = {onnx_models.stem(name): name for name in onnx_models.MODELS}
        return onnx_models.make(names[stem])[0]

    def load(self, stem):
        return self.hotaru.compile(self.network(stem), fullgraph=True)

    def kernels(self, stem):
        """Names of the kernels that a graph of the network runs."""
        graph = self.hotaru.cpu.Graph()
        network, arguments = self.network(stem), self.arguments(stem)
        with self.hotaru.cpu.graph(graph):
            kept = network(*arguments)  # what nobody has is left out
        names = [name for name, _ in graph._nodes()]
        del kept
        return names


class Task:
    """A network that is loaded and was called."""

    def __init__(self, runtime, stem):
        self.given = runtime.arguments(stem)
        begin = clock()
        self.run = runtime.load(stem)
        loaded = clock()
        self.run(*self.given)
        self.start = [loaded - begin, clock() - loaded]
        self.loops = max(1, round(2e-4 / min(self.once(), self.once())))

    def once(self):
        begin = clock()
        self.run(*self.given)
        return clock() - begin

    def measure(self, seconds):
        """Median seconds of a call, after one that warms the caches."""
        self.once()
        samples, left = [], seconds
        while left > 0 or len(samples) < 2:
            begin = clock()
            for _ in range(self.loops):
                self.run(*self.given)
            taken = clock() - begin
            samples.append(taken / self.loops)
            left -= taken
        return statistics.median(samples)


def answer(request, runtime, tasks):
    if "kernels" in request:
        return {"kernels": runtime.kernels(request["kernels"])}
    if "start" in request:
        return {"start": Task(runtime, request["start"]).start}
    name = request["task"]
    if name not in tasks:
        tasks[name] = Task(runtime, name)
    return {"seconds": tasks[name].measure(request["seconds"])}


def main() -> None:
    runtime = OnnxRuntime() if RUNTIME == "onnxruntime" else Hotaru(RUNTIME == "native")
    names = sorted(path.stem for path in FOLDER.glob("*.onnx"))
    hello = {"version": runtime.version, "tasks": names}
    print(json.dumps(hello), flush=True)
    tasks: dict[str, Task] = {}
    for line in sys.stdin:
        try:
            result = answer(json.loads(line), runtime, tasks)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
