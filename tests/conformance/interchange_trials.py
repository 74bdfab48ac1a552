"""How a program goes into a file and comes out of it, on either side.

Each form is a way to write a module and to read it again; what comes out is
called twice, since PyTorch rewrites programs after their first call.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from pathlib import Path

from module_trials import call, loaded
from plain import decoder


def scripted(torch, module, args, kwargs):
    """Scripts a function itself where a module only holds it."""
    return torch.jit.script(getattr(module, "function", module))


def frozen(torch, module, args, kwargs):
    return torch.jit.freeze(scripted(torch, module, args, kwargs))


def traced(torch, module, args, kwargs):
    """With the buffers of before; PyTorch's traces change them."""
    state = copy.deepcopy(module.state_dict())
    if kwargs:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        given = {"example_kwarg_inputs": dict(bound.arguments)}
    else:
        given = {"example_inputs": tuple(args)}
    program = torch.jit.trace(module, **given, check_trace=False)
    program.load_state_dict(state)
    return program


ARCHIVES = {"script": scripted, "trace": traced, "freeze": frozen}
# States by whether the file is a ZIP archive, as it is unless somebody asks.
STATES = {"state": True, "legacy": False}


def forms(torch, training: bool) -> list[str]:
    """Lists the forms that this PyTorch has of a module in that mode."""
    names = ["script", "trace"] if training else [*ARCHIVES, *STATES]
    return names + ["export"] * hasattr(torch, "export")


def write(torch, form: str, module, args, kwargs, shapes, path: str) -> None:
    """Writes what `form` says of a module, which is used up."""
    torch.manual_seed(0)
    if form in STATES:
        torch.save(
            module.state_dict(), path, _use_new_zipfile_serialization=STATES[form]
        )
    elif form == "export":
        program = torch.export.export(
            module, tuple(args), kwargs, dynamic_shapes=shapes
        )
        torch.export.save(program, path)
    else:
        torch.jit.save(ARCHIVES[form](torch, module, args, kwargs), path)


def read(torch, form: str, path: str, other):
    """Reads what can be called of a file; `other()` is such a module with
    other numbers, for files that hold only a state.
    """
    if form in STATES:
        module = other()
        module.load_state_dict(torch.load(path))
        return module
    if form == "export":
        return torch.export.load(path).module()
    return torch.jit.load(path)


def entry_of(case):
    """A program of the table; None for a module of the database."""
    if "program" not in case:
        return None
    from interchange_programs import PROGRAMS  # not in old versions

    return PROGRAMS[case["program"]]


def module_of(torch, case, decode):
    """The module of a case, with its state; of a lazy one what it becomes."""
    entry = entry_of(case)
    if entry:
        module = entry.make().train(entry.training)
        if "state" in case:
            module.load_state_dict(decode(case["state"]))
        return module
    module = loaded(torch, case, decode)
    if case["lazy"]:
        call(torch, case, decode, module)
        module.load_state_dict(decode(case["state"]))
    return module


def inputs_of(torch, case, decode) -> list:
    """The arguments of two calls: [args, kwargs] of each. What is exported may
    be called with other sizes.
    """
    entry = entry_of(case)
    if not entry:
        given = decode(case["args"]), decode(case["kwargs"])
        return [copy.deepcopy(given) for _ in range(2)]
    found = []
    first, second = entry.batches
    for size in (first, second if case["form"] == "export" else first):
        torch.manual_seed(size)
        args = entry.inputs(size)
        named = len(args) > 1 and isinstance(args[-1], dict)
        found.append((args[:-1], args[-1]) if named else (args, {}))
    return found


def emptied(torch, case, decode):
    """The module with zeros."""
    module = module_of(torch, case, decode)
    with torch.no_grad():
        for x in [*module.parameters(), *module.buffers()]:
            x.zero_()
    return module


def unfolded(value):
    """Objects with fields as dicts; files of cases know no classes."""
    if dataclasses.is_dataclass(value):
        return {"fields": unfolded(vars(value))}
    if isinstance(value, dict):
        return {k: unfolded(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(unfolded(v) for v in value)
    return [unfolded(v) for v in value] if isinstance(value, list) else value


def called(torch, case, decode, module) -> dict:
    """Records what two calls return and make of their arguments, and the state
    that they leave.
    """
    found = {}
    for number, (args, kwargs) in enumerate(inputs_of(torch, case, decode)):
        torch.manual_seed(0)
        with torch.no_grad():
            result = module(*args, **kwargs)
        found[f"result {number}"] = unfolded(result)
        found[f"given {number}"] = unfolded([list(args), kwargs])
    if case["form"] != "freeze":  # whose state has become constants
        state = dict(module.state_dict())
        if case["form"] == "export":  # in PyTorch buffers come first
            state = dict(sorted(state.items()))
        found["state"] = state
    return found


def eager(torch, case, decode) -> dict:
    """Records what the module itself does."""
    return called(torch, case, decode, module_of(torch, case, decode))


def made(torch, case, decode, path: str) -> None:
    """Writes the file of a case."""
    entry = entry_of(case)
    module = module_of(torch, case, decode)
    args, kwargs = inputs_of(torch, case, decode)[0]
    shapes = entry.shapes if entry else None
    write(torch, case["form"], module, args, kwargs, shapes, path)


def found(torch, case, decode, path: str) -> dict:
    """Records what the file of a case does."""
    other = lambda: emptied(torch, case, decode)  # noqa: E731
    module = read(torch, case["form"], path, other)
    return called(torch, case, decode, module)


def compared(torch, case, tensors, path: Path, compare) -> None:
    """Raises if a file does something else than PyTorch's."""
    got = found(torch, case, decoder(torch, case, tensors), str(path))
    want = decoder(torch, case["want"], tensors)(case["want"]["found"])
    compare(got, want, slack=case["slack"])


def own_file(folder: str, case) -> Path:
    """Where hotaru writes the file of a case."""
    way = case["kind"].split("_")[0]
    return Path(f"{folder}.hotaru", way, case["file"])
