"""The cases of every family once more, with tensors on a CUDA device.

What PyTorch's CPU does is recorded; a GPU gives the same but for rounding, and
draws other numbers: what cases that drew give is not compared.
Cases that need a kernel which CUDA does not have are counted by its name, and
which ones those are is listed in golden/cuda_missing.txt.
"""

from __future__ import annotations

import os
import re

import outcomes
import pytest

FAMILIES = (
    "core_dtype",
    "core_view",
    "core_autograd",
    "ops_reduce",
    "ops_order",
    "ops_index",
    "ops_join",
    "ops_matmul",
    "ops_linalg",
    "ops_conv",
    "ops_pool",
    "ops_window",
    "ops_norm",
    "ops_loss",
    "ops_rnn",
    "ops_number",
    "ops_composite",
    "ops_special",
    "ops_fft",
    "ops_masked",
    "ops_signal",
    "ops_function",
    "nn_layer",
    "nn_call",
    "nn_module",
    "nn_state",
    "nn_hook",
    "nn_autograd",
    "nn_lazy",
    "nn_optim",
    "nn_optimizer",
    "nn_optimizer_use",
    "nn_optimizer_text",
    "nn_schedule",
    "nn_schedule_text",
    "nn_swa",
)

_MISSING = re.compile(r"(\w+): not implemented for device cuda")


def missing_kernel(outcome):
    """The kernel that a case lacks on CUDA, or None."""
    error = outcome.get("raises")
    if not error:
        return None
    found = _MISSING.search(error[1])
    return found and found[1]


def run_family(hotaru, family):
    """(cases as recorded, missing kernels with their cases, differences)."""
    records, good, missing, wrong = outcomes.load(family), 0, {}, {}
    for name, case in outcomes.cases(family).items():
        hotaru.cuda.manual_seed(0)
        with hotaru.device("cuda"):
            got = outcomes.outcome(finished(case), hotaru)
        drew = any(hotaru.cuda.get_rng_state()[8:].tolist())
        difference = outcomes.difference(on_cpu(got), records[name])
        kernel = missing_kernel(got)
        if kernel:
            missing.setdefault(kernel, []).append(name)
        elif difference and not drew:
            wrong[f"{family}: {name}".replace("\n", " ")] = difference
        else:
            good += 1
    return good, missing, wrong


def finished(case):
    """The case with what its kernels find wrong."""

    def run(lib):
        try:
            return case(lib)
        finally:  # what it finds is the outcome, whatever else was raised
            lib.cuda.synchronize()

    return run


def on_cpu(outcome):
    """The outcome as it would be without the devices that texts name."""
    text = re.sub(r", device='cuda(:0)?'", "", outcomes.json.dumps(outcome))
    return outcomes.json.loads(text.replace("cuda:0", "cpu"))


def test_cases_on_cuda(hotaru, cuda, capsys):
    """Every case is as recorded, known to differ, or lacks a listed kernel."""
    differs = outcomes.listed("core_differs.txt")
    differs |= outcomes.listed("cuda_differs.txt")
    if os.environ.get("HOTARU_CUDA_LIBRARIES"):
        differs |= outcomes.listed("cuda_libraries_differ.txt")
    if not hotaru._C._cuda_in_software():
        # Powers of complex floats are by logarithms that are not wider.
        differs |= outcomes.listed("cuda_gpu_differ.txt")
    known = outcomes.listed("cuda_missing.txt")
    good, missing, wrong = 0, {}, {}
    for family in FAMILIES:
        g, m, w = run_family(hotaru, family)
        good += g
        wrong |= w
        for kernel, names in m.items():
            missing.setdefault(kernel, []).extend(names)
    lacking = sum(map(len, missing.values()))
    with capsys.disabled():
        print(
            f"\non {hotaru.cuda.get_device_name()}: {good} cases as recorded, "
            f"{lacking} without one of {len(missing)} kernels, "
            f"{len(wrong)} differ"
        )
    new = {k: v for k, v in wrong.items() if k not in differs}
    if new:
        pytest.fail("\n".join(f"{k}\n    {v}" for k, v in new.items()))
    assert set(missing) <= known, "kernels that were there are missing"
    assert known <= set(missing), "kernels to take off cuda_missing.txt"
