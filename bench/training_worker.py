"""Trains networks in one way; bench/training.py starts a process for each.

    training_worker.py THREADS    with TRAINING_WAY: "eager", "graph" or
                                  "compile"; TRAINING_BFLOAT16=1: autocast

Answers to {"task": name, "seconds": s}: the median seconds of a step;
{"losses": name, "steps": n}: the losses of the first steps; {"peak": name}: the
bytes that training takes at most, in a process that did nothing else; {"drop":
name}: forgets it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import training_list
from measured import measure, serve

WAY = os.environ["TRAINING_WAY"]
BFLOAT16 = os.environ.get("TRAINING_BFLOAT16") == "1"
# Options of hotaru's graphs; PyTorch compiles the model.
OPTIONS = json.loads(os.environ.get("TRAINING_OPTIONS", "{}"))


def precision():
    if BFLOAT16:
        return torch.autocast("cpu", dtype=torch.bfloat16)
    return contextlib.nullcontext()


def make(name):
    """A function without arguments that trains once and gives the loss."""
    model, loss_of, optimizer, inputs = training_list.make(name)
    called = torch.compile(model) if WAY == "compile" else model

    def step(*inputs):
        optimizer.zero_grad()
        with precision():
            loss = loss_of(called, *inputs)
        loss.backward()
        optimizer.step()
        return loss

    if WAY == "graph":
        step = torch.compile(step, fullgraph=True, options=OPTIONS)
    return lambda: step(*inputs)


def resident(what="VmRSS"):
    """Bytes of memory that the process has, or had at most (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"no {what}")


def peak_of(name):
    """Bytes of the fourth step at most, beyond those before the model."""
    warm = torch.nn.Linear(8, 8)
    warm(torch.randn(4, 8)).sum().backward()
    before = resident()
    step = make(name)
    for _ in range(3):
        step()
    Path("/proc/self/clear_refs").write_text("5")
    step()
    return resident("VmHWM") - before


def answer(request, ready):
    if "drop" in request:
        ready.pop(request["drop"], None)
        return {}
    if "peak" in request:
        return {"bytes": peak_of(request["peak"])}
    if "losses" in request:
        step = make(request["losses"])
        return {"losses": [step().item() for _ in range(request["steps"])]}
    name = request["task"]
    if name not in ready:
        ready[name] = make(name)
        for _ in range(3):  # what is compiled, is now
            ready[name]()
    return {"seconds": measure(ready[name], request["seconds"])}


def main() -> None:
    torch.set_num_threads(int(sys.argv[1]))
    ready: dict = {}
    tasks = list(training_list.NETWORKS)
    hello = {"version": torch.__version__, "tasks": tasks}
    serve(hello, lambda request: answer(request, ready))


if __name__ == "__main__":
    main()
