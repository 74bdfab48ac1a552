"""What is warned of, in PyTorch's words and where it does."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

BYTE_INDEX = "indexing with dtype torch.uint8 is now deprecated"
RESIZED = (
    "An output with one or more elements was resized since it had shape {}, "
    "which does not match the required output shape {}."
)


def warned(call) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught]


@pytest.fixture
def mask():
    return torch.tensor([1, 0, 1], dtype=torch.uint8)


def test_masks_of_bytes(mask):
    x = torch.arange(3.0)
    for call in (
        lambda: x[mask],
        lambda: x.__setitem__(mask, torch.ones(2)),
        lambda: x.clone().index_put_((mask,), torch.ones(2)),
    ):
        (text,) = warned(call)
        assert text.startswith(BYTE_INDEX)
    (text,) = warned(lambda: torch.where(mask, x, x))
    assert text.startswith("where received a uint8 condition tensor.")
    assert not warned(lambda: (x[mask.bool()], torch.where(mask > 0, x, x)))
    with pytest.raises(RuntimeError, match="got mask with dtype unsigned char"):
        x.masked_fill(mask, 1.0)


def test_programs_warn_as_well(mask):
    # where() of TorchScript is the same operator.
    call = torch.jit.trace(torch.where, (mask, mask, mask), check_trace=False)
    (text,) = warned(lambda: call(mask, mask, mask))
    assert text.startswith("where received a uint8 condition tensor.")


def test_a_result_of_another_size():
    x, two = torch.arange(4.0), torch.ones(2)
    (text,) = warned(lambda: torch.add(x, 1, out=two))
    assert text.startswith(RESIZED.format("[2]", "[4]"))
    assert two.tolist() == [1, 2, 3, 4]
    out = torch.ones(1), torch.ones(0, dtype=torch.int64)
    (text,) = warned(lambda: torch.sort(x, out=out))
    assert text.startswith(RESIZED.format("[1]", "[4]"))
    for call in (
        lambda: torch.add(x, 1, out=torch.ones(0)),
        lambda: torch.add(x, 1, out=torch.ones(4)),
        lambda: torch.ones(3, out=torch.ones(2)),
        lambda: torch.linspace(0, 1, 3, out=torch.ones(2)),
        lambda: torch.bernoulli(torch.ones(3), out=torch.ones(2)),
    ):
        assert not warned(call)


def test_a_warning_may_be_an_error(mask):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="uint8"):
            torch.arange(3.0)[mask]
        out = torch.ones(2)
        with pytest.raises(UserWarning, match="was resized"):
            torch.add(torch.ones(3), 1, out=out)
    assert out.tolist() == [1, 1]


@pytest.fixture
def always():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("always")
def test_numbers_before_tensors():
    x, two = torch.ones(2), torch.full((2,), 2.0)
    results = []
    (text,) = warned(lambda: results.append(torch.addcmul(x, 3, two, two)))
    assert text == (
        "This overload of addcmul is deprecated:\n\taddcmul(Tensor input, "
        "Number value, Tensor tensor1, Tensor tensor2, *, Tensor out = None)\n"
        "Consider using one of the following signatures instead:\n\t"
        "addcmul(Tensor input, Tensor tensor1, Tensor tensor2, *, "
        "Number value = 1, Tensor out = None)"
    )
    (text,) = warned(lambda: results.append(x.clone().sub_(3, two)))
    assert text.endswith("\n\tsub_(Tensor other, *, Number alpha = 1)")
    assert results[0].tolist() == [13.0, 13.0]
    assert results[1].tolist() == [-5.0, -5.0]
    with pytest.raises(TypeError):
        torch.addcmul(x, 3, two)
