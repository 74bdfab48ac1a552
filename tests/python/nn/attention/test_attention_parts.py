"""Steps of attention by PyTorch's names, in compiled code and outside it."""

import warnings

import pytest
from hotaru.nn.functional import (
    _canonical_mask,
    _in_projection,
    _in_projection_packed,
    _none_or_dtype,
    linear,
)

import hotaru as torch


def canonical(
    mask: torch.Tensor | None, other: torch.Tensor | None, query: torch.Tensor
):
    return torch.nn.functional._canonical_mask(
        mask=mask,
        mask_name="m",
        other_type=torch.nn.functional._none_or_dtype(other),
        other_name="o",
        target_type=query.dtype,
    )


FORMS = (canonical, torch.jit.script(canonical))
QUERY = torch.ones(1, dtype=torch.float64)


@pytest.mark.parametrize("form", FORMS, ids=("eager", "scripted"))
def test_masks_that_are_added(form):
    assert form(None, None, QUERY) is None
    found = form(torch.tensor([True, False]), None, QUERY)
    assert found.dtype is torch.float64
    assert found.tolist() == [-float("inf"), 0]
    floating = torch.tensor([0.5, 1])
    assert form(floating, None, QUERY).tolist() == [0.5, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        form(floating, floating, QUERY)
    with pytest.warns(UserWarning, match="Support for mismatched m and o is deprec"):
        form(floating, QUERY, QUERY)
    with pytest.raises(Exception, match="only bool and floating types of m are"):
        form(torch.ones(2, dtype=torch.int64), None, QUERY)


def test_other_things_have_no_dtype():
    assert _none_or_dtype(None) is None
    assert _none_or_dtype(QUERY) is torch.float64
    with pytest.raises(RuntimeError, match=r"must be None or torch\.Tensor"):
        _none_or_dtype(3)
    whole = torch.ones(2, dtype=torch.int64)
    with pytest.raises(AssertionError, match="only bool and floating types"):
        _canonical_mask(whole, "m", None, "o", torch.float32)


@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("same", ["all", "key and value", "none"])
def test_projections(with_bias, same):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 4)
    k = q if same == "all" else k
    v = k if same != "none" else v
    w = torch.randn(12, 4)
    b = torch.randn(12) if with_bias else None
    parts = w.chunk(3)
    biases = b.chunk(3) if with_bias else (None,) * 3
    wanted = [linear(*x) for x in zip((q, k, v), parts, biases, strict=True)]
    torch.testing.assert_close(list(_in_projection_packed(q, k, v, w, b)), wanted)
    torch.testing.assert_close(list(_in_projection(q, k, v, *parts, *biases)), wanted)


def test_weights_of_other_shapes():
    x, w = torch.ones(2, 4), torch.ones(4, 4)
    with pytest.raises(AssertionError, match="expecting key weights shape"):
        _in_projection(x, x, x, w, torch.ones(4, 3), w)
    with pytest.raises(AssertionError, match="expecting value bias shape"):
        _in_projection(x, x, x, w, w, w, None, None, torch.ones(3))
