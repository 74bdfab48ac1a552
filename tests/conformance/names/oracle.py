"""PyTorch's side of the list of names: writes it to standard output.

    PYTHON tests/conformance/names/oracle.py >tests/conformance/names/names.txt

PYTHON has PyTorch. A line that starts in the first column is a namespace, a
module or `class torch.nn.Linear`; the lines below are its public names, with
the parameters where Python knows them:

    torch.nn.functional
     dropout(input,p=,training=,inplace=)

A name is public if it does not start with an underscore, and the module's
`__all__` has it; where a module has none, if it or a part of it made it.
Classes have what they define themselves, so that nothing is counted again in a
subclass.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import pkgutil
import sys
import types
import typing
import warnings

# Modules that start programs or need what is not there when imported.
_NOT_IMPORTED = ("torch.include", "torch.utils.hipify", "torch.utils.viz")
# Names that modules without `__all__` have beside what they offer.
_ACCIDENTS = {"TYPE_CHECKING", "annotations", "log", "logger", "main"}
# Modules of which the names alone are kept: nobody counts them here.
_WITHOUT_CLASSES = ("torch.cuda", "torch.distributed", "torch.xpu")
_VARIABLES = (typing.TypeVar, typing.ParamSpec)


def modules():
    """Every public module that can be imported here, by name."""
    yield "torch", importlib.import_module("torch")
    import torch

    walk = pkgutil.walk_packages(torch.__path__, "torch.", lambda name: None)
    for found in walk:
        name = found.name
        private = any(p.startswith("_") for p in name.split("."))
        if private or name.startswith(_NOT_IMPORTED):
            continue
        if any(p in ("tests", "test", "examples") for p in name.split(".")):
            continue
        try:
            yield name, importlib.import_module(name)
        except BaseException as error:
            print(f"{name}: {error!r}"[:200], file=sys.stderr)


def public_names(name: str, module) -> list[str]:
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return [n for n in declared if not n.startswith("_")]
    return [
        n
        for n, value in vars(module).items()
        if not n.startswith("_")
        and n not in _ACCIDENTS
        and _made_in(value, name, hasattr(module, "__path__"))
        and not isinstance(value, (types.ModuleType, *_VARIABLES))
    ]


def _made_in(value, module: str, is_package: bool) -> bool:
    """Packages offer what their parts and the extension make, too."""
    home = getattr(value, "__module__", None) or module
    if is_package and home.startswith((f"{module}.", "torch._C")):
        return True
    return home == module


def members(kind: type) -> list[str]:
    """Members that a class defines itself; of Tensor, the extension's, too.

    Legacy types (torch.FloatTensor) have Tensor's, and nothing of their own.
    """
    legacy = kind.__module__ == "torch" and kind.__name__ != "Tensor"
    if legacy and kind.__name__.endswith(("Tensor", "Storage")):
        return []
    found = {n for n in vars(kind) if not n.startswith("_")}
    if kind.__name__ == "Tensor":
        found.update(n for n in dir(kind) if not n.startswith("_"))
    return sorted(found)


def parameters(value) -> str:
    """As "(input,p=,*,out=,**rest)"; empty where Python does not know."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, property) or not callable(value):
        return ""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return ""
    parts, keyword_only = [], False
    for p in found:
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}")
            keyword_only = True
            continue
        if p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}")
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        parts.append(p.name if p.default is p.empty else f"{p.name}=")
    return f"({','.join(parts)})"


def main() -> None:
    seen: set[int] = set()
    kept = []
    with contextlib.redirect_stdout(sys.stderr):
        for name, module in modules():
            lines, classes = [], []
            for n in sorted(set(public_names(name, module))):
                try:
                    value = getattr(module, n)
                except Exception:  # it needs what is not installed
                    lines.append(n)
                    continue
                lines.append(n + parameters(value))
                ours = getattr(value, "__module__", "") or ""
                if (
                    isinstance(value, type)
                    and id(value) not in seen
                    and str(ours).startswith("torch")
                    and not name.startswith(_WITHOUT_CLASSES)
                ):
                    seen.add(id(value))
                    classes.append((n, value))
            kept.append((name, lines))
            for n, kind in classes:
                own = [
                    m + parameters(inspect.getattr_static(kind, m))
                    for m in members(kind)
                ]
                kept.append((f"class {name}.{n}", own))
    for space, lines in kept:
        if lines:
            print(space, *(f" {line}" for line in lines), sep="\n")
    sys.stdout.flush()
    os._exit(0)  # not every module of PyTorch lets a process end


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
