"""Archives of PyTorch's that take other ways than most: `make_paths.py`."""

import io
from pathlib import Path

import pytest

import hotaru as torch

GOLDEN = Path(__file__).parents[2] / "golden/script"
PATHS = torch.jit.load(str(GOLDEN / "paths.pt"))


def _values(name: str, kind: str) -> list:
    buffers = dict(PATHS.named_buffers())
    prefix = f"{name}_{kind}"
    return [buffers[key] for key in sorted(buffers) if key.startswith(prefix)]


def _check(module, name: str) -> None:
    with torch.no_grad():
        results = module(*_values(name, "in"))
    wanted = _values(name, "out")
    assert len(results) == len(wanted)
    for result, value in zip(results, wanted):
        assert result.shape == value.shape
        assert torch.allclose(result, value, atol=2e-5)


@pytest.mark.parametrize("name", ["audio", "norms", "attends"])
def test_runs_as_in_pytorch(name):
    _check(getattr(PATHS, name), name)


@pytest.mark.parametrize("name", ["audio", "norms", "attends"])
def test_saved_again(name):
    again = torch.jit.load(io.BytesIO(PATHS.save_to_buffer()))
    _check(getattr(again, name), name)


def test_the_fast_path_is_taken():
    assert "torch._transformer_encoder_layer_fwd(" in PATHS.attends.layer.code


def test_fast_paths_agree_with_modules():
    attends = PATHS.attends
    x, hidden = _values("attends", "in")
    for own, options in (
        (attends.layer, {}),
        (attends.first, {"activation": "gelu", "norm_first": True}),
    ):
        layer = torch.nn.TransformerEncoderLayer(
            4, 2, 6, batch_first=True, **options
        ).eval()
        layer.load_state_dict(own.state_dict())
        with torch.no_grad():
            wanted = layer(x, src_key_padding_mask=hidden)
            assert torch.allclose(own(x, None, hidden), wanted, atol=1e-6)


def test_a_mask_needs_a_type():
    attention = PATHS.attends.attention
    x, hidden = _values("attends", "in")
    weights = (
        attention.in_proj_weight,
        attention.in_proj_bias,
        attention.out_proj.weight,
        attention.out_proj.bias,
    )
    call = torch._native_multi_head_attention
    with pytest.raises(RuntimeError, match="Mask Type should be defined"):
        call(x, x, x, 4, 2, *weights, hidden)
    with pytest.raises(RuntimeError, match="`embed_dim` must divide evenly"):
        call(x, x, x, 4, 3, *weights)


def test_out_within_compiled_code():
    def f(x, y, out):
        return torch.add(x, y, out=out)

    x, out = torch.ones(2, 3), torch.empty(0)
    assert torch.jit.script(f)(x, x, out) is out
    assert out.tolist() == [[2.0] * 3] * 2
