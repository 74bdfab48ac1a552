"""Versions, and how they compare."""

from __future__ import annotations

import pytest
from hotaru.torch_version import TorchVersion

import hotaru as torch


def test_version_says_what_programs_compare_with():
    assert torch.__version__ >= (2, 13)
    assert torch.__version__ < "2.13.1"
    assert torch.__version__.split("+")[0] == "2.13.0"
    assert isinstance(torch.__version__, str)
    assert torch.version.__version__ == str(torch.__version__)


# Each is behind the one before it: the order that PEP 440 gives.
ORDER = [
    "1.0.dev3",
    "1.0a1.dev1",
    "1.0a1",
    "1.0a2",
    "1.0b1",
    "1.0rc1",
    "1.0",
    "1.0+abc",
    "1.0+abc.5",
    "1.0+5",
    "1.0.post1.dev2",
    "1.0.post1",
    "1.0.1.dev0",
    "1.2",
    "1.10",
    "2!0.1",
]


@pytest.mark.parametrize("at", range(len(ORDER) - 1))
def test_order(at):
    first, second = TorchVersion(ORDER[at]), ORDER[at + 1]
    assert first < second
    assert first <= second
    assert first != second
    assert TorchVersion(second) > first
    assert not TorchVersion(second) <= first


def test_what_it_is_compared_with():
    assert TorchVersion("1.10.0a") > (1, 2)
    assert TorchVersion("1.10.0a") > "1.2.1"
    assert TorchVersion("2.13.0") == "2.13"
    assert TorchVersion("2.13.0+cpu") != "2.13.0"
    assert TorchVersion("2.13.0") < "no version"  # as text
    assert len({TorchVersion("1.0"), "1.0"}) == 1
