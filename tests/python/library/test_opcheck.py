"""opcheck and the modes that compare operators with their schemas."""

import pytest
from hotaru._subclasses import CrossRefFakeMode
from hotaru._subclasses.schema_check_mode import SchemaCheckMode

import hotaru as torch
from hotaru import library


@pytest.fixture
def lib():
    with library._scoped_library("checked", "FRAGMENT") as made:
        yield made


def _defined(lib, kernel, key="CPU", schema="f(Tensor x) -> Tensor"):
    lib.define(schema)
    lib.impl("f", kernel, key)
    return torch.ops.checked.f.default


def _failed(op, *args):
    found = library.opcheck(op, args, raise_exception=False)
    return {k: str(v) for k, v in found.items() if v != "SUCCESS"}


def test_a_mutation_that_the_schema_does_not_say(lib):
    op = _defined(lib, lambda x: x.sin_().clone())
    x = torch.ones(2)
    found = _failed(op, x)
    assert "x is not defined as mutable but was" in found["test_schema"]
    assert x.tolist() == [1, 1]
    with pytest.raises(library.OpCheckError, match="test_schema failed"):
        library.opcheck(op, (x,))


def test_a_view_that_the_schema_does_not_say(lib):
    op = _defined(lib, lambda x: x[:1])
    found = _failed(op, torch.ones(2))
    assert "x is not defined to alias output" in found["test_schema"]


def test_what_the_schema_says_is_right(lib):
    op = _defined(
        lib, lambda x, y: x.add_(y), schema="f(Tensor(a!) x, Tensor y) -> Tensor(a!)"
    )
    lib.impl("f", lambda x, y: x, "Meta")
    assert not _failed(op, torch.ones(2), torch.ones(2))


def test_what_only_writes_needs_no_fake_kernel(lib):
    def copy(x, y):
        y.copy_(x)

    op = _defined(lib, copy, schema="f(Tensor x, Tensor(a!) y) -> ()")
    assert not _failed(op, torch.ones(2), torch.zeros(2))
    assert op(torch.ones(2, device="meta"), torch.ones(2)) is None


def test_nan_is_no_mutation(lib):
    op = _defined(lib, lambda x: x + 1, "CompositeImplicitAutograd")
    assert not _failed(op, torch.tensor([float("nan"), 1.0]))


def test_derivatives_of_a_device_kernel(lib):
    op = _defined(lib, lambda x: x.sin())
    x = torch.ones(2, requires_grad=True)
    found = _failed(op, x)
    assert "autograd key" in found["test_autograd_registration"]
    assert "no fake impl" in found["test_faketensor"]
    assert torch._C._get_autograd_fallback_mode() == "warn"


@pytest.mark.parametrize(
    ("fake", "text"),
    [
        (lambda x: x.unsqueeze(1), r"Shapes .* are not equal"),
        (lambda x: x.double(), r"Dtypes .* are not equal"),
        (lambda x: x.t().contiguous().t(), r"Strides .* are not equal"),
    ],
)
def test_results_on_the_meta_device(lib, fake, text):
    op = _defined(lib, lambda x: x.detach().clone())
    lib.impl("f", fake, "Meta")
    x = torch.ones(2, 3)
    with pytest.raises(library.OpCheckError, match=text):
        library.opcheck(op, (x,))
    with pytest.raises(AssertionError, match=text), CrossRefFakeMode():
        op(x)
    with CrossRefFakeMode(ignore_op_fn=lambda op: True):
        op(x)


def test_a_mode_that_checks_schemas(lib):
    op = _defined(lib, lambda x: x.view(-1))
    with SchemaCheckMode() as mode:
        torch.ops.aten.add(torch.ones(2), 1)
        with pytest.raises(RuntimeError, match="alias output"):
            op(torch.ones(2))
    assert mode.ops == ["aten::add.Scalar", "checked::f"] or mode.ops == [
        "aten::add.Tensor",
        "checked::f",
    ]


def test_hotarus_own_operators_pass():
    x = torch.ones(2, 3, requires_grad=True)
    for op, args in (
        (torch.ops.aten.sin.default, (x,)),
        (torch.ops.aten.add.Tensor, (x, x)),
        (torch.ops.aten.relu_.default, (x.detach(),)),
    ):
        assert not _failed(op, *args)


def test_what_cannot_be_checked_says_so():
    op = torch.ops.aten.sin.default
    x = torch.ones(2)
    found = library.opcheck(op, (x,), test_utils="ALL", raise_exception=False)
    assert isinstance(found["test_aot_dispatch_static"], NotImplementedError)
    assert "gradcheck" in str(found["test_aot_dispatch_dynamic"])
    with pytest.raises(ValueError, match="to be subset of"):
        library.opcheck(op, (x,), test_utils="test_other")
    with pytest.raises(ValueError, match="op must be instance"):
        library.opcheck(torch.sin, (x,))
    with pytest.raises(RuntimeError, match="without overloads"):
        library.opcheck(torch.ops.aten.add, (x, x))
