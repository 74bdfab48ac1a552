"""`record_function` in scripts, and in archives that PyTorch 2.13 wrote."""

from pathlib import Path

import pytest

import hotaru as torch
from hotaru.autograd import profiler

GOLDEN = Path(__file__).parents[2] / "golden"


class Ranged(torch.nn.Module):
    """Ranges that the archives of PyTorch have, too."""

    def forward(self, x):
        with torch.profiler.record_function("a"):
            y = x + 1
        with profiler.record_function("b"):
            y = y * 2
        return y


def ranges_of(module):
    with torch.profiler.profile() as profile:
        assert module(torch.ones(2)).tolist() == [4, 4]
    found = [e for e in profile.events() if e.name in ("a", "b")]
    for event in found:
        inner = [child.name for child in event.cpu_children]
        assert any("add" in n or "mul" in n for n in inner), event.name
    return [event.name for event in found]


def test_scripts(tmp_path):
    script = torch.jit.script(Ranged())
    assert ranges_of(script) == ["a", "b"]
    script.save(str(tmp_path / "ranged.pt"))
    assert ranges_of(torch.jit.load(str(tmp_path / "ranged.pt"))) == ["a", "b"]
    assert script(torch.ones(2)).tolist() == [4, 4]  # without a profile


@pytest.mark.parametrize("how", ["scripted", "traced"])
def test_archives(how):
    loaded = torch.jit.load(str(GOLDEN / f"jit_ranges_{how}.pt"))
    assert ranges_of(loaded) == ["a", "b"]


def test_an_error_within_a_range():
    @torch.jit.script
    def failing(x):
        with profiler.record_function("failing", "what it was given"):
            assert x.numel() > 5, "too small"
        return x

    with (
        torch.profiler.profile() as profile,
        pytest.raises(torch.jit.Error, match="too small"),
    ):
        failing(torch.ones(2))
    assert "failing" in [event.name for event in profile.events()]
