"""When `MultiheadAttention` is one operator, and that it changes no result."""

from __future__ import annotations

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
        for name, shape in (
            ("key_padding_mask", (2, 4)),
            ("attn_mask", (4, 5)),
        ):
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
