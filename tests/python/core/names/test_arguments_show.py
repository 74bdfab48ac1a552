"""Every keyword argument that changes a result in PyTorch changes it here.

An argument that is taken and ignored is a wrong number in silence. The calls of
`arguments_that_show.txt` were found by calling each public function, module,
optimizer and schedule with each of its keyword arguments and several values.
"""

from __future__ import annotations

import pathlib
import warnings

import pytest

import hotaru as torch
from hotaru import nn

_FILE = pathlib.Path(__file__).with_name("arguments_that_show.txt")
ROWS = [
    line
    for line in _FILE.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def seq(n, *shape, k=0.37, c=0.0):
    t = torch.arange(n, dtype=torch.float64)
    return ((t * k + c).sin() * 1.3 + 0.05 * t.cos()).reshape(*shape).float()


def tensors() -> dict:
    """New ones for each call: some write to them."""
    x, y, s = seq(12, 3, 4), seq(12, 3, 4, k=0.73, c=1), seq(16, 4, 4)
    eye = torch.eye(4)
    numbers = {
        "L": [0, 2, 1],
        "L2": [[0, 2, 1, 3], [1, 0, 3, 2], [3, 3, 0, 1]],
        "ONE": [1.0, -1.0, 1.0],
        "N": [3, 1, 2, 2, 0, 3],
        "B4": [True, False, True, True],
        "A0": 0.7,
        "D4": [0.1, 0.5, 0.6, 2.0],
        "N4": [2, 0, 1, 1],
    }
    shaped = {
        "V": (4, {"c": 0.3}),
        "W": (4, {"k": 0.9}),
        "V3": (3, {"c": 0.3}),
        "V12": (12, {}),
        "Z": (3, 4, {"k": 1.7, "c": 2}),
        "IMG": (2, 3, 8, 8, {}),
        "SIG": (2, 3, 16, {}),
        "VOL": (2, 3, 6, 6, 6, {}),
        "I3": (3, 8, 8, {}),
        "IMG4": (2, 4, 8, 8, {}),
        "SIG4": (2, 4, 16, {}),
        "VOL4": (2, 4, 6, 6, 6, {}),
        "K2": (4, 3, 3, 3, {"k": 0.5}),
        "K1": (4, 3, 3, {"k": 0.5}),
        "K3": (4, 3, 2, 2, 2, {"k": 0.5}),
        "T2": (3, 4, 3, 3, {"k": 0.5}),
        "T1": (3, 4, 3, {"k": 0.5}),
        "T3": (3, 4, 2, 2, 2, {"k": 0.5}),
        "SEQ": (5, 2, 4, {}),
        "Q": (2, 2, 5, 8, {}),
        "KK": (2, 2, 5, 8, {"k": 0.6}),
        "TH": (2, 2, 3, {}),
        "W5": (5, 4, {"k": 0.8}),
    }
    made = {name: torch.tensor(value) for name, value in numbers.items()}
    for name, (*shape, how) in shaped.items():
        made[name] = seq(torch.Size(shape).numel(), *shape, **how)
    return made | {
        "X": x,
        "Y": y,
        "P": x.abs() + 0.1,
        "U": x.sigmoid(),
        "PV": made["V3"].abs() + 0.1,
        "PV4": made["V"].abs() + 0.1,
        "S": s @ s.T + eye,
        "M": seq(16, 4, 4, k=0.7) + 2 * eye,
        "GRID": seq(100, 2, 5, 5, 2, k=0.2) * 0.9,
        "NS": -x.abs() - 0.1,
        "PM": y.sign(),
        "B": x > 0,
        "C": torch.complex(x, y),
        "D": x.double(),
    }


def module(made: nn.Module, *inputs) -> list:
    """All that a module shows: names, results in both modes, buffers."""
    with torch.no_grad():
        for i, p in enumerate(made.parameters()):
            p.copy_(seq(p.numel(), *p.shape, k=0.31, c=i))
    state = [(k, v.shape, v.dtype) for k, v in made.state_dict().items()]
    torch.manual_seed(0)
    first = made(*inputs)
    buffers = [v.clone() for v in made.buffers()]
    made.eval()
    torch.manual_seed(0)
    return [state, first, made(*inputs), buffers]


def optimise(make) -> list:
    """Parameters after some steps."""
    ps = [seq(6, 2, 3).requires_grad_(), seq(16, 4, 4, k=0.5).requires_grad_()]
    optimizer = make(ps)
    for step in range(4):

        def closure(scale=1 + step * 0.3):
            parts = [(((p - 0.3) * scale) ** 2).sum() + p.sin().sum() for p in ps]
            optimizer.zero_grad()
            loss = sum(parts)
            loss.backward()
            return loss

        optimizer.step(closure)
    return ps


def schedule(make) -> list:
    """Rates of some steps."""
    p = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.9)
    schedule = make(optimizer)
    losses = [1.0, 0.9, 0.95, 0.95, 0.95, 0.949, 0.95, 0.95, 0.95]
    by_loss = isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau)
    found = []
    for loss in losses:
        optimizer.step()
        schedule.step(*([loss] if by_loss else []))
        group = optimizer.param_groups[0]
        found.append((group["lr"], group["momentum"]))
    return found


def told(value):
    """Everything that a result shows, as lists and numbers."""
    if isinstance(value, torch.Tensor):
        facts = [value.dtype, value.shape, value.requires_grad, value.layout]
        facts.append(value.device.type)
        if value.is_meta:
            return [*facts, value.stride()]
        dense = value.detach()
        if value.layout is torch.strided:
            facts.append(value.stride())
        else:
            dense = dense.to_dense()
        return [*facts, repr(dense.tolist())]
    if isinstance(value, (tuple, list)):
        return [told(v) for v in value]
    return value


def call(text: str):
    space = tensors()
    torch.manual_seed(0)
    places = {
        "torch": torch,
        "nn": nn,
        "F": nn.functional,
        "G": lambda: torch.Generator().manual_seed(7),
        "module": module,
        "optimise": optimise,
        "schedule": schedule,
        **space,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return told(eval(text, places)), told(list(space.values()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.partition(" | ")[0])
def test_each_argument_shows(row):
    base, *arguments = row.split(" | ")
    plain = call(base.replace("@", ""))
    assert call(base.replace("@", "")) == plain
    head, _, tail = base.partition("@")
    comma = "" if head.endswith("(") else ", "
    for argument in arguments:
        found = call(f"{head}{comma}{argument}{tail}")
        assert found != plain, f"{argument} changes nothing"


def test_there_are_as_many_as_were_found():
    """The file is whole: an empty one would hold nothing."""
    arguments = sum(row.count(" | ") for row in ROWS)
    assert arguments >= 1000
