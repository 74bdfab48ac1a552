"""Answers of tensors of parts about themselves, as plain ones give."""

from __future__ import annotations

import pytest

import hotaru

_KINDS = {
    "coo": lambda: hotaru.eye(2).to_sparse(),
    "csr": lambda: hotaru.eye(2).to_sparse_csr(),
    "nested": lambda: hotaru.nested.nested_tensor(
        [hotaru.ones(2, 3), hotaru.ones(1, 3)]
    ),
    "jagged": lambda: hotaru.nested.nested_tensor(
        [hotaru.ones(2, 3), hotaru.ones(1, 3)], layout=hotaru.jagged
    ),
    "quantized": lambda: hotaru.quantize_per_tensor(
        hotaru.ones(2, 3), 0.1, 0, hotaru.quint8
    ),
    "channels": lambda: hotaru.quantize_per_channel(
        hotaru.ones(2, 3),
        hotaru.tensor([0.1, 0.2]),
        hotaru.tensor([0, 0]),
        0,
        hotaru.qint8,
    ),
    "masked": lambda: _masked(lambda x: x),
    "masked coo": lambda: _masked(lambda x: x.to_sparse()),
    "masked csr": lambda: _masked(lambda x: x.to_sparse_csr()),
}


def _masked(layout):
    data = hotaru.eye(2)
    return hotaru.masked.masked_tensor(layout(data), layout(data > 0))


pytestmark = pytest.mark.filterwarnings("ignore")
_every_kind = pytest.mark.parametrize("kind", _KINDS)


@_every_kind
def test_what_is_resolved_is_the_tensor_itself(kind):
    x = _KINDS[kind]()
    assert x.resolve_conj() is x
    assert x.resolve_neg() is x
    assert hotaru.resolve_conj(x) is x


@_every_kind
def test_questions(kind):
    x = _KINDS[kind]()
    assert x.is_distributed() is False
    if not str(x.layout).startswith("torch.sparse"):
        assert x.is_shared() is False
    assert hotaru.is_inference(x) is False
    if not kind.startswith("masked "):
        assert x.is_conj() is False
        assert x.is_neg() is False
    name = {
        "quantized": "torch.quantized.QUInt8Tensor",
        "channels": "torch.quantized.QInt8Tensor",
    }.get(kind, "torch.sparse.FloatTensor")
    if kind in ("nested", "jagged", "masked"):
        name = "torch.FloatTensor"
    assert x.type() == name
    assert hotaru.typename(x) == name


@pytest.mark.parametrize("kind", ["nested", "jagged", "quantized", "channels"])
def test_shared_memory_of_parts(kind):
    x = _KINDS[kind]()
    assert x.share_memory_() is x
    assert x.is_shared()
    assert not _KINDS[kind]().is_shared()


@pytest.mark.parametrize("kind", ["coo", "csr", "quantized", "channels"])
def test_the_first_element_is_the_memorys(kind):
    assert _KINDS[kind]().storage_offset() == 0


# --- quantized ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["T", "mT", "H", "mH"])
def test_quantized_tensors_turned_stay_quantized(name):
    x = _KINDS["quantized"]()
    turned = getattr(x, name)
    assert turned.is_quantized
    assert turned.dtype == hotaru.quint8
    assert turned.q_scale() == x.q_scale()
    assert (turned.shape, turned.stride()) == ((3, 2), (1, 3))
    assert turned.equal(x.t())
    with pytest.raises(RuntimeError, match="only on uniformly quantized"):
        getattr(_KINDS["channels"](), name)


@pytest.mark.parametrize("kind", ["quantized", "channels"])
def test_quantized_tensors_of_one_memory(kind):
    x = _KINDS[kind]()
    for alias in (x.data, x.detach()):
        assert alias.is_quantized
        assert alias.qscheme() == x.qscheme()
        assert alias.data_ptr() == x.data_ptr() != 0
    assert x.clone().data_ptr() != x.data_ptr()
    assert x.untyped_storage().nbytes() == 6
    for same in (x.real, x.conj(), x.contiguous(), x.cpu(), x.to_dense()):
        assert same is x
    assert x.type_as(x) is x
    assert (x.dense_dim(), x.sparse_dim(), x.dim_order()) == (2, 0, (0, 1))


@pytest.mark.parametrize("kind", ["quantized", "channels"])
def test_what_quantized_tensors_refuse(kind):
    x = _KINDS[kind]()
    with pytest.raises(RuntimeError, match="non-complex dtypes"):
        x.imag  # noqa: B018
    with pytest.raises(RuntimeError, match="isSignedType not supported"):
        x.is_signed()
    with pytest.raises(RuntimeError, match="is ambiguous"):
        x.is_nonzero()
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        x.retain_grad()


def test_a_quantized_adjoint():
    x = _KINDS["quantized"]()
    assert x.adjoint().equal(x.t())


# --- nested and masked --------------------------------------------------------


@pytest.mark.parametrize("dtype", [hotaru.float32, hotaru.complex64])
def test_adjoints_of_nested_tensors(dtype):
    parts = [hotaru.rand(2, 3, dtype=dtype), hotaru.rand(1, 3, dtype=dtype)]
    x = hotaru.nested.nested_tensor(parts)
    for turned in (x.mH, x.adjoint()):
        for part, given in zip(turned.unbind(), parts):
            assert part.equal(given.mH)


def test_masked_tensors_of_other_types():
    x = _KINDS["masked"]()
    for same in (x.float(), x.cpu(), x.to("cpu"), x.type_as(x), x.conj()):
        assert same is x
    assert x.type(hotaru.float32) is x
    for other in (x.double(), x.type(hotaru.float64)):
        assert isinstance(other, hotaru.masked.MaskedTensor)
        assert other.dtype == hotaru.float64
        assert other.get_mask().equal(x.get_mask())
    assert x.dim_order() == (0, 1)
    assert x.storage_type() is hotaru.FloatStorage


@pytest.mark.parametrize(
    "ask",
    [
        lambda q: q.sort(0),
        lambda q: q.topk(1, 0),
        lambda q: q.min(0),
        lambda q: q.max(),
        hotaru.relu,
        lambda q: q.to_sparse(),
    ],
)
def test_integers_of_other_scales_are_not_compared(ask):
    x = hotaru.tensor([[4.0, 5.0], [1.0, 2.0]])
    scales = hotaru.tensor([1.0, 0.01])
    q = hotaru.quantize_per_channel(x, scales, hotaru.tensor([0, 0]), 0, hotaru.qint8)
    with pytest.raises(NotImplementedError, match="QuantizedCPU"):
        ask(q)


def test_real_parts_and_rows_of_nested():
    rows = [hotaru.full((n,), 1 + 2j) for n in (2, 3)]
    nested = hotaru.nested.nested_tensor(rows)
    for real in (nested.real, hotaru.real(nested)):
        assert real.dtype == hotaru.float32
        assert [row.tolist() for row in real] == [[1.0] * 2, [1.0] * 3]
