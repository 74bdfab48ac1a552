"""Where a process finds its rank: in the environment of whoever started it.

torchrun's variables come first (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
MASTER_PORT). Where they are not set, those of Slurm (srun), of Open MPI and of
MPICH (mpirun) say the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

# By launcher: the variable that tells it, and what stands for torchrun's.
_NAMES = {
    "SLURM_PROCID": {
        "RANK": "SLURM_PROCID",
        "WORLD_SIZE": "SLURM_NTASKS",
        "LOCAL_RANK": "SLURM_LOCALID",
    },
    "OMPI_COMM_WORLD_RANK": {
        "RANK": "OMPI_COMM_WORLD_RANK",
        "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
        "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    },
    "PMI_RANK": {
        "RANK": "PMI_RANK",
        "WORLD_SIZE": "PMI_SIZE",
        "LOCAL_RANK": "MPI_LOCALRANKID",
    },
}
_FIRST_PORT, _PORTS = 20000, 12000


def value_of(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """A variable of torchrun's, or what another launcher says in its place."""
    if name in environment:
        return environment[name]
    # Whoever sets a rank by hand sets the rest, too.
    if "RANK" in environment and name != "LOCAL_RANK":
        return None
    for sign, names in _NAMES.items():
        if sign not in environment:
            continue
        if name in names:
            return environment.get(names[name])
        if name == "MASTER_ADDR":
            return _first_machine(environment)
        if name == "MASTER_PORT":
            return str(_FIRST_PORT + _job(environment) % _PORTS)
    return None


def _job(environment: Mapping[str, str]) -> int:
    """A number of the job, the same in all of its processes."""
    for name in ("SLURM_JOB_ID", "SLURM_JOBID", "OMPI_MCA_ess_base_jobid"):
        digits = environment.get(name, "")
        if digits.isdigit():
            step = environment.get("SLURM_STEP_ID", "0")
            return int(digits) + (int(step) if step.isdigit() else 0)
    return 0


def _first_machine(environment: Mapping[str, str]) -> str | None:
    """Where rank 0 is; None where nothing says it."""
    nodes = environment.get("SLURM_STEP_NODELIST") or environment.get(
        "SLURM_JOB_NODELIST"
    )
    if nodes:
        return first_of(nodes)
    here = environment.get("OMPI_COMM_WORLD_LOCAL_SIZE") or environment.get(
        "MPI_LOCALNRANKS"
    )
    everywhere = value_of("WORLD_SIZE", environment)
    return "localhost" if here and here == everywhere else None


def first_of(nodes: str) -> str:
    """The first name of a list of Slurm's: `a[07-09,12]-x,b` is a07-x."""
    depth, end = 0, len(nodes)
    for i, c in enumerate(nodes):
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            end = i
            break
    return re.sub(r"\[([^\],-]+)[^\]]*\]", r"\1", nodes[:end])
