"""Interpolation by the nearest pixel between convolutions in blocks."""

import pytest
from hotaru.nn import functional as F

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.cpu_graphs("other devices have no blocks of channels")


class Net(nn.Module):
    def __init__(self, of_planes, channels, how):
        super().__init__()
        kind = nn.Conv2d if of_planes else nn.Conv1d
        self.first = nn.Sequential(
            kind(5, channels, 3, padding=1), kind(channels, channels, 3, padding=1)
        )
        self.last = nn.Sequential(
            kind(channels, channels, 3, padding=1), kind(channels, 7, 1)
        )
        self.how = how

    def forward(self, x):
        return self.last(F.interpolate(self.first(x), **self.how))


def names_and_gap(net, x):
    """Names of the graph's calls; the largest difference to eager results."""
    with torch.no_grad():
        want = net(x)
        graph = torch.cpu.Graph()
        with torch.cpu.graph(graph):
            got = net(x)
        graph.replay()
    gap = (got - want).abs().max() / want.abs().max()
    return [name for name, _ in graph._nodes()], gap.item()


@pytest.mark.parametrize("channels", [32, 40])
@pytest.mark.parametrize(
    "how",
    [
        {"scale_factor": 2.0},
        {"scale_factor": 2.0, "recompute_scale_factor": True},
        {"size": (28, 18)},
        {"scale_factor": (4.0, 1.0)},
        {"scale_factor": 2.0, "mode": "nearest-exact"},
    ],
)
def test_whole_multiples_are_copies(how, channels):
    torch.manual_seed(0)
    names, gap = names_and_gap(Net(True, channels, how), torch.randn(2, 5, 7, 9))
    assert "resample" not in names
    assert names.count("blocked_conv") + names.count("winograd_conv") == 4
    assert gap < 1e-6


def test_lines():
    torch.manual_seed(0)
    net = Net(False, 32, {"scale_factor": 8.0})
    names, gap = names_and_gap(net, torch.randn(2, 5, 11))
    assert "resample" not in names
    assert gap < 1e-6


@pytest.mark.parametrize(
    "how",
    [
        {"scale_factor": 3.0},  # a third is not exact
        {"scale_factor": 2.1},
        {"size": (10, 9)},
        {"size": (3, 9)},
        {"scale_factor": 2.0, "mode": "bilinear"},
    ],
)
def test_others_stay(how):
    torch.manual_seed(0)
    names, gap = names_and_gap(Net(True, 32, how), torch.randn(2, 5, 7, 9))
    assert "resample" in names
    assert gap < 1e-6


def test_under_permission_to_round(monkeypatch):
    torch.manual_seed(0)
    net, x = Net(True, 32, {"scale_factor": 2.0}), torch.randn(2, 5, 7, 9)
    exact = names_and_gap(net, x)[0]
    settings = torch.backends.mkldnn
    monkeypatch.setattr(settings, "fp32_precision", "bf16")
    names, gap = names_and_gap(net, x)
    assert names.count("copy_") <= exact.count("copy_") + 1
    assert gap < 2**-6
