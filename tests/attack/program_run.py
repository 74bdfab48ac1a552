"""Runs random programs under one library, for whoever asks on a pipe.

    python program_run.py torch|hotaru

Reads a program a line, writes what came of it: for each step kind, dtype,
shape and values, at the end the gradients. PyTorch and hotaru run the same
file.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import sys
import warnings

LIMIT = 2000  # elements of a result; larger ones end a program


def made(lib, spec: dict, layout: str | None = None):
    """An input; `layout` instead of its own keeps the values."""
    dtype = getattr(lib, spec["dtype"])
    shape = spec["shape"]
    values = [float(v) for v in spec["values"]]
    base = lib.tensor(values, dtype=lib.float64).reshape(shape)
    if spec["dtype"] == "bool":
        base = base > 0
    elif dtype.is_complex:
        base = lib.complex(base, base.flip(0) if shape else -base)
    base = base.nan_to_num(0, 0, 0) if _whole(dtype) else base
    if spec["dtype"] == "uint8":
        base = base.abs()
    tensor = laid(lib, base.to(dtype), layout or spec["layout"])
    if spec["grad"] and (dtype.is_floating_point or dtype.is_complex):
        tensor.requires_grad_()
    return tensor


def _whole(dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex)


def laid(lib, plain, layout: str):
    """A leaf with the values in another arrangement of memory."""
    rank = plain.dim()
    if layout == "transposed" and rank > 1:
        return plain.transpose(0, -1).contiguous().transpose(0, -1)
    if layout == "permuted" and rank > 2:
        order = [*range(1, rank), 0]
        back = [order.index(d) for d in range(rank)]
        return plain.permute(order).contiguous().permute(back)
    if layout == "stepped" and rank:
        return (
            lib.stack([plain, plain], -1).reshape(-1)[::2].reshape(plain.shape)
            if not plain.numel()
            else lib.stack([plain, plain], -1)[..., 0]
        )
    if layout == "expanded" and rank and plain.shape[0]:
        return plain[:1].clone().expand(plain.shape)
    if layout == "offset" and rank:
        return lib.cat([plain[:1], plain])[plain[:1].shape[0] :]
    return plain.clone()


def described(value):
    """Plain data for a result."""
    kind = type(value).__module__.split(".")[0]
    if hasattr(value, "detach"):
        dtype = str(value.dtype).split(".")[-1]
        data = (
            value.detach().resolve_conj()
            if hasattr(value, "resolve_conj")
            else value.detach()
        )
        flat = data.reshape(-1)
        if dtype.startswith("complex"):
            flat = [part for v in flat.tolist() for part in (v.real, v.imag)]
        else:
            flat = flat.tolist()
        return [
            dtype,
            list(value.shape),
            [_number(v) for v in flat],
            bool(value.requires_grad),
        ]
    if isinstance(value, (tuple, list)):
        return [described(item) for item in value]
    if kind in ("torch", "hotaru"):
        return str(value).replace("hotaru.", "torch.")
    return _number(value) if isinstance(value, float) else repr(value)


def _number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def too_large(value) -> bool:
    if hasattr(value, "numel"):
        return value.numel() > LIMIT
    return isinstance(value, (tuple, list)) and any(map(too_large, value))


def run(lib, program: dict, layout: str | None = None, late: bool = False) -> list:
    """Outcomes of the steps, and the gradients."""
    scope = {"torch": lib, "F": lib.nn.functional}
    leaves = []
    for i, spec in enumerate(program["inputs"]):
        leaves.append(made(lib, spec, layout))
        # In-place steps meet something that is no leaf.
        scope[f"v{i}"] = leaves[-1] * 1 if spec["grad"] else leaves[-1]
    found = []
    for i, step in enumerate(program["steps"]):
        name = f"v{len(leaves) + i}"
        try:
            value = eval(step, scope)
            if too_large(value):
                break
            found.append(["ok", copied(value) if late else described(value)])
            if isinstance(value, (tuple, list)) and value:
                value = value[0]
            tensor = hasattr(value, "detach") and hasattr(value, "dim")
            scope[name] = value if tensor else scope["v0"]
        except Exception as error:
            found.append(["error", type(error).__name__, str(error)[:300]])
            scope[name] = scope["v0"]
    found.append(_gradients(lib, scope, leaves, program))
    if late:
        found[:-1] = [["ok", described(pair[1])] for pair in found[:-1]]
    return found


def copied(value):
    """A value that later writes do not reach."""
    if isinstance(value, (tuple, list)):
        return [copied(item) for item in value]
    return value.clone() if hasattr(value, "detach") else value


def _gradients(lib, scope: dict, leaves: list, program: dict) -> list:
    """Gradients of the weighted sum of all results that have any."""
    try:
        total = 0
        for name, value in list(scope.items()):
            if not name.startswith("v") or not value.requires_grad:
                continue
            if value.dtype.is_complex:
                value = lib.view_as_real(value)
            if not value.dtype.is_floating_point or too_large(value):
                continue
            weights = lib.arange(value.numel(), dtype=lib.float64) % 3 + 1
            total = total + (value.double().reshape(-1) * weights).sum()
        if not hasattr(total, "backward"):
            return ["ok", "no gradients"]
        total.backward()
        grads = [leaf.grad for leaf in leaves]
        return ["ok", [g if g is None else described(g) for g in grads]]
    except Exception as error:
        return ["error", type(error).__name__, str(error)[:300]]


def queued(lib, program: dict, late: bool) -> list:
    """The same on a queued stream; `late`: nobody looks before the end."""
    stream = lib.cpu.Stream()
    with lib.cpu.stream(stream):
        found = run(lib, program, None, late)
    # An error that was looked at is still the stream's.
    with contextlib.suppress(Exception):
        stream.synchronize()
    return found


def graphed(lib, program: dict) -> list | None:
    """The last value of the program captured and replayed on its inputs.

    None where it cannot be captured.
    """
    scope = {"torch": lib, "F": lib.nn.functional}
    leaves = [made(lib, {**spec, "grad": False}) for spec in program["inputs"]]
    count = len(leaves)

    def function(*args):
        names = {f"v{i}": arg * 1 for i, arg in enumerate(args)}
        results = []
        for i, step in enumerate(program["steps"]):
            try:
                value = eval(step, scope, names)
            except Exception as error:
                if "capturing" in str(error):
                    raise
                value = names["v0"]
            if isinstance(value, (tuple, list)) and value:
                value = value[0]
            if not hasattr(value, "dim"):
                value = names["v0"]
            names[f"v{count + i}"] = value
            # Results are what was there then, not after later writes.
            results.append(value * 1)
        return tuple(results)

    with lib.no_grad():
        want = [described(value) for value in function(*leaves)]
        if any(too_large(value) for value in function(*leaves)):
            return None
        try:
            call = lib.graphs.make_graphed_callables(function)
            got = [described(v) for _ in range(2) for v in call(*leaves)]
        except RuntimeError as error:
            if "capturing" in str(error) or "graph" in str(error).lower():
                return None
            return [["error", type(error).__name__, str(error)[:300]], want]
    return [got, want * 2]


def answer(lib, request: dict):
    """Does what one request asks for."""
    program = request["program"]
    if request["way"] == "queued":
        return queued(lib, program, request["late"])
    if request["way"] == "graphed":
        return graphed(lib, program)
    return run(lib, program, request.get("layout"))


def main() -> None:
    lib = importlib.import_module(sys.argv[1])
    lib.nn.functional, lib.linalg  # noqa: B018  (imported when asked for)
    warnings.simplefilter("ignore")
    lib.set_num_threads(1)
    for line in sys.stdin:
        print(json.dumps(answer(lib, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
