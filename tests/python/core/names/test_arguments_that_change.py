"""Arguments that PyTorch's results, errors or inputs show, and ours once did
not, or showed otherwise by their position.
"""

from __future__ import annotations

import inspect

import pytest
from hotaru._prims_common import compare_tensor_meta

import hotaru as torch


def test_a_second_kernel_is_refused_where_it_may_not_override():
    with torch.library._scoped_library("changes", "FRAGMENT") as lib:
        lib.define("twice(Tensor x) -> Tensor")
        lib.impl("twice", lambda x: x * 2, "CPU")
        x = torch.ones(2)
        with pytest.raises(RuntimeError, match="already a kernel registered"):
            lib.impl("twice", lambda x: x * 3, "CPU", allow_override=False)
        lib.impl("twice", lambda x: x.new_empty(0), "Meta", allow_override=False)
        assert torch.ops.changes.twice(x).tolist() == [2.0, 2.0]
        lib.impl("twice", lambda x: x * 4, "CPU")
        assert torch.ops.changes.twice(x).tolist() == [4.0, 4.0]
    # A library gives back with its end whatever it took.
    with torch.library._scoped_library("changes", "FRAGMENT") as lib:
        lib.define("twice(Tensor x) -> Tensor")
        lib.impl("twice", lambda x: x * 5, "CPU", allow_override=False)
        assert torch.ops.changes.twice(torch.ones(1)).tolist() == [5.0]


def test_a_second_fake_kernel_takes_the_place_of_the_first():
    with torch.library._scoped_library("changes", "FRAGMENT") as lib:
        lib.define("shape(Tensor x) -> Tensor")
        torch.library.register_fake("changes::shape", torch.empty_like, lib=lib)
        torch.library.register_fake("changes::shape", lambda x: x.new_empty(7), lib=lib)
        found = torch.ops.changes.shape(torch.empty(2, device="meta"))
        assert found.shape == (7,)
        with pytest.raises(RuntimeError, match="already has"):
            torch.library.register_fake(
                "changes::shape", torch.empty_like, lib=lib, allow_override=False
            )


def test_sizes_are_compared_unless_told():
    a, b = torch.ones(2, 3), torch.ones(3, 2)
    with pytest.raises(AssertionError):
        compare_tensor_meta(a, b)
    compare_tensor_meta(a, b, False)
    with pytest.raises(RuntimeError, match="Stride mismatch"):
        compare_tensor_meta(a, torch.ones(3, 2).T, True, True)


def test_options_of_a_table_of_given_vectors_have_places():
    rows = torch.arange(6.0).view(3, 2)
    bag = torch.nn.EmbeddingBag.from_pretrained(
        rows, True, 0.5, 1.0, False, "sum", False, True, 1
    )
    assert (bag.max_norm, bag.norm_type, bag.mode) == (0.5, 1.0, "sum")
    assert (bag.include_last_offset, bag.padding_idx) == (True, 1)
    names = list(inspect.signature(torch.nn.EmbeddingBag.from_pretrained).parameters)
    assert names[2] == "max_norm"
    assert names[-1] == "padding_idx"


def test_results_of_float8_are_divided_by_their_scale():
    values = torch.arange(256.0).reshape(16, 16) / 64
    a = values.to(torch.float8_e4m3fn)
    one, four = torch.tensor(1.0), torch.tensor(4.0)
    for dtype, first in ((a.dtype, 0.1875), (torch.float32, 0.7734375)):
        found = torch._scaled_mm(a, a.t(), one, one, scale_result=four, out_dtype=dtype)
        assert found.dtype == dtype
        assert found.float()[1, 0].item() == first


@pytest.mark.parametrize("name", ["hann", "hamming", "bartlett", "blackman", "kaiser"])
def test_windows_are_pinned_or_say_that_they_cannot_be(name):
    window = getattr(torch, f"{name}_window")
    if torch.cuda.is_available():
        assert window(4, pin_memory=True).is_pinned()
    else:
        with pytest.raises((AssertionError, RuntimeError)):
            window(4, pin_memory=True)


def test_scripted_modules_take_tensors_in_their_places():
    module = torch.jit.script(torch.nn.Linear(2, 2))
    given = {"weight": torch.eye(2).double(), "bias": torch.ones(2).double()}
    module.load_state_dict(given, assign=True)
    given["bias"].fill_(7)
    assert module.bias.tolist() == [7.0, 7.0]
    assert all(p.requires_grad for p in module.parameters())
    assert module(torch.ones(1, 2).double()).dtype == torch.float64
    module.load_state_dict({k: v.float() for k, v in given.items()})
    assert module.bias.dtype == torch.float64
