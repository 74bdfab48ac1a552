"""`torch._jit_internal`, and what `torch.jit.isinstance` refuses."""

from __future__ import annotations

import typing
import warnings
from typing import Any, Optional, Union

import pytest

import hotaru as torch

# The types are asked for by their old names.
List, Dict, Tuple = (getattr(typing, n) for n in ("List", "Dict", "Tuple"))
internal = torch._jit_internal


def test_annotations_are_told_apart():
    assert internal.is_optional(Optional[int])
    assert internal.is_optional(int | None)
    assert not internal.is_optional(Union[int, str, None])
    assert internal.is_union(Union[int, str])
    assert internal.is_list(List[int])
    assert not internal.is_list(Dict[int, int])
    assert internal.is_dict(Dict[int, int])
    assert internal.is_tuple(Tuple[int, str])
    assert internal.is_final(internal.Final[int])
    with pytest.raises(RuntimeError, match="List without a contained type"):
        internal.is_list(List)


def test_argument_names_are_those_given_either_way():
    def f(a, /, b, c=1, *d, e, **g):
        return a, b, c, d, e, g

    assert internal.get_callable_argument_names(f) == ["b", "c"]
    assert internal.get_callable_argument_names(3) == []


def test_broadcasting_lists_are_lists_to_the_compiler():
    def summed(x: internal.BroadcastingList2[float]) -> float:
        return x[0] + x[1]

    summed.__annotations__["x"] = None
    with internal._disable_emit_hooks():
        compiled = torch.jit.script(summed)
    assert compiled(4.5) == 9.0
    assert compiled([1.0, 2.0]) == 3.0


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (List, "List without a contained type"),
        (Tuple, "Tuple without a contained type"),
        (Optional, "Optional without a contained type"),
        (Dict, "Dict without contained types"),
        ([int, str], "must be a type or a tuple of types"),
    ],
)
def test_isinstance_refuses_types_that_do_not_say_enough(wanted, text):
    with pytest.raises(RuntimeError, match=text):
        torch.jit.isinstance([1], wanted)


def test_isinstance_warns_of_empty_containers():
    with pytest.warns(UserWarning, match="inner type of a container is lost"):
        assert torch.jit.isinstance([], List[int])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.jit.isinstance([1], List[int])
        assert torch.jit.isinstance(torch.ones(0), Any)


def test_marked_methods_are_copied_onto_the_compiled_module():
    class Named(torch.nn.Module):
        def forward(self, x):
            return self.compiled(x)

        @internal._copy_to_script_wrapper
        def __len__(self):
            return 3

        @internal._copy_to_script_wrapper
        def text(self):
            return f"{type(self).__name__} {self.training}"

        def plain(self):
            return 1

        @internal._copy_to_script_wrapper
        def compiled(self, x):
            return x + 1

    script = torch.jit.script(Named())
    assert script.text() == "RecursiveScriptModule True"
    assert not hasattr(script, "plain")
    assert script(torch.ones(1)).item() == 2
    assert script.compiled(torch.ones(1)).item() == 2
