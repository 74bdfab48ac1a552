"""Graphs of modules as packages of Python that programs import."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

from .._own_names import own_root
from . import _compile

_MODULE = """\
import os

{imports}

_HERE = os.path.dirname(os.path.abspath(__file__))


class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
{members}
        self.load_state_dict(torch.load(os.path.join(_HERE, "state_dict.pt")))

{forward}
"""


def write_folder(module, folder: str | os.PathLike, module_name: str) -> None:
    """Writes a module of which `from folder import module_name` is the class.

    Its children are pickles, its parameters and buffers a file of their own.
    """
    from ..serialization import save

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    save(module.state_dict(), place / "state_dict.pt")
    for name, child in module.named_children():
        save(child, place / f"{name}.pt")
    generated = module.graph.python_code(root_module="self")
    text = _MODULE.format(
        imports=_imports(generated.globals),
        name=module_name,
        members=textwrap.indent("\n".join(_members(module)), " " * 8),
        forward=textwrap.indent(generated.src.strip(), " " * 4),
    )
    (place / "module.py").write_text(text, encoding="utf-8")
    (place / "__init__.py").write_text("from .module import *\n")


def _imports(names: dict) -> str:
    """By the name under which the program knows this package."""
    root = own_root()
    block = _compile.import_block(names)
    if root == "torch":
        return block
    block = re.sub(r"^import torch$", f"import {root} as torch", block, flags=re.M)
    return re.sub(r"^(from|import) torch\b", rf"\1 {root}", block, flags=re.M)


def _members(module):
    """The statements that make the children, parameters and buffers."""
    for name, _ in module.named_children():
        path = f'os.path.join(_HERE, "{name}.pt")'
        yield f"self.{name} = torch.load({path}, weights_only=False)"
    for name, value in module.named_parameters(recurse=False):
        made = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
        grad = f"requires_grad={value.requires_grad}"
        yield f"self.{name} = torch.nn.Parameter({made}, {grad})"
    kept_out = module._non_persistent_buffers_set
    for name, value in module.named_buffers(recurse=False):
        if name in kept_out:
            raise NotImplementedError(
                f"to_folder: the buffer {name!r} is not persistent, so no file "
                "would have its values; register it as a persistent one"
            )
        made = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
        yield f'self.register_buffer("{name}", {made})'
