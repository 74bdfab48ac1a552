"""The backend "mpi", under a real mpirun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import hotaru.distributed as dist
import pytest
from hotaru.distributed.backends import mpi

PROGRAM = Path(__file__).with_name("mpi_program.py")


@pytest.mark.skipif(
    not shutil.which("mpirun") or not find_spec("mpi4py"),
    reason="needs mpirun (Debian's openmpi-bin) and mpi4py",
)
@pytest.mark.parametrize("ranks", [2, 3])
def test_collectives_and_training_under_mpirun(ranks):
    mpirun = ["mpirun", "--oversubscribe", "-np", str(ranks)]
    run = subprocess.run(
        [*mpirun, sys.executable, PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ
        | {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        },
    )
    assert run.returncode == 0, run.stdout + run.stderr
    # The loss that "gloo" gives, and PyTorch over Gloo on two ranks.
    expected = {2: "0.053008", 3: "0.048366"}[ranks]
    assert run.stdout.strip() == f"{ranks} ranks, loss {expected}"


def test_without_mpi4py_it_is_refused(monkeypatch):
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setattr(mpi, "is_installed", lambda: False)
    assert not dist.is_mpi_available()
    with pytest.raises(RuntimeError, match="doesn't have MPI built in"):
        dist.init_process_group("mpi")


def test_under_torchrun_it_is_not_chosen(monkeypatch):
    """There each process would be a world of its own."""
    for sign in mpi._SIGNS:
        monkeypatch.delenv(sign, raising=False)
    assert not dist.is_mpi_available()
    monkeypatch.setenv("PMI_RANK", "0")
    assert dist.is_mpi_available() == (find_spec("mpi4py") is not None)


@pytest.mark.skipif(not find_spec("mpi4py"), reason="needs mpi4py")
def test_another_launchers_processes_are_told():
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "import hotaru.distributed as dist; dist.init_process_group('mpi')",
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ | {"WORLD_SIZE": "2", "RANK": "0"},
    )
    assert "WORLD_SIZE is 2: its processes are started by mpirun" in run.stderr
