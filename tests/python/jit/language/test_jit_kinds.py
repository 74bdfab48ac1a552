"""Questions of compiled code to tensors of every kind: PyTorch's answers."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import Tensor

QUESTIONS = ("is_sparse", "is_mkldnn", "is_quantized", "is_nested", "is_meta")
PLAIN = torch.ones(2, 2)
# Questions that are true of a kind, and its layout as programs count them.
KINDS = {
    "plain": (lambda: PLAIN, None, 0),
    "coo": (PLAIN.to_sparse, "is_sparse", 1),
    "csr": (PLAIN.to_sparse_csr, None, 2),
    "onednn": (PLAIN.to_mkldnn, "is_mkldnn", 3),
    "quantized": (
        lambda: torch.quantize_per_tensor(PLAIN, 0.1, 0, torch.quint8),
        "is_quantized",
        0,
    ),
    "nested": (lambda: torch.nested.nested_tensor([PLAIN, PLAIN]), "is_nested", 0),
    "meta": (lambda: PLAIN.to("meta"), "is_meta", 0),
}


def answers(x: Tensor):
    return x.is_sparse, x.is_mkldnn, x.is_quantized, x.is_nested, x.is_meta


def layout(x: Tensor):
    return x.layout


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_told(kind):
    make, true_of, number = KINDS[kind]
    x = make()
    wanted = tuple(question == true_of for question in QUESTIONS)
    assert answers(x) == wanted
    assert torch.jit.script(answers)(x) == wanted
    assert torch.jit.script(layout)(x) == number
