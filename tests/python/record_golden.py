"""Records the outcomes of cases under PyTorch.

    python tests/python/record_golden.py [FAMILY ...]

Needs PyTorch 2.13 (CPU) and pytest; rewrites tests/python/golden/FAMILY.json,
of all families if none is named ("nn_layer", "ops_conv", ...).
"""

from __future__ import annotations

import sys

import conftest  # noqa: F401  (finds the folders)
import outcomes
import test_amp_golden
import test_answering
import test_autograd_golden
import test_compressed_golden
import test_conformance_core
import test_data_golden
import test_distributions_golden
import test_func_golden
import test_fx_golden
import test_jit_golden
import test_library_golden
import test_masked_golden
import test_nested_golden
import test_nn_golden
import test_ops_golden
import test_quantization_golden
import test_sparse_golden
import test_subclass_copies
import test_testing_golden
import test_utils_golden
import torch

FAMILIES = (
    *test_amp_golden.FAMILIES,
    "amp_lists",
    *test_answering.FAMILIES,
    *test_autograd_golden.FAMILIES,
    *test_compressed_golden.FAMILIES,
    *test_conformance_core.FAMILIES,
    *test_data_golden.FAMILIES,
    *test_distributions_golden.FAMILIES,
    *test_distributions_golden.SHAPED,
    *test_func_golden.FAMILIES,
    *test_fx_golden.FAMILIES,
    *test_jit_golden.FAMILIES,
    *test_library_golden.FAMILIES,
    *test_masked_golden.FAMILIES,
    *test_nested_golden.FAMILIES,
    *test_nn_golden.FAMILIES,
    *test_ops_golden.DRAWS,
    *test_ops_golden.FAMILIES,
    *test_quantization_golden.FAMILIES,
    *test_sparse_golden.FAMILIES,
    *test_subclass_copies.FAMILIES,
    *test_testing_golden.FAMILIES,
    *test_utils_golden.FAMILIES,
)


def main(families) -> None:
    torch.set_num_threads(1)
    for family in families or FAMILIES:
        found = {
            name: outcomes.outcome(case, torch)
            for name, case in outcomes.cases(family).items()
        }
        outcomes.store(family, {**found, **_unchanged(found, family)})
        print(f"{family}: {len(found)} cases")


def _unchanged(found: dict, family: str) -> dict:
    """Records that still hold, so that another CPU changes no last digit."""
    try:
        records = outcomes.load(family)
    except FileNotFoundError:
        return {}
    return {
        name: want
        for name, want in records.items()
        if name in found and not outcomes.difference(found[name], want)
    }


if __name__ == "__main__":
    main(sys.argv[1:])
