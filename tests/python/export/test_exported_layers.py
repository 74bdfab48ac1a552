"""Layers as programs: what is exported, saved and loaded says what they say,
in either mode, with and without gradients.
"""

import io

import hotaru.nn.functional as F
import pytest
from hotaru.utils import _pytree as pytree

import hotaru as torch
from hotaru import nn


class Calls(nn.Module):
    """A function of modules."""

    def __init__(self, function, *parts) -> None:
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(parts)

    def forward(self, *args):
        return self.function(*self.parts, *args)


def _encoder():
    layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2)


def _decoder():
    layer = nn.TransformerDecoderLayer(16, 2, 32, 0.0, batch_first=True)
    return nn.TransformerDecoder(layer, 2)


def _attention(x):
    return nn.MultiheadAttention(16, 2, batch_first=True), (x, x, x)


r = torch.randn
LAYERS = {
    "encoder": lambda: (_encoder(), (r(2, 5, 16),)),
    # Padding is 0 in evaluation, but not in exported programs; PyTorch's are
    # the same.
    "encoder with padding": lambda: (
        Calls(lambda m, x, k: m(x, src_key_padding_mask=k)[:, :4], _encoder()),
        (r(2, 5, 16), torch.tensor([[False] * 4 + [True]] * 2)),
    ),
    "decoder": lambda: (_decoder(), (r(2, 5, 16), r(2, 4, 16))),
    "attention": lambda: _attention(r(2, 5, 16)),
    "lstm": lambda: (nn.LSTM(4, 6, 2, bidirectional=True), (r(5, 2, 4),)),
    "lstm with state": lambda: (
        nn.LSTM(4, 6, proj_size=3),
        (r(5, 2, 4), (r(1, 2, 3), r(1, 2, 6))),
    ),
    "gru": lambda: (nn.GRU(4, 6, batch_first=True), (r(2, 5, 4),)),
    "conv transpose": lambda: (
        nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2, output_padding=1),
        (r(2, 4, 5, 5),),
    ),
    "batch norm": lambda: (nn.BatchNorm2d(4), (r(2, 4, 3, 3),)),
    "instance norm": lambda: (
        nn.InstanceNorm1d(4, track_running_stats=True),
        (r(2, 4, 3),),
    ),
    "group norm": lambda: (nn.GroupNorm(2, 4), (r(2, 4, 3),)),
    "embedding": lambda: (
        nn.Embedding(9, 4, padding_idx=1, max_norm=1.0),
        (torch.tensor([[1, 2, 8]]),),
    ),
    "bag": lambda: (
        nn.EmbeddingBag(9, 4, mode="max"),
        (torch.tensor([1, 2, 8]), torch.tensor([0, 2])),
    ),
    "prelu": lambda: (nn.PReLU(4), (r(2, 4, 3),)),
    "pixels": lambda: (
        nn.Sequential(nn.PixelShuffle(2), nn.PixelUnshuffle(3)),
        (r(1, 8, 3, 3),),
    ),
    "upsampled": lambda: (
        nn.Sequential(
            nn.Upsample(scale_factor=1.5, mode="bilinear"),
            nn.Upsample((7, 9), mode="bicubic", align_corners=True),
            nn.Upsample(scale_factor=2),
        ),
        (r(1, 2, 4, 4),),
    ),
    "sampled": lambda: (
        Calls(
            lambda x, t: F.grid_sample(
                x, F.affine_grid(t, [1, 2, 4, 4], False), align_corners=False
            )
        ),
        (r(1, 2, 6, 6), r(1, 2, 3)),
    ),
    "unpooled": lambda: (
        Calls(
            lambda p, u, x: u(*p(x)),
            nn.MaxPool2d(2, return_indices=True),
            nn.MaxUnpool2d(2),
        ),
        (r(1, 2, 6, 6),),
    ),
    "spectral norm": lambda: (
        nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)),
        (r(2, 3),),
    ),
}


def again(program):
    """Saves a program, and loads the file's."""
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file).module()


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_come_back(name, training, grad):
    torch.manual_seed(0)
    model, args = LAYERS[name]()
    model.train(training)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    with torch.set_grad_enabled(grad):
        found = again(torch.export.export(model, args))
        got = pytree.tree_leaves(found(*args))
        model.load_state_dict(before)
        want = pytree.tree_leaves(model(*args))
        assert len(got) == len(want)
        for a, b in zip(got, want):
            # Attention's operator of inference adds in another order.
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_attention_is_written_in_parts_that_pytorch_knows():
    fast = torch.backends.mha.get_fastpath_enabled()
    with torch.no_grad():
        program = torch.export.export(_encoder().eval(), (r(2, 5, 16),))
    names = {str(n.target) for n in program.graph.nodes}
    assert not any("_native_multi_head" in name for name in names)
    assert "aten.scaled_dot_product_attention.default" in names
    assert torch.backends.mha.get_fastpath_enabled() is fast


def test_results_that_are_none_keep_their_place():
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.m = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x):
            m = self.m
            found, weights = torch._native_multi_head_attention(
                x,
                x,
                x,
                8,
                2,
                m.in_proj_weight,
                m.in_proj_bias,
                m.out_proj.weight,
                m.out_proj.bias,
                None,
                False,
            )
            assert weights is None
            return found * 2

    model, x = Model().eval(), r(2, 3, 8)
    with torch.no_grad():
        found = again(torch.export.export(model, (x,)))
        assert torch.equal(found(x), model(x))


def test_out_is_a_copy_into_what_is_given():
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kept", torch.zeros(3, dtype=torch.double))

        def forward(self, x):
            made = torch.empty_like(x)
            torch.add(x, 1, alpha=2, out=made)
            torch.sum(x[None], 0, out=self.kept)
            return made

    model, x = Model(), torch.tensor([1.0, -2.0, 3.0])
    found = again(torch.export.export(model, (x,)))
    assert found(x).tolist() == [3.0, 0.0, 5.0]
    assert found.kept.tolist() == [1.0, -2.0, 3.0]
    assert found.kept.dtype == torch.double


def test_out_of_another_size_is_an_error():
    model = Calls(lambda x: torch.neg(x, out=torch.empty(0)))
    with pytest.raises(NotImplementedError, match=r"neg\.out.*changes its"):
        torch.export.export(model, (r(3),))
