"""Measures operators for bench/sweep.py, in the library that runs it."""

from __future__ import annotations

import re
import sys

import measured
import sweep_list
import torch

NAMES: dict = {}  # operands by size, plain and with gradients


def operands(size: str, gradient: bool) -> dict:
    """The operands of a size; with gradients the floats are leaves."""
    if (size, gradient) not in NAMES:
        names = sweep_list.operands(size)
        if gradient:
            names = {name: leaf(value) for name, value in names.items()}
        names |= {"torch": torch, "F": torch.nn.functional}
        NAMES[size, gradient] = names
    return NAMES[size, gradient]


def leaf(value):
    """A leaf of what can have a gradient."""
    if isinstance(value, list):
        return [leaf(one) for one in value]
    if value.is_floating_point() or value.is_complex():
        return value.detach().requires_grad_()
    return value


def requires_grad(value) -> bool:
    first = value[0] if isinstance(value, list) else value
    return isinstance(first, torch.Tensor) and first.requires_grad


def outputs(result) -> list:
    """The results that have a gradient."""
    if isinstance(result, torch.Tensor):
        result = [result]
    if not isinstance(result, (tuple, list)):
        return []
    return [y for y in result if isinstance(y, torch.Tensor) and y.grad_fn]


def forward(code, names):
    def run():
        eval(code, names)

    return run


def forward_and_backward(code, names, inputs):
    """A call and the gradients of all its inputs; None where none has one."""
    found = outputs(eval(code, names))
    if not found:
        return None
    wanted = []
    for name in inputs:
        value = names[name]
        wanted += value if isinstance(value, list) else [value]
    given = [torch.ones_like(y) for y in found]

    def run():
        ends = outputs(eval(code, names))
        torch.autograd.grad(ends, wanted, given, allow_unused=True)

    return run


def answer(request: dict) -> dict:
    """Seconds of a statement at a size, with or without gradients."""
    size, gradient = request["size"], request["gradient"]
    names, statement = operands(size, gradient), request["statement"]
    code = compile(statement, statement, "eval")
    torch.manual_seed(0)
    with torch.set_grad_enabled(gradient):
        if not gradient:
            return {
                "seconds": measured.measure(forward(code, names), request["seconds"])
            }
        inputs = [
            name
            for name in sorted(set(re.findall(r"\w+", statement)))
            if requires_grad(names.get(name))
        ]
        run = forward_and_backward(code, names, inputs)
        if run is None:
            return {"none": True}
        return {"seconds": measured.measure(run, request["seconds"])}


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[1]))
    torch.set_flush_denormal(True)
    measured.serve({"version": torch.__version__, "tasks": []}, answer)
