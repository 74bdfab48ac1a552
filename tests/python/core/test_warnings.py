"""Warnings, in PyTorch's words and where it gives them."""

from __future__ import annotations

import math
import operator
import subprocess
import sys
import warnings

import hotaru.nn.functional as F
import numpy
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


def _expanded():
    return torch.zeros(1).expand(3)


def _backward(create_graph):
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward(create_graph=create_graph)


def _set(x, index, value):
    x[index] = value


@torch.no_grad()
def _float_alone(x):
    return float(x)


def _conv(dims, kernel, **options):
    x, weight = (torch.ones(1, 1, *[9] * dims), torch.ones(1, 1, *[kernel] * dims))
    call = getattr(F, f"conv{dims}d")
    assert call(x, weight, padding="same", **options).shape == x.shape


LOST = (
    "Converting a tensor with requires_grad=True to a scalar may lead to "
    "unexpected behavior.\nConsider using tensor.detach() first."
)
SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
    "consider converting the list to a single numpy.ndarray with numpy.array() "
    "before converting to a tensor."
)
LISTED = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated "
    "and will be changed in pytorch 2.9; use x[tuple(seq)] instead of x[seq]. "
    "In pytorch 2.9 this will be interpreted as tensor index, "
    "x[torch.tensor(seq)], which will result either in an error or a different "
    "result"
)
PADDED = (
    "Using padding='same' with even kernel lengths and odd dilation may "
    "require a zero-padded copy of the input be created"
)
_TRAINED = torch.ones((), requires_grad=True)
_ROW = numpy.array([1, 2])
_MATRIX = torch.eye(3)
_COMPLEX = torch.ones(2, dtype=torch.complex64)
_FIRST = torch.tensor([0])
# Calls that PyTorch warns of, with words of the warning; None where it doesn't.
CALLS = {
    "complex.to": (lambda: _COMPLEX.to(torch.float32), "discards the imag"),
    "complex.int": (lambda: _COMPLEX.int(), "discards the imag"),
    "complex.type": (lambda: _COMPLEX.type(torch.float64), "discards the imag"),
    "complex.copy_": (lambda: torch.ones(2).copy_(_COMPLEX), "discards the"),
    "complex setitem": (
        lambda: _set(torch.ones(2), slice(None), _COMPLEX),
        "discards the imag",
    ),
    "complex.bool": (lambda: _COMPLEX.bool(), None),
    "complex.real": (lambda: _COMPLEX.real, None),
    "complex.to of none": (lambda: _COMPLEX[:0].to(torch.float32), None),
    "complex.double": (lambda: _COMPLEX.to(torch.complex128), None),
    "T of 0": (lambda: torch.ones(()).T, "Tensor.T is deprecated on 0-D"),
    "T of 1": (lambda: torch.ones(2).T, "The use of `x.T` on tensors of dim"),
    "T of 2": (lambda: torch.ones(2, 2).T, None),
    "T of 3": (lambda: torch.ones(2, 2, 2).T, "The use of `x.T` on tensors"),
    "mT of 0": (lambda: torch.ones(()).mT, "Tensor.mT is deprecated on 0-D"),
    "H of 0": (lambda: torch.ones(()).H, "Tensor.H is deprecated on 0-D"),
    "mH of 0": (lambda: torch.ones(()).mH, "Tensor.mH is deprecated on 0-D"),
    "mH of 3": (lambda: torch.ones(2, 2, 2).mH, None),
    "adjoint of 0": (lambda: torch.adjoint(torch.ones(())), "adjoint() is dep"),
    "chain_matmul": (
        lambda: torch.chain_matmul(_MATRIX, _MATRIX),
        "torch.chain_matmul is deprecated",
    ),
    "multi_dot": (lambda: torch.linalg.multi_dot([_MATRIX, _MATRIX]), None),
    "cross": (lambda: torch.cross(_MATRIX, _MATRIX), "without specifying the"),
    "cross dim": (lambda: torch.cross(_MATRIX, _MATRIX, dim=0), None),
    "linalg.cross": (lambda: torch.linalg.cross(_MATRIX, _MATRIX), None),
    "lu_solve": (
        lambda: torch.lu_solve(torch.ones(3, 1), *torch.linalg.lu_factor(_MATRIX)),
        "torch.lu_solve is deprecated",
    ),
    "triangular_solve": (
        lambda: torch.triangular_solve(torch.ones(3, 1), _MATRIX),
        "torch.triangular_solve is deprecated",
    ),
    "qr": (lambda: torch.qr(_MATRIX), "torch.qr is deprecated"),
    "linalg.qr": (lambda: torch.linalg.qr(_MATRIX), None),
    "lu": (lambda: torch.lu(_MATRIX), "torch.lu is deprecated"),
    "cholesky": (lambda: torch.cholesky(_MATRIX), "torch.cholesky is depre"),
    "linalg.cholesky": (lambda: torch.linalg.cholesky(_MATRIX), None),
    "ger": (lambda: torch.ger(torch.ones(2), torch.ones(2)), "torch.ger is"),
    "outer": (lambda: torch.outer(torch.ones(2), torch.ones(2)), None),
    "scatter reduce": (
        lambda: torch.ones(2).scatter(0, _FIRST, torch.ones(1), reduce="add"),
        "The reduce argument of torch.scatter with Tensor src",
    ),
    "scatter reduce a number": (
        lambda: torch.ones(2).scatter(0, _FIRST, 1.0, reduce="add"),
        None,
    ),
    "searchsorted": (
        lambda: torch.searchsorted(
            torch.arange(12.0).reshape(3, 4).t(), torch.ones(4, 2)
        ),
        "boundary tensor is non-contiguous",
    ),
    "std": (lambda: torch.std(torch.ones(1)), "std(): degrees of freedom is <="),
    "var": (lambda: torch.var(torch.ones(2, 1), 1), "var(): degrees of freedom"),
    "std_mean": (lambda: torch.std_mean(torch.ones(1)), "std_mean(): degrees"),
    "var_mean": (lambda: torch.var_mean(torch.ones(1)), "var_mean(): degrees"),
    "var of enough": (lambda: torch.var(torch.ones(1), correction=0), None),
    "expanded index_put_": (
        lambda: _expanded().index_put_((_FIRST,), torch.ones(1)),
        "Use of index_put_ on expanded tensors",
    ),
    "expanded setitem": (
        lambda: _set(_expanded(), _FIRST, 1.0),
        "e.g. tensor[indices] = tensor",
    ),
    "expanded masked_fill_": (
        lambda: _expanded().masked_fill_(torch.ones(3) > 0, 1),
        "Use of masked_fill_ on expanded tensors",
    ),
    "create_graph": (lambda: _backward(True), "will create a reference cycle"),
    "backward": (lambda: _backward(False), None),
    "grad of no leaf": (
        lambda: (torch.ones(2, requires_grad=True) * 2).grad,
        "attribute of a Tensor that is not a leaf Tensor is being",
    ),
    "grad of a leaf": (lambda: torch.ones(2, requires_grad=True).grad, None),
    "complex module": (
        lambda: torch.nn.Linear(1, 1).to(torch.complex64),
        "Complex modules are a new feature",
    ),
    "double module": (lambda: torch.nn.Linear(1, 1).to(torch.float64), None),
    "grad of a constant": (lambda: torch.ones(2).grad, None),
    "float": (lambda: float(_TRAINED), LOST),
    "float of a result": (lambda: float(_TRAINED * 2), LOST),
    "complex": (lambda: complex(_TRAINED), LOST),
    "math.sqrt": (lambda: math.sqrt(_TRAINED), LOST),
    "%f": (lambda: operator.mod("%f", _TRAINED), LOST),
    "a list of one": (lambda: torch.tensor([_TRAINED]), LOST),
    "int": (lambda: int(_TRAINED), None),
    "bool": (lambda: bool(_TRAINED), None),
    "item": (lambda: _TRAINED.item(), None),
    "tolist": (lambda: _TRAINED.tolist(), None),
    "format": (lambda: f"{_TRAINED:.2f}", None),
    "bool of a list": (lambda: torch.tensor([_TRAINED], dtype=torch.bool), None),
    "float of a constant": (lambda: float(_TRAINED.detach()), None),
    "complex of a constant": (lambda: complex(_TRAINED.detach()), None),
    "float without gradients": (lambda: _float_alone(_TRAINED), None),
    "arrays": (lambda: torch.tensor([_ROW]), SLOW),
    "arrays in a tuple": (lambda: torch.tensor(((_ROW,),)), SLOW),
    "arrays of a dtype": (lambda: torch.tensor([_ROW], dtype=torch.half), SLOW),
    "as_tensor of arrays": (lambda: torch.as_tensor([_ROW]), SLOW),
    "Tensor of arrays": (lambda: torch.Tensor([_ROW]), SLOW),
    "new_tensor of arrays": (lambda: _MATRIX.new_tensor([_ROW]), SLOW),
    "asarray of arrays": (lambda: torch.asarray([_ROW]), SLOW),
    "array": (lambda: torch.tensor(_ROW), None),
    "numbers of arrays": (lambda: torch.tensor([_ROW[0], _ROW[1]]), None),
    "arrays of nothing": (lambda: torch.tensor([_ROW[:0]]), None),
    "list of a slice": (lambda: _MATRIX[[slice(0, 1), 0]], LISTED),
    "list of None": (lambda: _MATRIX[[None]], LISTED),
    "list of ...": (lambda: _MATRIX[[...]], LISTED),
    "list of lists": (lambda: _MATRIX[[[0], [1]]], LISTED),
    "list of tensors": (lambda: _MATRIX[[_FIRST, 1]], LISTED),
    "list of arrays": (lambda: _MATRIX[[_ROW, _ROW]], LISTED),
    "set list of a slice": (lambda: _set(torch.eye(2), [slice(0, 1), 0], 1.0), LISTED),
    "set list of lists": (lambda: _set(torch.eye(2), [[0], [1]], 1), LISTED),
    "set list of tensors": (lambda: _set(torch.eye(2), [_FIRST, 1], 1), LISTED),
    "list of numbers": (lambda: _MATRIX[[0, 1]], None),
    "list of bools": (lambda: _MATRIX[[True, False, True]], None),
    "lists in a tuple": (lambda: _MATRIX[[0, 1], [0, 1]], None),
    "empty list": (lambda: _MATRIX[[]], None),
    "conv1d": (lambda: _conv(1, 2), PADDED),
    "conv2d": (lambda: _conv(2, 2), PADDED),
    "conv3d": (lambda: _conv(3, 2), PADDED),
    "conv1d dilation": (lambda: _conv(1, 4, dilation=3), PADDED),
    "conv1d odd": (lambda: _conv(1, 3), None),
    "conv1d even dilation": (lambda: _conv(1, 4, dilation=2), None),
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_are_warned_of(call):
    function, text = CALLS[call]
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            function()
    finally:
        torch.set_warn_always(False)
    assert [w.category for w in given] == ([UserWarning] if text else [])
    assert not text or text in str(given[0].message)
    # In the name of the line that called.
    if text in {LOST, SLOW, LISTED, PADDED}:
        assert given[0].filename == __file__


def test_a_retained_gradient_is_no_cause_to_warn():
    y = torch.ones(2, requires_grad=True) * 2
    y.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None
        y.sum().backward()
        assert y.grad.tolist() == [1, 1]


def test_of_most_is_warned_once():
    program = (
        "import warnings; import hotaru as torch\n"
        "warnings.simplefilter('always')\n"
        "import numpy\n"
        "x = torch.ones((), requires_grad=True)\n"
        "for _ in range(3): torch.ones(2).T; torch.cholesky(torch.eye(2))\n"
        "for _ in range(3): complex(x); float(x); torch.tensor([x])\n"
        "for _ in range(3): torch.tensor([numpy.ones(2), numpy.ones(2)])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stderr.count("UserWarning") == 4


def _encoder(**options):
    layer = {"d_model": 4, "nhead": 2, "batch_first": True, **options}
    return torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(**layer), 1)


GRID = torch.zeros(1, 2, 2, 2)
IMAGE = torch.ones(1, 1, 2, 2)
SPOKEN = {
    "grid_sample": (
        lambda: F.grid_sample(IMAGE, GRID),
        "has changed to align_corners=False",
    ),
    "affine_grid": (
        lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2)),
        "Please specify align_corners=True",
    ),
    "gumbel_softmax": (
        lambda: F.gumbel_softmax(torch.ones(2), eps=1e-5),
        "`eps` parameter is",
    ),
    "batch_first": (lambda: _encoder(batch_first=False), "batch_first was not True"),
    "norm_first": (lambda: _encoder(norm_first=True), "norm_first was True"),
    "bias": (lambda: _encoder(bias=False), "self_attn was passed bias=False"),
    "heads": (lambda: _encoder(nhead=1), "num_heads is odd"),
    "activation": (
        lambda: _encoder(activation=torch.tanh),
        "activation_relu_or_gelu was",
    ),
}


@pytest.mark.parametrize("name", SPOKEN)
def test_choices_that_changed_are_told_of_where_they_are_made(name):
    function, text = SPOKEN[name]
    with pytest.warns(UserWarning, match=text):
        function()


def test_choices_that_were_made_are_not_told_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.grid_sample(IMAGE, GRID, align_corners=False)
        F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2), align_corners=True)
        F.gumbel_softmax(torch.ones(2))
        _encoder()
        torch.nn.TransformerEncoder(
            torch.nn.TransformerEncoderLayer(4, 1), 1, enable_nested_tensor=False
        )


def test_copies_of_tensors():
    x = torch.ones(2, dtype=torch.float64)
    advice = "To copy construct from a tensor, it is recommended to use"
    for call, own in (
        (lambda: torch.tensor(x), "rather than torch.tensor(sourceTensor)."),
        (lambda: x.new_tensor(x), "rather than tensor.new_tensor(sourceTensor)"),
    ):
        (text,) = warned(call)
        assert text.startswith(advice)
        assert own in text
    assert not warned(lambda: torch.tensor([x[0], x[1]]))
    assert not warned(lambda: torch.as_tensor(x))


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_new_tensor_of_a_tensor():
    x = torch.ones(2, dtype=torch.float64)
    source = torch.tensor([1, 2])
    made = x.new_tensor(source, requires_grad=True)
    assert made.dtype == torch.float64
    assert made.requires_grad
    same = x.new_tensor(x)
    same.add_(1)
    assert x.tolist() == [1, 1]


def test_schedules_name_the_line_that_steps():
    schedules = torch.optim.lr_scheduler

    def made(kind, *args):
        weight = torch.nn.Parameter(torch.ones(1))
        return kind(torch.optim.SGD([weight], lr=1.0), *args)

    for call in (
        made(schedules.StepLR, 1).step,
        lambda: made(schedules.StepLR, 1).step(2),
        lambda: made(schedules.ReduceLROnPlateau).step(1.0, 3),
    ):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            call()
        assert given
        assert {w.filename for w in given} == {__file__}
