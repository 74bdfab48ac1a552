"""When `MultiheadAttention` is one operator, and that it changes no result."""

from __future__ import annotations

import copy
import pickle
from unittest import mock

import pytest


def _attention(hotaru, **options):
    return hotaru.nn.MultiheadAttention(16, 4, batch_first=True, **options)


def _calls(hotaru, module, *args, **kwargs) -> int:
    found = hotaru._native_multi_head_attention
    with mock.patch.object(
        hotaru, "_native_multi_head_attention", wraps=found
    ) as native:
        module(*args, **kwargs)
    return native.call_count


def test_where_it_is_taken(hotaru):
    module = _attention(hotaru).eval()
    x = hotaru.randn(2, 5, 16)
    hidden = hotaru.zeros(2, 5, dtype=hotaru.bool)
    with hotaru.no_grad():
        assert _calls(hotaru, module, x, x, x) == 1
        assert _calls(hotaru, module, x, x, x, key_padding_mask=hidden) == 1
        assert _calls(hotaru, module, x, x.clone(), x) == 0
        assert _calls(hotaru, module, x[0], x[0], x[0]) == 0
        floats = hotaru.zeros(5, 5)
        assert _calls(hotaru, module, x, x, x, attn_mask=floats) == 0
        assert _calls(hotaru, module.train(), x, x, x) == 0
        odd = hotaru.nn.MultiheadAttention(9, 3, batch_first=True).eval()
        y = hotaru.randn(2, 5, 9)
        assert _calls(hotaru, odd, y, y, y) == 0
        hotaru.backends.mha.set_fastpath_enabled(False)
        try:
            assert _calls(hotaru, module.eval(), x, x, x) == 0
        finally:
            hotaru.backends.mha.set_fastpath_enabled(True)
    assert _calls(hotaru, module.eval(), x, x, x) == 0


@pytest.mark.parametrize("masks", ["", "keys", "scores", "heads", "both"])
@pytest.mark.parametrize("average", [True, False])
def test_same_results(hotaru, masks, average):
    hotaru.manual_seed(0)
    module = _attention(hotaru).eval()
    x = hotaru.randn(2, 5, 16)
    upper = hotaru.ones(5, 5, dtype=hotaru.bool).triu(1)
    given = {}
    if masks in ("keys", "both"):
        hidden = hotaru.zeros(2, 5, dtype=hotaru.bool)
        hidden[1, 3:] = True
        given["key_padding_mask"] = hidden
    if masks in ("scores", "both"):
        given["attn_mask"] = upper
    if masks == "heads":
        given["attn_mask"] = upper.expand(8, 5, 5)
    with hotaru.no_grad():
        got = module(x, x, x, average_attn_weights=average, **given)
    # With gradients the other way is taken.
    want = module(x, x, x, average_attn_weights=average, **given)
    assert hotaru.allclose(got[0], want[0], atol=1e-6)
    assert got[1].shape == want[1].shape
    assert hotaru.allclose(got[1], want[1], atol=1e-6)
    with hotaru.no_grad():
        assert module(x, x, x, need_weights=False)[1] is None


def test_masks_of_wrong_shapes_are_errors(hotaru):
    module = _attention(hotaru).eval()
    x = hotaru.randn(2, 5, 16)
    with hotaru.no_grad():
        for name, shape in (("key_padding_mask", (2, 4)), ("attn_mask", (4, 5))):
            mask = hotaru.zeros(shape, dtype=hotaru.bool)
            with pytest.raises((AssertionError, RuntimeError), match="shape"):
                module(x, x, x, **{name: mask})
        with pytest.raises(RuntimeError, match="Need attn_mask"):
            module(x, x, x, is_causal=True)


def test_a_bias_of_another_dtype(hotaru):
    module = _attention(hotaru, dtype=hotaru.float64).eval()
    module.in_proj_bias.data.normal_()
    x = hotaru.randn(2, 5, 16, dtype=hotaru.float64)
    want, _ = module(x, x, x)
    narrow = hotaru.nn.Parameter(module.in_proj_bias.detach().half())
    module.in_proj_bias = narrow
    got, _ = module(x, x, x)
    assert got.dtype is hotaru.float64
    # The bias has 11 bits; outputs are of the order of 1.
    assert (got - want).abs().max() < 1e-2
    assert not hotaru.equal(got, want)


def _encoder(hotaru, stack: dict | None = None, **options):
    hotaru.manual_seed(3)
    options = {"batch_first": True, **options}
    layer = hotaru.nn.TransformerEncoderLayer(8, 2, 16, **options)
    return hotaru.nn.TransformerEncoder(layer, 2, **(stack or {})).eval()


def _padded(hotaru) -> tuple:
    x = hotaru.linspace(-1, 1, 48).view(2, 3, 8)
    return x, hotaru.tensor([[False, False, True], [False, False, False]])


@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_padding_of_an_encoder_is_0(hotaru, kind, activation):
    encoder = _encoder(hotaru, activation=activation)
    x, mask = _padded(hotaru)
    given = mask
    if kind == "float":
        given = hotaru.zeros(2, 3).masked_fill(mask, float("-inf"))
    with hotaru.no_grad():
        got = encoder(x, src_key_padding_mask=given)
    assert got[0, 2].tolist() == [0.0] * 8
    # With gradients all positions are computed; the others are the same.
    slow = encoder(x, src_key_padding_mask=given)
    assert slow[0, 2].abs().min() > 0
    assert hotaru.allclose(got[~mask], slow[~mask], atol=1e-6)


def test_the_norm_behind_an_encoder_sees_the_zeros(hotaru):
    norm = hotaru.nn.LayerNorm(8)
    hotaru.nn.init.constant_(norm.bias, 3.0)
    encoder = _encoder(hotaru, {"norm": norm})
    x, mask = _padded(hotaru)
    with hotaru.no_grad():
        assert encoder(x, src_key_padding_mask=mask)[0, 2].tolist() == [3.0] * 8


@pytest.mark.parametrize("stack", [{"enable_nested_tensor": False}, {}])
@pytest.mark.parametrize(
    "options",
    [
        {"norm_first": True},
        {"batch_first": False},
        {"bias": False},
        {"activation": "tanh"},
    ],
)
def test_encoders_that_keep_padding(hotaru, stack, options):
    if options.get("activation") == "tanh":
        options = {"activation": hotaru.tanh}
    encoder = _encoder(hotaru, stack, **options)
    x, mask = _padded(hotaru)
    if options.get("batch_first") is False:
        x = x.transpose(0, 1)
    with hotaru.no_grad():
        got = encoder(x, src_key_padding_mask=mask)
    assert (got != 0).all()


def test_calls_that_keep_padding(hotaru):
    encoder = _encoder(hotaru)
    x, mask = _padded(hotaru)
    other = hotaru.tensor([[True, False, False], [False, False, False]])
    square = hotaru.zeros(3, 3, dtype=hotaru.bool)
    with hotaru.no_grad():
        assert (encoder(x, src_key_padding_mask=other) != 0).all()
        assert (encoder(x, square, src_key_padding_mask=mask) != 0).all()
        encoder.train()
        assert (encoder(x, src_key_padding_mask=mask)[0, 2] != 0).any()


def test_compiled_encoders_leave_padding_out(hotaru):
    encoder = _encoder(hotaru)
    x, mask = _padded(hotaru)
    with hotaru.no_grad():
        want = encoder(x, src_key_padding_mask=mask)
        got = hotaru.jit.script(encoder)(x, None, mask)
    assert hotaru.allclose(got, want, atol=1e-6)
    assert got[0, 2].tolist() == [0.0] * 8


@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_copies_of_layers_keep_an_activation_that_is_a_module(hotaru, kind):
    make = getattr(hotaru.nn, f"Transformer{kind}Layer")
    layer = make(8, 2, 16, dropout=0.0, activation=hotaru.nn.GELU())
    x = hotaru.linspace(-1, 1, 48).view(2, 3, 8)
    given = (x,) if kind == "Encoder" else (x, x)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert isinstance(other.activation, hotaru.nn.GELU)
        assert hotaru.equal(other(*given), layer(*given))
