"""Parts of quantisation that are not compared with PyTorch call by call:
files, memory, and what is refused.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture
def aq(hotaru):
    from hotaru.ao import quantization

    return quantization


def _converted(hotaru, aq):
    nn = hotaru.nn
    return aq.quantize_dynamic(
        nn.Sequential(nn.Linear(5, 3), nn.Embedding(4, 3)),
        {
            nn.Linear: aq.per_channel_dynamic_qconfig,
            nn.Embedding: aq.float_qparams_weight_only_qconfig,
        },
    )


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_state_that_pytorch_saved(hotaru, aq, weights_only):
    found = hotaru.load(GOLDEN / "quantized_state.pt", weights_only=weights_only)
    model = _converted(hotaru, aq)
    model.load_state_dict(found["state"])
    assert hotaru.allclose(model[0](found["x"]), found["y"], atol=1e-6)
    # A view of a storage from its second element on.
    assert found["part"].int_repr()[0].tolist() == [0, 0, 0, 2]
    assert found["part"].dtype is hotaru.quint8


def test_a_state_that_we_saved(hotaru, aq):
    model = _converted(hotaru, aq)
    file = io.BytesIO()
    hotaru.save(model.state_dict(), file)
    file.seek(0)
    other = _converted(hotaru, aq)
    other.load_state_dict(hotaru.load(file))
    x = hotaru.randn(2, 5)
    assert hotaru.equal(model[0](x), other[0](x))
    places = hotaru.tensor([0, 3])
    assert hotaru.equal(model[1](places), other[1](places))


def test_a_recurrent_state(hotaru, aq):
    nn = hotaru.nn
    models = [
        aq.quantize_dynamic(nn.Sequential(kind(3, 4)))
        for kind in (nn.LSTM, nn.LSTM, nn.GRUCell, nn.GRUCell)
    ]
    for one, other in (models[:2], models[2:]):
        file = io.BytesIO()
        hotaru.save(one.state_dict(), file)
        file.seek(0)
        other.load_state_dict(hotaru.load(file))
        x = hotaru.randn(2, 5, 3) if one is models[0] else hotaru.randn(2, 3)
        results = [m(x) for m in (one, other)]
        if isinstance(results[0], tuple):
            results = [r[0] for r in results]
        assert hotaru.equal(*results)


def test_pickles_keep_scales(hotaru):
    x = hotaru.randn(3, 4)
    for tensor in (
        hotaru.quantize_per_tensor(x, 0.1, 2, hotaru.qint8),
        hotaru.quantize_per_channel(
            x, hotaru.ones(4) * 0.1, hotaru.zeros(4).long(), 1, hotaru.quint8
        ),
    ):
        made = pickle.loads(pickle.dumps(tensor))
        assert made.dtype is tensor.dtype
        assert made.qscheme() is tensor.qscheme()
        assert hotaru.equal(made.dequantize(), tensor.dequantize())


def test_parts_of_a_file_have_to_fit(hotaru):
    from hotaru._quantized.pickling import rebuild

    tensor = hotaru.quantize_per_channel(
        hotaru.randn(3, 4), hotaru.ones(3), hotaru.zeros(3).long(), 0, hotaru.qint8
    )
    parts = list(tensor.__reduce_ex__(2)[1])
    scheme, scales, zero_points, _ = parts[4]
    for wrong in ((scales, zero_points, 1), (scales[:2], zero_points, 0)):
        parts[4] = (scheme, *wrong)
        with pytest.raises(RuntimeError, match="are not those of a tensor"):
            rebuild(*parts)
    parts[4] = (hotaru.per_tensor_symmetric, 1.0, 0)
    with pytest.raises(RuntimeError, match="Can't deserialize"):
        rebuild(*parts)
    parts[2] = (300, 4)
    with pytest.raises(RuntimeError, match="does not fit into a storage"):
        rebuild(*parts)


def test_weights_have_a_byte_an_element(hotaru, aq):
    model = aq.quantize_dynamic(hotaru.nn.Sequential(hotaru.nn.Linear(64, 32)))
    integers = model[0].weight().int_repr()
    assert integers.dtype is hotaru.int8
    assert integers.nbytes == 64 * 32
    assert list(model.parameters()) == []


def test_views_share_integers(hotaru):
    q = hotaru.quantize_per_tensor(hotaru.zeros(2, 3), 0.5, 1, hotaru.quint8)
    q.view(6)[0] = 2.0
    assert q.dequantize()[0, 0] == 2.0
    assert q.int_repr()[0, 0] == 5


def test_compiled_code_refuses_the_dtypes(hotaru):
    assert isinstance(hotaru.qint8, hotaru.dtype)
    with pytest.raises(TypeError, match="dtype"):
        hotaru.empty((2,), dtype=hotaru.qint8)
    with pytest.raises(TypeError):
        hotaru.ones(2).to(hotaru.quint8)


def test_operators_without_a_meaning_say_so(hotaru):
    q = hotaru.quantize_per_tensor(hotaru.ones(3), 0.5, 1, hotaru.quint8)
    for act in (lambda: q.exp(), lambda: q + 1, lambda: q @ q):
        with pytest.raises(NotImplementedError, match="dequantize"):
            act()
    with pytest.raises(RuntimeError, match="requires quantized dtype"):
        q.float()


def test_modules_without_fixed_scales_say_so(hotaru, aq):
    model = hotaru.nn.Sequential(hotaru.nn.LSTM(2, 3))
    model.qconfig = aq.default_qconfig
    with pytest.raises(NotImplementedError, match="quantize_dynamic"):
        aq.prepare(model)
    with pytest.raises(NotImplementedError, match="is_reference=False"):
        aq.convert(model, is_reference=True)
    with pytest.raises(NotImplementedError, match="proj_size"):
        aq.quantize_dynamic(hotaru.nn.Sequential(hotaru.nn.LSTM(2, 3, proj_size=2)))


def test_slopes_apply_below_zero_alone(hotaru, aq):
    # PyTorch 2.13 multiplies numbers above zero as well.
    from hotaru.ao.nn import quantized as nnq

    module = nnq.PReLU(0.1, 50)
    module.set_weight(
        hotaru.quantize_per_tensor(hotaru.tensor([0.5]), 0.5, 0, hotaru.quint8)
    )
    x = hotaru.tensor([[-2.0, 3.0]])
    q = hotaru.quantize_per_tensor(x, 0.1, 50, hotaru.quint8)
    assert module(q).int_repr().tolist() == [[40, 80]]


def test_older_names(hotaru):
    import hotaru.nn.intrinsic.qat as old_qat
    import hotaru.nn.quantized.dynamic as old_dynamic
    import hotaru.quantization.observer as old_observer
    from hotaru.ao.nn.intrinsic import qat
    from hotaru.ao.nn.quantized import dynamic
    from hotaru.ao.quantization import MinMaxObserver

    assert old_observer.MinMaxObserver is MinMaxObserver
    assert old_dynamic.Linear is dynamic.Linear
    assert old_qat.ConvBn2d is qat.ConvBn2d
    assert hotaru.nn.qat.Linear is hotaru.ao.nn.qat.Linear
    assert hotaru.quantization.prepare is hotaru.ao.quantization.prepare


def test_engines(hotaru):
    engine = hotaru.backends.quantized.engine
    assert engine in hotaru.backends.quantized.supported_engines
    with pytest.raises(RuntimeError, match="not a valid value"):
        hotaru.backends.quantized.engine = "cublas"


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("quint8", "torch.quantized.QUInt8Tensor"),
        ("qint8", "torch.quantized.QInt8Tensor"),
        ("qint32", "torch.quantized.QInt32Tensor"),
    ],
)
def test_types_of_quantised_tensors(hotaru, dtype, name):
    kind = getattr(hotaru, dtype)
    q = hotaru.quantize_per_tensor(hotaru.ones(2), 0.1, 0, kind)
    assert q.type() == name
    assert [hotaru.typename(x) for x in (q, q)] == [name, name]
    assert hotaru.result_type(q, q) is hotaru.result_type(q, 2) is kind
    for other in (hotaru.ones(2), 2.5):
        with pytest.raises(RuntimeError, match="promoteTypes with quantized"):
            hotaru.result_type(q, other)
    assert hotaru.promote_types(kind, kind) is kind
    assert hotaru.can_cast(kind, hotaru.float64)
    assert hotaru.can_cast(hotaru.float32, kind)
    assert not hotaru.can_cast(kind, hotaru.bool)
