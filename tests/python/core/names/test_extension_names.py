"""Names of PyTorch's extension, and checks that programs keep."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

_C = torch._C


def test_has_lapack():
    assert _C.has_lapack is True


@pytest.mark.parametrize(
    ("a", "b", "want"),
    [
        ((2, 1), (3,), (2, 3)),
        ((), (4,), (4,)),
        ((1,), (0,), (0,)),
        ((5, 1, 2), (3, 1), (5, 3, 2)),
    ],
)
def test_infer_size(a, b, want):
    found = _C._infer_size(torch.Size(a), torch.Size(b))
    assert type(found) is torch.Size
    assert found == want


def test_infer_size_that_does_not_fit():
    with pytest.raises(RuntimeError) as error:
        _C._infer_size(torch.Size([2, 2]), torch.Size([3]))
    assert str(error.value) == (
        "The size of tensor a (2) must match the size of tensor b (3) at "
        "non-singleton dimension 1"
    )


def test_is_alias_of():
    x = torch.zeros(4)
    assert _C._is_alias_of(x, x[2:].view(2, 1))
    assert not _C._is_alias_of(x, x.clone())


def test_other_names_are_missing():
    with pytest.raises(AttributeError, match="no attribute '_no_such_name'"):
        getattr(_C, "_no_such_name")  # noqa: B009


Backend = _C._ConvBackend


@pytest.mark.parametrize(
    ("shape", "transposed", "dilation", "want"),
    [
        ((2, 6, 9), False, 1, Backend.Slow2d),
        ((2, 6, 9, 9), False, 1, Backend.Slow2d),
        ((2, 6, 9, 9, 9), False, 1, Backend.Slow3d),
        ((2, 6, 9), False, 2, Backend.SlowDilated2d),
        ((2, 6, 9, 9, 9), False, 2, Backend.SlowDilated3d),
        ((2, 6, 9), True, 2, Backend.SlowTranspose2d),
        ((2, 6, 9, 9, 9), True, 1, Backend.SlowTranspose3d),
        ((0, 6, 9, 9), False, 1, Backend.Empty),
        ((2, 0, 9), False, 1, Backend.Empty),
    ],
)
def test_convolution_backend(shape, transposed, dilation, want):
    # Recorded from PyTorch 2.13 without oneDNN.
    dims, channels = len(shape) - 2, shape[1]
    weight = (channels, 12) if transposed else (12, channels)
    with torch.backends.mkldnn.flags(enabled=False):
        found = _C._select_conv_backend(
            torch.zeros(shape),
            torch.zeros(*weight, *[3] * dims),
            None,
            [1] * dims,
            [0] * dims,
            [dilation] * dims,
            transposed,
            [0] * dims,
            1,
        )
    assert found is want


def test_convolution_backend_of_what_does_not_fit():
    with pytest.raises(RuntimeError, match="to have 5 channels, but got 6"):
        _C._select_conv_backend(
            torch.zeros(2, 6, 7),
            torch.zeros(12, 5, 3),
            None,
            [1],
            [0],
            [1],
            False,
            [0],
            1,
        )


def test_preferred_libraries():
    cuda = torch.backends.cuda
    assert str(cuda.preferred_linalg_library()) == "_LinalgBackend.Default"
    assert cuda.preferred_linalg_library("default").name == "Default"
    assert str(cuda.preferred_blas_library("cublas")) == "_BlasBackend.Cublas"
    for wanted, text in (
        (
            "magma",
            "Cannot set preferred backend to MAGMA if PyTorch has not "
            "been compiled with MAGMA.",
        ),
        ("x", "Unknown input value. Choose from: default, cusolver, magma."),
        (3, "Unknown input value type."),
    ):
        with pytest.raises(RuntimeError) as error:
            cuda.preferred_linalg_library(wanted)
        assert str(error.value) == text


def test_tensor_metadata():
    x = torch.zeros(2, 3)
    check = torch._assert_tensor_metadata
    assert check(x, (2, 3), (3, 1), torch.float32, device="cpu") is None
    assert check(x, layout=torch.strided) is None
    for arguments, options, text in (
        (((3, 2),), {}, "sizes mismatch! Expected: [3, 2], Got: [2, 3]"),
        ((None, (1, 2)), {}, "strides mismatch! Expected: [1, 2], Got: [3, 1]"),
        (
            (None, None, torch.float64),
            {},
            "dtype mismatch! Expected: Double, Got: float",
        ),
        ((), {"device": "meta"}, "device mismatch! Expected: meta, Got: cpu"),
    ):
        with pytest.raises(RuntimeError) as error:
            check(x, *arguments, **options)
        assert str(error.value) == f"Tensor {text}"


def test_hash_is_id():
    x = torch.zeros(1)
    assert hash(x) == id(x)


def test_reduction_names():
    from hotaru.nn import _reduction

    for name, number in (("none", 0), ("mean", 1), ("sum", 2)):
        assert _reduction.get_enum(name) == number
    with pytest.raises(ValueError, match="foo is not a valid value for red"):
        _reduction.get_enum("foo")
    with pytest.warns(UserWarning, match="'elementwise_mean' is deprecated"):
        assert _reduction.get_enum("elementwise_mean") == 1
    for average, reduce, want in (
        (None, None, "mean"),
        (False, None, "sum"),
        (True, True, "mean"),
        (True, False, "none"),
        (None, False, "none"),
        (False, True, "sum"),
    ):
        with pytest.warns(UserWarning, match=f"use reduction='{want}' instead"):
            assert _reduction.legacy_get_string(average, reduce) == want
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _reduction.legacy_get_enum(False, None, False) == 2


def test_division_by_its_old_names():
    x = torch.tensor([3.0, 5.0])
    assert x.__div__(2).tolist() == [1.5, 2.5]
    assert x.__idiv__(2) is x
    assert x.tolist() == [1.5, 2.5]


def test_each_place_of_names_is_asked():
    assert _C.has_lapack is True
    assert _C.Graph.__name__ == "Graph"
    assert _C._dispatch_has_kernel("aten::add.Tensor")
    with pytest.raises(AttributeError, match="has no attribute '_no_such'"):
        _C._no_such  # noqa: B018
