"""`torch.func.rearrange`; shapes and orders are PyTorch 2.13's."""

from __future__ import annotations

import pytest
from hotaru.func import rearrange

import hotaru as torch

X = torch.arange(24).view(2, 3, 4)


@pytest.mark.parametrize(
    ("pattern", "lengths", "shape", "first"),
    [
        ("a b c -> c a b", {}, (4, 2, 3), [0, 4, 8, 12, 16, 20]),
        ("a b c -> a (b c)", {}, (2, 12), [0, 1, 2, 3, 4, 5]),
        ("a b (c d) -> (a d) b c", {"d": 2}, (4, 3, 2), [0, 2, 4, 6, 8, 10]),
        ("... c -> c ...", {}, (4, 2, 3), [0, 4, 8, 12, 16, 20]),
        ("(a b) c d -> a b c d", {"a": 1}, (1, 2, 3, 4), [0, 1, 2, 3, 4, 5]),
        ("a b c -> a 1 b c", {}, (2, 1, 3, 4), [0, 1, 2, 3, 4, 5]),
        ("a b c -> a () b c", {}, (2, 1, 3, 4), [0, 1, 2, 3, 4, 5]),
        ("(a b) ... -> b a ...", {"b": 2}, (2, 1, 3, 4), [0, 1, 2, 3, 4, 5]),
        ("... -> (...)", {}, (24,), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_patterns(pattern, lengths, shape, first):
    found = rearrange(X, pattern, **lengths)
    assert found.shape == shape
    assert found.flatten()[:6].tolist() == first


def test_lists_and_gradients():
    parts = [X[0].float().requires_grad_(), X[1].float()]
    found = rearrange(parts, "n b c -> b (n c)")
    assert torch.equal(found, torch.cat(parts, 1))
    found[:, :2].sum().backward()
    assert parts[0].grad.sum() == 6


@pytest.mark.parametrize(
    ("pattern", "lengths", "text"),
    [
        ("a b -> a b", {}, r"pattern \(2\) and in tensor \(3\) must be equal"),
        ("a b c -> a b", {}, "only on one side of rearrange"),
        ("a a b -> a b", {}, "duplicate dimension 'a'"),
        ("a b c", {}, "single '->' separator"),
        ("a b c -> a b c", {"d": 3}, "Identifiers not found"),
        ("a b (c d) -> a b c d", {"d": 3}, "does not evenly fit"),
        ("a b (c d) -> a b c d", {}, "cannot infer the sizes"),
        ("a (b -> a b", {}, "Imbalanced parentheses"),
        ("a) b -> a b", {}, "Imbalanced parentheses"),
        ("a b c -> (...)", {}, "Ellipsis found in right side"),
        ("(... a) -> ... a", {}, "Ellipsis inside parenthesis"),
        ("a 2 c -> a c", {}, "only supports unnamed axes of size 1"),
        ("a 1 c -> a c", {}, "does not evenly fit"),
        ("a _b c -> a c", {}, "Invalid axis identifier: _b"),
    ],
)
def test_patterns_that_do_not_fit(pattern, lengths, text):
    with pytest.raises(ValueError, match=text):
        rearrange(X, pattern, **lengths)
