"""The stub of `hotaru.return_types`: results whose parts have names."""

from __future__ import annotations

import importlib

from .operators import Operators

_HEAD = '''\
"""The types of results that have names: `torch.return_types.max`."""

from typing import final

from hotaru._C import Tensor

__all__ = [
{listed}]

all_return_types: list[type]

def pytree_register_structseq(cls: type) -> None: ...
'''
_CLASS = """
@final
class {name}(tuple[{kinds}]):
    n_fields: int
    n_sequence_fields: int
    n_unnamed_fields: int
    __match_args__ = ({words},)
"""
_FIELD = """\
    @property
    def {field}(self) -> {kind}: ...
"""


def result_names() -> list[str]:
    """The types' names, those of operators and of what is written in Python."""
    return list(importlib.import_module("hotaru.return_types")._NAMES)


def named_results(operators: Operators) -> str:
    """The text of the stub."""
    made = importlib.import_module("hotaru.return_types")._MADE
    public = importlib.import_module("hotaru.return_types").__all__
    listed = "".join(f'    "{name}",\n' for name in public)
    texts = [_HEAD.replace("{listed}", listed)]
    for name in result_names():
        operator = name.removesuffix("_out")
        fields = operators.fields(operator)
        if operator in made:
            fields = [(field, "Tensor") for field in made[operator]]
        kinds = ", ".join(kind for _, kind in fields)
        words = ", ".join(f'"{field}"' for field, _ in fields)
        texts.append(_CLASS.format(name=name, kinds=kinds, words=words))
        texts += [_FIELD.format(field=field, kind=kind) for field, kind in fields]
    return "".join(texts)
