"""Stand-ins for torchrun's variables under other launchers."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hotaru.distributed.launchers import first_of, value_of

SRUN = {
    "SLURM_PROCID": "5",
    "SLURM_NTASKS": "8",
    "SLURM_LOCALID": "1",
    "SLURM_STEP_NODELIST": "gpu[07-09,12],other",
    "SLURM_JOB_ID": "123456",
    "SLURM_STEP_ID": "2",
}
MPIRUN = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
    "OMPI_MCA_ess_base_jobid": "70000",
}
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


def found(environment: dict) -> list:
    return [value_of(name, environment) for name in NAMES]


def test_srun():
    assert found(SRUN) == ["5", "8", "1", "gpu07", str(20000 + 123458 % 12000)]


def test_mpirun():
    assert found(MPIRUN) == ["1", "4", "1", "localhost", "30000"]
    several = MPIRUN | {"OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    assert value_of("MASTER_ADDR", several) is None
    assert value_of("MASTER_ADDR", several | {"MASTER_ADDR": "a"}) == "a"


def test_mpich():
    mpich = {"PMI_RANK": "0", "PMI_SIZE": "2", "MPI_LOCALRANKID": "0"}
    mpich["MPI_LOCALNRANKS"] = "2"
    assert found(mpich) == ["0", "2", "0", "localhost", "20000"]


def test_torchrun_comes_first():
    both = SRUN | {"RANK": "0", "WORLD_SIZE": "2", "MASTER_PORT": "1"}
    # Half of one launcher's word and half of another's is no world.
    assert found(both) == ["0", "2", "1", None, "1"]
    assert found({}) == [None] * 5


@pytest.mark.parametrize(
    ("nodes", "first"),
    [
        ("a", "a"),
        ("a,b", "a"),
        ("node[01-04]", "node01"),
        ("node[3,5-7]-ib,x[1-2]", "node3-ib"),
        ("r[1-2]n[05-06]", "r1n05"),
    ],
)
def test_lists_of_slurm(nodes, first):
    assert first_of(nodes) == first


_PROGRAM = """
import torch.distributed as dist, torch
dist.init_process_group("gloo")
x = torch.ones(1)
dist.all_reduce(x)
print(dist.get_rank(), dist.get_node_local_rank(), x.item())
dist.destroy_process_group()
"""


def test_a_world_of_mpiruns_variables(tmp_path):
    import os

    names = [n for n in os.environ if not n.startswith(("SLURM", "OMPI"))]
    plain = {n: os.environ[n] for n in names}
    processes = []
    for rank in range(2):
        own = MPIRUN | {
            "OMPI_COMM_WORLD_SIZE": "2",
            "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
            "OMPI_COMM_WORLD_RANK": str(rank),
            "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
            "OMPI_MCA_ess_base_jobid": str(os.getpid()),
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, "-m", "hotaru", "-c", _PROGRAM],
                env=plain | own,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    printed = [p.communicate(timeout=60)[0] for p in processes]
    assert printed == ["0 0 2.0\n", "1 1 2.0\n"]
