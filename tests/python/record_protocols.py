"""Records what PyTorch sends to the protocols of classes and modes.

    python tests/python/record_protocols.py

Needs PyTorch 2.13 (CPU), pytest and expecttest; rewrites
tests/python/golden/protocol_calls.txt. Forms are those of PyTorch's own samples
(`op_db`), a few for each function, and those of golden/protocol_forms.txt:
operators, attributes, indexing, functions of networks.
"""

from __future__ import annotations

import gc
import json
import warnings
from collections import Counter
from pathlib import Path

import conftest  # noqa: F401  (finds the folders)
import torch
from protocol_calls import Coder, Watchers, find, kind, names_of, sent
from torch.overrides import TorchFunctionMode, resolve_name

GOLDEN = Path(__file__).with_name("golden")
TARGET, FORMS = GOLDEN / "protocol_calls.txt", GOLDEN / "protocol_forms.txt"
# Samples that are looked at, and forms of a function, those with `out` apart.
MOST_SAMPLES, MOST_FORMS = 12, 3
# Dtypes of samples, the first that an operator knows.
_PREFERRED = (torch.float32, torch.int64, torch.bool, torch.complex64)


def _dtype(op):
    known = op.supported_dtypes("cpu")
    return next((d for d in _PREFERRED if d in known), None)


def _names() -> dict:
    """Public names by the identity of functions, the best first."""
    places = [
        ("torch", torch),
        ("torch.nn.functional", torch.nn.functional),
        ("torch.linalg", torch.linalg),
        ("torch.fft", torch.fft),
        ("torch.special", torch.special),
        ("torch.Tensor", torch.Tensor),
    ]
    found = {}
    for place, holder in places:
        for name in dir(holder):
            value = getattr(holder, name, None)
            plain = not name.startswith("_") or place == "torch.Tensor"
            if plain and callable(value):
                found.setdefault(id(value), f"{place}.{name}")
    return found


class _Capture(TorchFunctionMode):
    """Notes calls of public functions, before they run."""

    def __init__(self, names: dict) -> None:
        super().__init__()
        self.names, self.calls = names, []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = self.names.get(id(func)) or resolve_name(func)
        if name and not name.endswith(("__get__", "__set__")):
            self.calls.append((name, args, kwargs, _forms(args, kwargs)))
        return func(*args, **kwargs)


def _forms(args, kwargs):
    code = Coder(torch)
    found = []
    for exact in (False, True):
        try:
            found.append(
                (
                    code.encode(list(args), exact),
                    {k: code.encode(v, exact) for k, v in kwargs.items()},
                )
            )
        except TypeError:
            continue
    return found


def _signature(args, kwargs) -> str:
    """Which forms are alike: kinds of arguments and dimensions of tensors."""

    def one(value):
        if isinstance(value, torch.Tensor):
            return f"{value.dim()}{str(value.dtype)[6:8]}"
        if isinstance(value, (list, tuple)):
            return f"[{','.join(map(one, value))}]"
        return str(value) if isinstance(value, bool) else kind(torch, value)

    return str([one(a) for a in args]) + str(
        sorted((k, one(v)) for k, v in kwargs.items())
    )


def _variants(op, sample):
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    yield op.op, args, kwargs
    for form in (
        op.get_method(),
        op.get_inplace(),
        op.get_operator(),
        op.get_inplace_operator(),
    ):
        if form is not None and isinstance(sample.input, torch.Tensor):
            yield form, args, kwargs
    for alias in op.aliases:
        yield alias.op, args, kwargs
    if op.supports_out:
        try:
            result = op.op(*args, **kwargs)
        except Exception:
            return
        yield op.op, args, {**kwargs, "out": result}


def _copy(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(map(_copy, value))
    if isinstance(value, tuple):
        return tuple(map(_copy, value))
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return value


class _Recorder:
    def __init__(self) -> None:
        self.watchers = Watchers(torch)
        self.names = _names()
        self.known: set = set()
        self.counts: Counter = Counter()
        self.forms: set[str] = set()
        self.left: Counter = Counter()

    def add(self, name, forms, key) -> None:
        group = name, "out" in key
        if (name, key) in self.known or self.counts[group] >= MOST_FORMS:
            return
        self.known.add((name, key))
        for args, kwargs in forms:
            form = [name, args, kwargs]
            if self._runs(form):
                self.forms.add(json.dumps(form))
                self.counts[group] += 1
                return
        self.left[name] += 1

    def _runs(self, form) -> bool:
        name, args, kwargs = form
        code = Coder(torch)
        try:
            find(torch, name)(
                *code.decode(args), **{k: code.decode(v) for k, v in kwargs.items()}
            )
        except Exception:
            return False
        return True

    def samples(self, op) -> None:
        dtype = _dtype(op)
        if dtype is None:
            return
        given = op.sample_inputs("cpu", dtype, requires_grad=False)
        for index, sample in enumerate(given):
            if index == MOST_SAMPLES:
                break
            for function, args, kwargs in _variants(op, sample):
                capture = _Capture(self.names)
                args, kwargs = _copy(list(args)), _copy(dict(kwargs))
                try:
                    with capture:
                        function(*args, **kwargs)
                except Exception:
                    continue
                for name, a, k, forms in capture.calls:
                    self.add(name, forms, _signature(a, k))


def main() -> None:
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    recorder = _Recorder()
    for form in map(json.loads, FORMS.read_text().splitlines()):
        if not recorder._runs(form):
            print("does not run:", form)
            continue
        recorder.forms.add(json.dumps(form))
    for op in op_db:
        try:
            recorder.samples(op)
        except Exception as error:
            print(op.name, type(error).__name__, str(error)[:100])
    gc.collect()  # what samples left to end writes calls between
    with TARGET.open("w") as file:
        for form in sorted(recorder.forms):
            found = sent(recorder.watchers, json.loads(form))
            file.write("\t".join([form, *_short(found)]) + "\n")
    names = {json.loads(form)[0] for form in recorder.forms}
    print(
        len(recorder.forms),
        "forms of",
        len(names),
        "names; left out:",
        sorted(n for n in recorder.left if n not in names),
    )


def _short(found: list[str]) -> list[str]:
    """A class is mostly sent what a mode is: then only that stands there."""
    function, sub, dispatch, wrapper, graph = found
    return [
        function,
        "=" if sub == function else sub,
        dispatch,
        "=" if wrapper == dispatch else wrapper,
        "=" if graph == names_of(dispatch) else graph,
    ]


if __name__ == "__main__":
    main()
