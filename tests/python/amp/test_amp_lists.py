"""The lists of autocast hold what PyTorch's hold."""

from __future__ import annotations

import outcomes
import pytest

from hotaru import _C

# Operators that PyTorch makes of listed ones, and here are in one piece.
COMPOSITE = {
    "cpu": {
        "column_stack",
        "concat",
        "concatenate",
        "dstack",
        "hstack",
        "lstm.input",
        "nll_loss_nd",
        "row_stack",
        "vstack",
    },
    "cuda": {
        "arccos",
        "arcsin",
        "arctan2",
        "cross_entropy_loss",
        "gru.data",
        "gru.input",
        "lstm.data",
        "lstm.input",
        "nll_loss_nd",
        "rnn_relu.data",
        "rnn_relu.input",
        "rnn_tanh.data",
        "rnn_tanh.input",
        "special_erfinv",
        "special_expm1",
        "special_log1p",
        "special_logsumexp",
        "square",
        "_upsample_bicubic2d_aa.vec",
        "_upsample_bilinear2d_aa.vec",
        "_upsample_nearest_exact1d.vec",
        "_upsample_nearest_exact2d.vec",
        "_upsample_nearest_exact3d.vec",
        "upsample_bicubic2d.vec",
        "upsample_bilinear2d.vec",
        "upsample_linear1d.vec",
        "upsample_nearest1d.vec",
        "upsample_nearest2d.vec",
        "upsample_nearest3d.vec",
        "upsample_trilinear3d.vec",
    },
}


def exists(name: str) -> bool:
    schemas = _C._op_schemas(name.split(".")[0])
    return name in {schema.split("(")[0] for schema in schemas}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_lists_are_those_of_pytorch(device):
    at = ("cpu", "cuda").index(device)
    ours = {name for name, of in _C._autocast_lists().items() if of[at]}
    theirs = set(outcomes.load("amp_lists")[device]["result"])
    assert ours - theirs == COMPOSITE[device]
    assert {name for name in theirs - ours if exists(name)} == set()
    assert all(exists(name) for name in ours)


def test_records_are_current(oracle):
    outcomes.check_records(("amp_lists",), oracle)
