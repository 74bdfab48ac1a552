"""`torch._prims_common`, `torch._prims` and `torch._refs`, by PyTorch's rules."""

from __future__ import annotations

import inspect
import itertools

import hotaru._prims as prims
import hotaru._prims_common as common
import hotaru._refs as refs
import pytest

import hotaru as torch

KINDS = common.ELEMENTWISE_TYPE_PROMOTION_KIND
DTYPES = (
    "bool uint8 int8 int64 float16 bfloat16 float32 float64 complex64".split()  # noqa: SIM905
)
OPERANDS = [
    torch.ones(shape, dtype=getattr(torch, name))
    for name in DTYPES
    for shape in ((2,), ())
] + [True, 1, 1.0, 1j]


def test_dtypes_are_those_of_the_operators():
    for a, b in itertools.product(OPERANDS, repeat=2):
        if not (isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor)):
            continue
        for kind, call in (
            (KINDS.DEFAULT, lambda x, y: x * y),
            (KINDS.INT_TO_FLOAT, lambda x, y: x / y),
            (KINDS.ALWAYS_BOOL, lambda x, y: x == y),
            (KINDS.BOOL_TO_LONG, None),
        ):
            computed, found = common.elementwise_dtypes(a, b, type_promotion_kind=kind)
            if torch.complex32 in (torch.result_type(a, b), found):
                continue  # nobody divides those
            if call is not None:
                assert found is call(a, b).dtype, (a, b, kind)
            elif found is torch.int64:
                assert computed is torch.int64
    half = torch.ones(2, dtype=torch.float16)
    both = common.elementwise_dtypes(half, type_promotion_kind=KINDS.DEFAULT)
    assert both == (torch.float32, torch.float16)
    z = torch.ones(2, dtype=torch.complex64)
    both = common.elementwise_dtypes(z, type_promotion_kind=KINDS.COMPLEX_TO_FLOAT)
    assert both == (torch.complex64, torch.float32)
    # Numbers never outrank tensors of their kind, nor do 0-d ones.
    three = (half, torch.ones((), dtype=torch.float64), 1.0)
    both = common.elementwise_dtypes(*three, type_promotion_kind=KINDS.NO_OPMATH)
    assert both == (torch.float16, torch.float16)
    with pytest.raises(ValueError, match="Unexpected type"):
        common.elementwise_dtypes("x", type_promotion_kind=KINDS.DEFAULT)


def test_strides_are_those_of_new_tensors():
    for shape in ((), (3,), (2, 0, 3), (4, 1, 5)):
        assert common.make_contiguous_strides_for(shape) == torch.empty(shape).stride()
    for shape, wanted in (
        ((2, 3, 4, 5), torch.channels_last),
        ((2, 3, 4, 5, 6), torch.channels_last_3d),
    ):
        made = torch.empty(shape, memory_format=wanted)
        assert common.make_channels_last_strides_for(shape) == made.stride()
        assert common.suggest_memory_format(made) is wanted
        assert common.is_channels_last_contiguous(made)
        assert not common.is_contiguous(made)
    assert common.make_contiguous_strides_for((2, 4, 3), row_major=False) == (12, 1, 4)
    turned = torch.ones(3, 4).t()
    assert common.is_non_overlapping_and_dense_or_false(turned)
    assert not common.is_non_overlapping_and_dense_or_false(turned[:2])
    assert common.clone_preserve_strides(turned).stride() == (1, 4)


def test_shapes_and_dimensions():
    assert common.canonicalize_dims(3, (0, -1)) == (0, 2)
    assert common.canonicalize_dim(0, -1) == 0
    for call in (
        lambda: common.canonicalize_dim(3, 3),
        lambda: common.canonicalize_dim(0, 0, wrap_scalar=False),
    ):
        with pytest.raises(IndexError):
            call()
    assert common.infer_size((2, -1), 6) == (2, 3)
    for shape, numel in (((2, -1), 5), ((-1, -1), 4), ((0, -1), 0), ((2, 2), 5)):
        with pytest.raises(RuntimeError):
            common.infer_size(shape, numel)
    assert common.reduction_dims((2, 3), None) == (0, 1)
    with pytest.raises(RuntimeError, match="duplicate"):
        common.reduction_dims((2, 3), (0, -2))
    assert common.invert_perm([2, 0, 1]) == [1, 2, 0]
    assert refs._broadcast_shapes((2, 1), 3) == [2, 3]


def test_primitives_neither_broadcast_nor_promote():
    x = torch.tensor([1.0, 2.0])
    assert prims.add(x, 1).tolist() == [2, 3]
    assert prims.mul(x, 1 + 1j).dtype is torch.complex64
    with pytest.raises(RuntimeError, match="not the expected shape"):
        prims.add(x, torch.ones(3))
    with pytest.raises(RuntimeError, match="not the expected dtype"):
        prims.add(x, torch.ones(2, dtype=torch.int32))
    assert prims.div(torch.tensor([-7]), torch.tensor([2])).tolist() == [-3]
    assert torch.equal(torch.ops.prims.sin(x), torch.sin(x))
    assert torch.ops.prims.sin.default.name() == "prims::sin"


def test_primitives_of_shapes():
    x = torch.arange(24.0).reshape(2, 3, 4)
    found = prims.broadcast_in_dim(torch.ones(3), (2, 3), (1,))
    assert found.shape == (2, 3)
    with pytest.raises(RuntimeError, match="3 must be broadcastable to 4"):
        prims.broadcast_in_dim(torch.ones(3), (2, 4), (1,))
    assert prims.collapse_view(x, 0, 1)._is_view()
    assert not prims.collapse(x, 1, 2)._is_view()
    with pytest.raises(RuntimeError, match="no such view"):
        prims.collapse_view(x.transpose(0, 1), 0, 2)
    assert prims.split_dim(x, 2, 2).shape == (2, 3, 2, 2)
    with pytest.raises(ValueError, match="with a remainder"):
        prims.split_dim(x, 1, 2)
    assert prims.transpose(x, (2, 0, 1)).shape == (4, 2, 3)
    with pytest.raises(ValueError, match="invalid permutation"):
        prims.transpose(x, (0, 0, 1))
    assert prims.expand_dims(x, (0, -1)).shape == (1, 2, 3, 4, 1)
    assert prims.prod(x + 1, [0, 2]).tolist() == (x + 1).prod(2).prod(0).tolist()
    assert prims.sum(x, []).shape == x.shape


def test_cube_roots():
    x = torch.tensor([0.0, -0.0, 27.0, -8.0, 1e-300, 1e300], dtype=torch.float64)
    found = prims.cbrt(x)
    assert torch.allclose(found**3, x, rtol=1e-15)
    assert found[2:4].tolist() == [3, -2]
    assert torch.signbit(found).tolist() == torch.signbit(x).tolist()
    special = prims.cbrt(torch.tensor([torch.inf, -torch.inf, torch.nan]))
    assert special[:2].tolist() == [torch.inf, -torch.inf]
    assert special.isnan()[2]


def test_random_numbers_of_a_state():
    state, first = prims.rng_prims.run_and_save_rng_state(torch.rand, 3)
    next_ = torch.get_rng_state()
    again = prims.rng_prims.run_with_rng_state(state, torch.rand, 3)
    assert torch.equal(first, again)
    assert torch.equal(torch.get_rng_state(), next_)


def test_references_are_the_functions():
    x = torch.arange(6.0).reshape(2, 3)
    assert refs.add is torch.add
    assert refs.reshape(x, 3, 2).shape == (3, 2)
    assert refs.view(x, 1, 6).shape == (1, 6)
    assert refs.rtruediv(torch.tensor(2.0), torch.tensor(3.0)).item() == 1.5
    assert refs.trunc_divide(torch.tensor(-7), torch.tensor(2)).item() == -3
    assert refs.nn.functional.relu is torch.nn.functional.relu
    a, b = refs._maybe_broadcast(x, torch.ones(3))
    assert b.shape == a.shape == (2, 3)
    with pytest.raises(AttributeError):
        refs.no_such_name  # noqa: B018


def test_reductions_tell_their_arguments():
    x = torch.arange(24.0).reshape(2, 3, 4) - 7
    for name in ("sum", "prod", "mean"):
        function = getattr(refs, name)
        assert "dtype" in inspect.getfullargspec(function).kwonlyargs
        for dim in (0, -1, (0, 2)):
            wanted = x.double()
            for each in sorted((dim,) if isinstance(dim, int) else dim, reverse=True):
                wanted = getattr(torch, name)(wanted, each)
            assert torch.allclose(function(x, dim, dtype=torch.float64), wanted)
    assert "dtype" not in inspect.getfullargspec(refs.amax).kwonlyargs
    assert torch.equal(refs.var(x, 1, unbiased=False), x.var(1, correction=0))
    assert refs.prod(x, ()).shape == ()
