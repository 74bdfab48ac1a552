"""Operators of ONNX beside their meaning by hand."""

from __future__ import annotations

import io

import onnx_bytes as ob
import pytest

import hotaru as torch

INT64 = ob.INT64
POOL = {1: [2, 3, 5, 9], 2: [5, 6, 2, 2, 7, 5], 3: [5, 6, 7, 2, 2, 2]}
INDEXES = [3, 0, 8, 5, 1, 2, 7, 4, 6]


def counted(text, least, most, skips):
    """The features of one text."""
    out = [0] * 9
    at = 0
    for n, pool in POOL.items():
        for i in range(0, len(pool), n):
            gram = pool[i : i + n]
            if least <= n <= most:
                for skip in range(1 if n == 1 else skips + 1):
                    runs = [
                        text[k : k + (n - 1) * (skip + 1) + 1 : skip + 1]
                        for k in range(len(text))
                    ]
                    out[INDEXES[at]] += runs.count(gram)
            at += 1
    return out


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize(
    ("least", "most", "skips"), [(1, 1, 4), (1, 2, 0), (2, 3, 0), (1, 3, 3)]
)
def test_runs_are_counted(mode, least, most, skips):
    weights = [0.5 * i + 0.25 for i in range(9)]
    node = ob.node(
        "TfIdfVectorizer",
        ["x"],
        ["y"],
        mode=mode,
        min_gram_length=least,
        max_gram_length=most,
        max_skip_count=skips,
        ngram_counts=[0, 4, 10],
        ngram_indexes=INDEXES,
        pool_int64s=[w for pool in POOL.values() for w in pool],
        weights=weights,
    )
    model = torch.onnx.load(
        io.BytesIO(ob.model(ob.graph([node], [ob.value_info("x", INT64)], ["y"])))
    )
    texts = [[2, 2, 2, 2, 5, 6, 7, 5], [9, 5, 1, 6, 5, 6, 7, 2]]
    got = model(torch.tensor(texts)).tolist()
    for text, row in zip(texts, got):
        counts = counted(text, least, most, skips)
        if mode == "IDF":
            counts = [min(c, 1) for c in counts]
        if mode != "TF":
            counts = [c * w for c, w in zip(counts, weights)]
        assert row == counts
    # One text alone, and one that is shorter than a run.
    assert model(torch.tensor(texts[0])).tolist() == got[0]
    assert model(torch.tensor([1])).tolist() == [0.0] * 9


def test_float8_that_does_not_saturate():
    node = ob.node("Cast", ["x"], ["y"], to=17, saturate=0)
    last = ob.node("Cast", ["y"], ["z"], to=1)
    model = torch.onnx.load(io.BytesIO(ob.model(ob.graph([node, last], ["x"], ["z"]))))
    x = torch.tensor([448.0, 464.0, 464.1, -1e6, float("inf"), 0.3])
    got = model(x)
    assert got.isnan().tolist() == [False, False, True, True, True, False]
    assert got[[0, 1, 5]].tolist() == [448.0, 448.0, 0.3125]
