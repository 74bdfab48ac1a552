"""The list of PyTorch's names: what its command counts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "conformance/names"


def check(*args) -> str:
    done = subprocess.run(
        [sys.executable, FOLDER / "check.py", *args],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def groups(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import groups

    yield groups
    del sys.modules["groups"]


def test_namespace_that_is_whole():
    printed = check("torch.nn.init")
    assert re.search(r"^torch\.nn\.init 26 / 26$", printed, re.MULTILINE)


# Share that is reached already; it may only grow.
def test_names_do_not_get_lost():
    share = float(re.search(r"^names .*\((.*) %\)", check(), re.M)[1])
    assert share >= 89.0


def test_groups_leave_out_what_they_say(groups):
    def title(name):
        group = groups.group_of(name)
        return group and group.title.split()[0]

    assert title("torch.cuda.memory.empty_cache") == "GPUs"
    assert title("torch.distributed.rpc.rpc_sync") == "Distributed"
    assert title("torch.AliasDb") == "Internals"
    assert title("torch.quantize_per_tensor") == "Quantisation"
    for name in (  # of every kind
        "torch.add",
        "torch.nn.Linear",
        "torch.Tensor.add",
        "torch.Generator",
        "torch.dtype",
        "torch.UntypedStorage",
        "torch.nn.DataParallel",
        "torch.jit.ScriptModule",
    ):
        assert title(name) is None, name


def test_kept_names_are_public():
    spaces = [
        line
        for line in (FOLDER / "names.txt").read_text().splitlines()
        if not line.startswith(" ")
    ]
    assert "torch.nn.functional" in spaces
    assert "class torch.nn.Linear" in spaces
    assert not [s for s in spaces if "._" in s]
    accidents = " TYPE_CHECKING"
    assert accidents not in (FOLDER / "names.txt").read_text().splitlines()
