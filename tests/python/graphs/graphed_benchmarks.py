"""Runs the networks of bench/models.py eager and graphed, all passes on.

    python -m hotaru graphed_benchmarks.py

Prints a JSON list: name, largest difference of the results in evaluation and of
20 losses in training, each over its scale. Run by test_graphed_models.py.
"""

import copy
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))

import models

STEPS = 20


def first(out):
    return out[0] if isinstance(out, tuple) else out


def error(got, want):
    return float((got - want).abs().max() / want.abs().max().clamp(min=1e-6))


def norms(model):
    kind = torch.nn.BatchNorm2d
    return [m for m in model.modules() if isinstance(m, kind)]


def settle(model, inputs):
    """Gives norms the statistics of what they see: values keep their size."""
    if not norms(model):
        return
    for norm in norms(model):
        norm.momentum = 1.0
    with torch.no_grad():
        model.train()(*[torch.randn(4, *x.shape[1:]) for x in inputs])
    model.eval()


def inference(model, inputs):
    """Over three calls with other values each."""
    settle(model, inputs)
    fast = torch.cpu.make_graphed_callables(copy.deepcopy(model))
    worst = 0.0
    with torch.no_grad():
        for _ in range(3):
            for x in inputs:
                x.normal_()
            worst = max(worst, error(first(fast(*inputs)), first(model(*inputs))))
    return worst


def losses(call, params, inputs):
    torch.manual_seed(5)
    optimizer = torch.optim.SGD(params, 1e-3)
    out = []
    for _ in range(STEPS):
        given = [torch.randn_like(x) for x in inputs]
        optimizer.zero_grad()
        loss = first(call(*given)).square().mean()
        loss.backward()
        optimizer.step()
        out.append(loss.item())
    return torch.tensor(out)


def training(model, inputs):
    # Batch norm of one picture with one position has no variance.
    if norms(model):
        inputs = [torch.cat([x, x + 1]) for x in inputs]
    model.train()
    net = copy.deepcopy(model)
    fast = torch.cpu.make_graphed_callables(net)
    want = losses(model, model.parameters(), inputs)
    got = losses(fast, net.parameters(), inputs)
    return error(got, want)


def main():
    report = []
    for name in models.MODELS:
        model, inputs = models.make(name)
        report.append([name, inference(model, inputs), training(model, inputs)])
    print(json.dumps(report))


if __name__ == "__main__":
    main()
