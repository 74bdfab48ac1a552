"""Measures tasks in one library; bench/compare.py starts one per library.

Written against `torch`: `python -m hotaru bench/worker.py` measures hotaru with
the same lines. Reads one JSON request a line from stdin and answers each with
one line on stdout.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import sys
import timeit
import wave
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))

import networks  # noqa: E402

RECORDING = Path(
    "/usr/share/pocketsphinx/test/data/librivox/"
    "sense_and_sensibility_01_austen_64kb-0890.wav"
)
# A sample is this long at least, so that the clock's own cost vanishes.
SAMPLE_SECONDS = 2e-4


def silero():
    """A 512-sample chunk of a real recording; the state goes on and on."""
    model = torch.jit.load(os.environ["HOTARU_SILERO"]).eval()
    with wave.open(str(RECORDING)) as file:
        sound = bytearray(file.readframes(file.getnframes()))
    samples = torch.frombuffer(sound, dtype=torch.int16) / 32768
    chunks = [chunk.unsqueeze(0) for chunk in samples.split(512)]
    chunks = itertools.cycle(chunk for chunk in chunks if chunk.shape[1] == 512)
    return "model(next(chunks), 16000)", {"model": model, "chunks": chunks}


def add(*shape):
    def make():
        return "a + b", {"a": torch.randn(shape), "b": torch.randn(shape)}

    return make


def network(name):
    def make():
        model, x = networks.make(name)
        return "network(x)", {"network": model, "x": x}

    return make


def lstm_cell():
    """One step of an LSTMCell with 128 inputs and 128 hidden values."""
    cell = torch.nn.LSTMCell(128, 128)
    x, h, c = (torch.randn(1, 128) for _ in range(3))
    return "cell(x, (h, c))", {"cell": cell, "x": x, "h": h, "c": c}


def lstm_layer():
    """The same step through nn.LSTM: a sequence of length one."""
    layer = torch.nn.LSTM(128, 128)
    x, h, c = (torch.randn(1, 1, 128) for _ in range(3))
    return "layer(x, (h, c))", {"layer": layer, "x": x, "h": h, "c": c}


def matmul(size):
    def make():
        a, b = torch.randn(size, size), torch.randn(size, size)
        return "a @ b", {"a": a, "b": b}

    return make


TASKS = {
    "silero chunk": silero,
    "add 4": add(4),
    "add 1000x1000": add(1000, 1000),
    "MLP, batch 1": network("MLP"),
    "CNN, batch 1": network("CNN"),
    "RNN, batch 1": network("RNN"),
    "LSTMCell(128) step": lstm_cell,
    "LSTM(128) step": lstm_layer,
    "matmul 64": matmul(64),
    "matmul 256": matmul(256),
    "matmul 512": matmul(512),
    "matmul 1024": matmul(1024),
}


class Task:
    """A statement to time, warmed up and with the loops a sample needs."""

    def __init__(self, make):
        statement, names = make()
        self.timer = timeit.Timer(statement, globals=names)
        # Compilers that profile first (TorchScript's) settle in these calls.
        self.timer.timeit(20)
        once = self.timer.timeit(20) / 20
        self.loops = max(1, round(SAMPLE_SECONDS / once))

    def measure(self, seconds: float) -> float:
        """Median seconds a call takes, over about `seconds` of samples."""
        self.timer.timeit(self.loops)
        samples = []
        left = seconds
        while left > 0 or len(samples) < 3:
            taken = self.timer.timeit(self.loops)
            samples.append(taken / self.loops)
            left -= taken
        return statistics.median(samples)


def answer(request: dict, tasks: dict[str, Task]) -> dict:
    name = request["task"]
    if name not in tasks:
        tasks[name] = Task(TASKS[name])
    return {"seconds": tasks[name].measure(request["seconds"])}


def statements(names: dict, codes: list[str]) -> None:
    """Answers with statements in the place of tasks, all over one namespace."""
    TASKS.clear()
    for code in codes:
        TASKS[code] = lambda code=code: (code, names)
    main()


def main() -> None:
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_grad_enabled(False)
    torch.manual_seed(0)
    print(json.dumps({"version": torch.__version__, "tasks": list(TASKS)}), flush=True)
    tasks: dict[str, Task] = {}
    for line in sys.stdin:
        try:
            result = answer(json.loads(line), tasks)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
