"""Floating point operations are counted as PyTorch counts them."""

import pytest
from hotaru.nn import functional as F
from hotaru.utils.flop_counter import (
    FlopCounterMode,
    flop_registry,
    register_flop_formula,
)

import hotaru as torch
from hotaru import nn


def R(*shape):  # noqa: N802
    return torch.randn(*shape, requires_grad=True)


def _counted(function):
    with FlopCounterMode(display=False) as mode:
        result = function()
        if result.requires_grad:
            result.sum().backward()
    found = mode.get_flop_counts().get("Global", {})
    return {str(packet)[5:]: count for packet, count in found.items()}


# Counts of PyTorch 2.13 on the CPU, forward and backward.
CASES = {
    "conv": (
        lambda: F.conv2d(R(2, 4, 6, 6), R(6, 2, 3, 3), R(6), groups=2),
        {"convolution": 6912, "convolution_backward": 20736},
    ),
    "transposed": (
        lambda: F.conv_transpose2d(R(2, 4, 6, 6), R(4, 3, 3, 3), R(6), groups=2),
        {"convolution": 15552, "convolution_backward": 46656},
    ),
    "stride": (
        lambda: F.conv1d(R(2, 4, 9), R(6, 4, 3), stride=2),
        {"convolution": 1152, "convolution_backward": 2304},
    ),
    "linear": (lambda: F.linear(R(2, 3, 4), R(5, 4), R(5)), {"addmm": 240, "mm": 480}),
    "no_bias": (lambda: F.linear(R(3, 4), R(5, 4)), {"mm": 360}),
    "vector": (lambda: torch.matmul(R(4), R(4, 5)), {"mm": 120}),
    "folded": (lambda: torch.matmul(R(2, 3, 4), R(4, 5)), {"mm": 720}),
    "batches": (lambda: torch.matmul(R(2, 2, 3, 4), R(2, 1, 4, 5)), {"bmm": 1440}),
    "mv": (lambda: torch.mv(R(3, 5), R(5)), {}),
    "one_wanted": (lambda: R(3, 4).mm(torch.randn(4, 5)), {"mm": 240}),
    "baddbmm": (
        lambda: torch.baddbmm(R(2, 3, 5), R(2, 3, 4), R(2, 4, 5)),
        {"baddbmm": 240, "bmm": 480},
    ),
    "einsum": (
        lambda: torch.einsum("ij,jk,kl->il", R(2, 3), R(3, 4), R(4, 5)),
        {"bmm": 384},
    ),
    "einsum_outer": (lambda: torch.einsum("ij,ij->ij", R(2, 3), R(2, 3)), {}),
    "multi_dot": (
        lambda: torch.linalg.multi_dot([R(2, 3), R(3, 5), R(5, 6)]),
        {"mm": 540},
    ),
    "gru": (lambda: nn.GRU(4, 5)(R(3, 2, 4))[0], {"addmm": 1620, "mm": 2940}),
    "rnn": (lambda: nn.RNN(4, 5)(R(3, 2, 4))[0], {"addmm": 540, "mm": 980}),
    # With PyTorch's kernel of plain products, as hotaru's is.
    "attention": (
        lambda: F.scaled_dot_product_attention(
            R(1, 2, 3, 4), R(1, 2, 5, 4), R(1, 2, 5, 6)
        ),
        {"bmm": 1800},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_counts(name):
    function, expected = CASES[name]
    assert _counted(function) == expected


def test_modules_and_the_table():
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 5)))
    with FlopCounterMode(display=False) as mode:
        model(torch.randn(2, 3)).sum().backward()
    counts = mode.get_flop_counts()
    assert counts["Sequential.0"][torch.ops.aten.addmm] == 48
    assert counts["Sequential.1.0"][torch.ops.aten.addmm] == 80
    assert sum(counts["Sequential"].values()) == mode.get_total_flops()
    lines = mode.get_table(depth=1).splitlines()
    assert lines[0].split() == ["Module", "FLOP", "%", "Total"]
    assert lines[2].split() == ["Sequential", "336.000", "100.00%"]
    assert len({len(line) for line in lines}) == 1
    assert any("Sequential.1.0" in x for x in mode.get_table(9).splitlines())
    with mode:
        pass
    assert mode.get_total_flops() == 0
    assert "Global" in mode.get_table()


def test_display_prints_and_mods_warn(capsys):
    with FlopCounterMode():
        torch.mm(torch.ones(2, 2), torch.ones(2, 2))
    assert "aten.mm" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="not needed"):
        FlopCounterMode(nn.Linear(1, 1))


def test_formulas_of_ones_own():
    with torch.library._scoped_library("flops", "FRAGMENT") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x.sin(), "CPU")
        packet = torch.ops.flops.f

        @register_flop_formula(packet)
        def formula(shape, out_shape=None, **kwargs):
            return shape[0] * 100 + out_shape[0]

        try:
            x = torch.ones(3)
            with FlopCounterMode(display=False) as mode:
                packet(x)
            assert mode.get_total_flops() == 303
            with pytest.raises(RuntimeError, match="duplicate registrations"):
                register_flop_formula(packet)(formula)
        finally:
            del flop_registry[packet]
        with pytest.raises(ValueError, match="OpOverloadPacket"):
            register_flop_formula(packet.default)(formula)

    def raw(*args, out_val):
        return out_val.numel()

    raw._get_raw = True
    mapping = {torch.ops.aten.add: raw, torch.ops.aten.mm: lambda *a, **k: 7}
    with FlopCounterMode(display=False, custom_mapping=mapping) as mode:
        torch.ones(4) + 1
        F.linear(torch.ones(2, 2), torch.ones(2, 2))  # its mm counts so, too
    assert mode.get_total_flops() == 11


def test_convolution_backward_is_the_derivative():
    x, weight, bias = R(2, 4, 6, 6), R(6, 2, 3, 3), R(6)
    y = F.conv2d(x, weight, bias, padding=1, groups=2)
    grad = torch.randn(y.shape)
    expected = torch.autograd.grad(y, (x, weight, bias), grad)
    rest = ([1, 1], [1, 1], [1, 1], False, [0, 0], 2)
    found = torch.ops.aten.convolution_backward(
        grad, x, weight, [6], *rest, [True, True, True]
    )
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b)
    only = torch.ops.aten.convolution_backward(
        grad, x, weight, [6], *rest, [False, True, False]
    )
    assert [x is None for x in only] == [True, False, True]
    torch.testing.assert_close(only[1], expected[1])


def test_results_that_are_written_elsewhere_count():
    x, out = torch.ones(10, 10), torch.empty(10, 10)
    assert _counted(lambda: torch.mm(x, x, out=out)) == {"mm": 2000}
