"""Promises of nested tensors beside PyTorch's recorded outcomes."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

LAYOUTS = ("strided", "jagged")


def made(hotaru, layout: str, **options):
    """A nested tensor of two fixed matrices, and the matrices."""
    rows = [
        hotaru.linspace(-1, 1, 6, dtype=hotaru.float64).view(2, 3),
        hotaru.linspace(0, 2, 12, dtype=hotaru.float64).view(4, 3).cos(),
    ]
    layout = getattr(hotaru, layout)
    nested = hotaru.nested.nested_tensor(rows, layout=layout, **options)
    return nested, rows


@pytest.mark.parametrize("layout", LAYOUTS)
def test_softmax_derives_along_the_ragged_dimension(hotaru, layout):
    nested, rows = made(hotaru, layout, requires_grad=True)
    weights = [hotaru.sin(3 * row) for row in rows]
    loss = sum((part * w).sum() for part, w in zip(nested.softmax(1).unbind(), weights))
    loss.backward()
    for row, weight, grad in zip(rows, weights, nested.grad.unbind()):
        leaf = row.clone().requires_grad_()
        (leaf.softmax(0) * weight).sum().backward()
        assert hotaru.allclose(grad, leaf.grad)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_of_several_uses_add_up(hotaru, layout):
    nested, _ = made(hotaru, layout, requires_grad=True)
    (nested * 2 + nested * nested).backward(hotaru.ones_like(nested))
    (nested * 3).backward(hotaru.ones_like(nested))
    assert hotaru.allclose(nested.grad.values(), 5 + 2 * nested.detach().values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_second_derivatives(hotaru, layout):
    nested, _ = made(hotaru, layout, requires_grad=True)
    ones = hotaru.ones_like(nested)
    (first,) = hotaru.autograd.grad(
        nested.values().pow(3).sum(), nested, create_graph=True
    )
    (second,) = hotaru.autograd.grad(first, nested, ones)
    assert hotaru.allclose(second.values(), 6 * nested.detach().values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes_have_a_history(hotaru, layout):
    nested, _ = made(hotaru, layout, requires_grad=True)
    changed = nested * 1
    assert changed.sin_() is changed
    changed.mul_(2)
    changed.backward(hotaru.ones_like(changed))
    expected = 2 * nested.detach().values().cos()
    assert hotaru.allclose(nested.grad.values(), expected)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires"):
        nested.mul_(2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_derivative_needs_may_not_change(hotaru, layout):
    nested, _ = made(hotaru, layout, requires_grad=True)
    changed = nested * 1
    result = changed * changed
    changed.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        result.backward(hotaru.ones_like(result))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_and_pickles(hotaru, layout):
    nested, rows = made(hotaru, layout, requires_grad=True)
    for other in (copy.deepcopy(nested), pickle.loads(pickle.dumps(nested))):
        assert other.requires_grad
        assert other.layout is nested.layout
        with hotaru.no_grad():
            other.zero_()
        assert all(map(hotaru.equal, nested.unbind(), rows))


def test_files(hotaru):
    for layout in LAYOUTS:
        nested, rows = made(hotaru, layout, requires_grad=True)
        file = io.BytesIO()
        hotaru.save({"x": nested}, file)
        import hotaru._dynamo

        for safe in (True, False):
            file.seek(0)
            read = hotaru.load(file, weights_only=safe)["x"]
            assert read.requires_grad
            assert read.is_nested
            assert all(map(hotaru.equal, read.unbind(), rows))
            assert hotaru.equal(read.to_padded_tensor(0), nested.to_padded_tensor(0))


def test_skipped_data(hotaru):
    nested, _ = made(hotaru, "strided")
    with (
        hotaru.serialization.skip_data(),
        pytest.raises(RuntimeError, match="Cannot serialize nested tensor"),
    ):
        hotaru.save(nested, io.BytesIO())


def test_views_share_memory(hotaru):
    values = hotaru.zeros(4, 3)
    nested = hotaru.nested.nested_tensor_from_jagged(values, hotaru.tensor([0, 1, 4]))
    nested.unbind()[1].fill_(2)
    nested.transpose(1, 2).add_(1)
    assert values.tolist() == [[1.0] * 3] + [[3.0] * 3] * 3
    assert nested._base is values
    assert nested.transpose(1, 2)._base is values
    assert (nested * 1)._base is None


def test_symbolic_sizes(hotaru):
    from hotaru.nested._internal.nested_int import NestedIntNode

    a, b, c = (hotaru.SymInt(NestedIntNode(i, k)) for i, k in ((1, 5), (1, 10), (2, 1)))
    assert a != b
    assert b >= a
    assert not a >= b
    assert a <= b
    assert a * 2 == b == 2 * a
    assert hash(a * 2) == hash(b)
    assert a != 5
    assert c > 1
    assert not c <= 1
    for compare in (lambda: a > c, lambda: c > 2, lambda: c >= 3):
        with pytest.raises(ValueError, match="indeterminate"):
            compare()
    assert f"{a} {c}" == "5*j1 j2"
    with pytest.raises(AttributeError):
        a + 1


def test_offsets_say_which_tensors_fit(hotaru):
    one, _ = made(hotaru, "jagged")
    other, _ = made(hotaru, "jagged")
    same = hotaru.nested.nested_tensor_from_jagged(other.values(), one.offsets())
    assert (one + same).shape == one.shape
    with pytest.raises(RuntimeError, match="cannot call binary pointwise"):
        one + other


def test_encoder_with_padding_mask(hotaru):
    layer = hotaru.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0)
    encoder = hotaru.nn.TransformerEncoder(layer, 2).eval()
    rows = [hotaru.linspace(-1, 1, 4 * n).view(n, 4) for n in (2, 3)]
    nested = hotaru.nested.nested_tensor(rows)
    mask = hotaru.tensor([[False, False, True], [False] * 3])
    with hotaru.no_grad():
        padded = encoder(nested.to_padded_tensor(0), src_key_padding_mask=mask)
        for row, expected in zip(encoder(nested).unbind(), padded):
            hotaru.testing.assert_close(row, expected[: len(row)])


def test_unknown_operators_say_so(hotaru):
    strided, _ = made(hotaru, "strided")
    jagged, _ = made(hotaru, "jagged")
    for call in (strided.exp, strided.cumsum, jagged.sort, jagged.tril):
        with pytest.raises(NotImplementedError, match=r"unbind\(\)"):
            call()
    with pytest.raises(NotImplementedError, match="it is of nested tensors"):
        hotaru.ones(2).to_padded_tensor(0)


def test_functions_of_programs_get_zeros(hotaru):
    class Two(hotaru.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            assert b.is_nested
            assert not b.values().any()
            return a * 2 + b * 3

    for layout in LAYOUTS:
        nested, _ = made(hotaru, layout, requires_grad=True)
        first, _ = Two.apply(nested)
        first.backward(hotaru.ones_like(first))
        assert (nested.grad.values() == 2).all()


@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_the_type_of_a_nested_tensor_is_its_dtype(hotaru, layout):
    x = hotaru.nested.nested_tensor(
        [hotaru.ones(2, 3)], layout=getattr(hotaru, layout), dtype=hotaru.float64
    )
    assert x.type() == hotaru.typename(x) == "torch.DoubleTensor"
    assert hotaru.eye(2).to_sparse().type() == "torch.sparse.FloatTensor"


def test_sizes_are_compared_among_nested_tensors_alone(hotaru):
    torch = hotaru
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    assert nested.is_same_size(nested.clone())
    for a, b in ((nested, torch.ones(2)), (torch.ones(2), nested)):
        with pytest.raises(RuntimeError, match="both self and other to be nested"):
            a.is_same_size(b)
