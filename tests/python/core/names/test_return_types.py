"""`torch.return_types`: the types of named results, by PyTorch's names."""

from __future__ import annotations

import pytest

import hotaru as torch

X = torch.tensor([[1.0, 3.0], [2.0, 0.5]])


@pytest.mark.parametrize("name", ["max", "min", "median", "cummax", "mode"])
def test_type_is_that_of_results(name):
    found = getattr(torch, name)(X, 0)
    assert type(found) is getattr(torch.return_types, name)
    assert isinstance(found, torch.return_types.max) == (name == "max")


def test_every_type_has_its_name_and_fields():
    types = torch.return_types.all_return_types
    assert len(types) == 69
    for kind in types:
        assert kind.__module__ == "torch.return_types"
        assert getattr(torch.return_types, kind.__name__) is kind
        assert kind.n_fields == len(kind.__match_args__) >= 2


@pytest.mark.parametrize("name", ["max", "min", "sort", "cummax", "mode"])
def test_what_is_written_through_out_has_a_type_of_its_own(name):
    wanted = getattr(torch, name)(X, 0)
    given = [torch.empty(0), torch.empty(0, dtype=torch.int64)]
    for out in (tuple(given), given):
        found = getattr(torch, name)(X, 0, out=out)
        assert type(found) is getattr(torch.return_types, f"{name}_out")
        assert found.values is given[0]
        assert found.indices is given[1]
        assert found.values.equal(wanted.values)
    assert not isinstance(found, torch.return_types.max)
    assert repr(found).startswith(f"torch.return_types.{name}_out(\nvalues=")
    assert torch.utils._pytree.tree_flatten(found)[0] == list(found)


def test_factors_are_the_tensors_that_were_given():
    out = (torch.empty(0), torch.empty(0))
    found = torch.linalg.qr(X, out=out)
    assert type(found) is torch.return_types.linalg_qr_out
    assert found.Q is out[0]
    assert found.R is out[1]


def test_types_make_results():
    made = torch.return_types.sort((1, 2))
    assert (made.values, made.indices) == (1, 2)
    assert repr(made) == "torch.return_types.sort(\nvalues=1,\nindices=2)"


def test_asking_inside_of_a_mode_does_not_show_there():
    from hotaru.overrides import TorchFunctionMode

    class Nothing(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    with Nothing():
        assert torch.return_types.geqrf.n_fields == 2


def test_no_type_of_unknown_names():
    with pytest.raises(AttributeError):
        torch.return_types.nothing  # noqa: B018
