"""Tensors of random sizes; numbers are PyTorch 2.13's for the same seeds."""

from __future__ import annotations

import pytest
from hotaru.utils import benchmark

import hotaru as torch

pytest.importorskip("numpy")


def _uniform(name, low, high, **options):
    return benchmark.FuzzedParameter(name, low, high, "uniform", **options)


def test_tensors_of_a_seed():
    sizes = [
        benchmark.FuzzedParameter(f"k{i}", 4, 64, distribution="loguniform")
        for i in range(3)
    ]
    steps = [_uniform(f"s{i}", 1, 3) for i in range(3)]
    fuzzer = benchmark.Fuzzer(
        [sizes, _uniform("dim", 1, 3, strict=True), steps, _uniform("u", 0.5, 2)],
        [
            benchmark.FuzzedTensor(
                "x",
                size=("k0", "k1", "k2"),
                steps=("s0", "s1", "s2"),
                dim_parameter="dim",
                probability_contiguous=0.4,
                min_elements=16,
                max_elements=20000,
                max_allocation_bytes=200000,
            ),
            benchmark.FuzzedTensor("y", size=("k0", 7), dtype=torch.int32),
        ],
        [lambda params: params["k0"] != params["k1"]],
        seed=11,
    )
    found = []
    for tensors, known, params in fuzzer.take(5):
        x, y = tensors["x"], tensors["y"]
        assert known["x"]["numel"] == x.numel()
        assert known["y"]["is_contiguous"] == y.is_contiguous()
        assert known["x"]["steps"] == tuple(
            params[f"s{i}"] for i in range(params["dim"])
        )
        order = known["x"]["order"].tolist()
        found.append((tuple(x.shape), x.stride(), order, int(y.sum())))
    assert found == [
        ((4, 14), (3, 12), [1, 0], 1623),
        ((62,), (1,), [0], 28245),
        ((34,), (1,), [0], 14947),
        ((9, 4, 8), (96, 1, 4), [0, 2, 1], 3986),
        ((6, 13, 30), (2340, 60, 1), [0, 1, 2], 3090),
    ]
    assert params["u"] == pytest.approx(1.683525457605183, abs=1e-15)
    assert float(x.double().sum()) == pytest.approx(1167.7202876210213)
    list(fuzzer.take(1))
    assert 0 < fuzzer.rejection_rate < 1


def test_sparse_tensors_of_a_seed():
    fuzzer = benchmark.Fuzzer(
        [
            _uniform("n", 3, 9),
            _uniform("density", 0.1, 0.5),
            _uniform("coalesced", 0, 1),
            _uniform("sparse_dim", 1, 2),
        ],
        [
            benchmark.FuzzedSparseTensor(
                "x", size=("n", 5, "n"), sparse_dim="sparse_dim"
            ),
            benchmark.FuzzedSparseTensor("z", size=("n", 5), dtype=torch.float64),
        ],
        seed=4,
    )
    found = []
    for tensors, known, _ in fuzzer.take(3):
        x, z = tensors["x"], tensors["z"]
        assert known["x"]["shape"] == x.shape
        assert known["x"]["is_coalesced"] == x.is_coalesced()
        assert known["x"]["dense_dim"] == 3 - known["x"]["sparse_dim"]
        total = x.to_dense().double().sum().item()
        found.append((tuple(x.shape), x._nnz(), z._nnz(), round(total, 3)))
    assert found == [
        ((8, 5, 8), 7, 6, 216.022),
        ((5, 5, 5), 12, 8, 7.577),
        ((8, 5, 8), 3, 2, 9.488),
    ]


def test_values_by_their_chances_and_aliases():
    alias = benchmark.ParameterAlias("x")
    assert repr(alias) == "ParameterAlias[alias_to: x]"
    fuzzer = benchmark.Fuzzer(
        [
            _uniform("x", 5, 9),
            benchmark.FuzzedParameter("y", distribution={1: 0.5, alias: 0.5}),
        ],
        [benchmark.FuzzedTensor("t", ("x", "y"))],
        seed=0,
    )
    shapes = [tensors["t"].shape for tensors, _, _ in fuzzer.take(40)]
    assert all(y in (1, x) for x, y in shapes)
    assert 5 < sum(y == 1 for _, y in shapes) < 35
    circle = benchmark.Fuzzer(
        [
            benchmark.FuzzedParameter(
                name, distribution={benchmark.ParameterAlias(other): 1.0}
            )
            for name, other in (("a", "b"), ("b", "a"))
        ],
        [],
        seed=0,
    )
    with pytest.raises(ValueError, match="ParameterAlias cycle detected"):
        next(circle.take(1))


def test_what_does_not_fit():
    with pytest.raises(AssertionError, match="Unknown distribution: x"):
        benchmark.FuzzedParameter("a", 1, 2, "x")
    with pytest.raises(AssertionError, match="is not normalized"):
        benchmark.FuzzedParameter("a", distribution={1: 0.5, 2: 0.2})
    with pytest.raises(AssertionError, match="'maxval' must be None"):
        benchmark.FuzzedParameter("a", None, 2, {1: 1.0})
    small = benchmark.FuzzedTensor("t", ("a",), min_elements=5)
    with pytest.raises(ValueError, match="Failed to generate a set of valid"):
        next(benchmark.Fuzzer([_uniform("a", 1, 2)], [small]).take(1))
    with pytest.raises(ValueError, match="Duplicate names in parameters and"):
        benchmark.Fuzzer([_uniform("t", 1, 2)], [small])
