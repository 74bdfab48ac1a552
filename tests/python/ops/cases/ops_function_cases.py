"""Cases of functions that are Python here: a linear layer with its loss,
divisions the old way, positions from flat ones.
"""

from __future__ import annotations

from ops_eval import cases

_LINEAR_LOSS = [
    "F.linear_cross_entropy(d(4, 3), d(5, 3), t([0, 4, 2, -100]))",
    "F.linear_cross_entropy(d(3), d(5, 3), t(1), linear_bias=d(5))",
    "F.linear_cross_entropy(d(4, 3), d(5, 3), d(4, 5), label_smoothing=0.1)",
    "F.linear_cross_entropy(d(2, 3), d(5, 2, 3), t([[0, 4], [1, 1]]), "
    "linear_bias=d(5, 2), reduction='none')",
    "F.linear_cross_entropy(d(4, 3), d(5, 3), t([0, 4, 2, 1]), "
    "ignore_index=2, weight=d(5).abs(), reduction='sum')",
    "grad(lambda a, b: F.linear_cross_entropy(a, b, t([0, 1])), d(2, 3), d(4, 3))[2]",
    "F.linear_cross_entropy(d(2, 3, 3), d(2, 3), t([0]))",
    "F.linear_cross_entropy(d(2, 3), d(3), t([0]))",
    "F.linear_cross_entropy(d(2, 3), d(2, 4), t([0, 0]))",
    "F.linear_cross_entropy(d(3), d(2, 4, 3), t([0]))",
    "F.linear_cross_entropy(d(2, 3), d(2, 3), t([0, 1]), linear_bias=d(3))",
    "F.linear_cross_entropy(d(2, 3), d(2, 3), d(2, 2), ignore_index=0)",
    "F.linear_cross_entropy(d(2, 3), d(2, 3), t([0, 1]), reduction='most')",
    "repr(T.nn.LinearCrossEntropyLoss(3, 2, bias=True, out_features=(4,)))",
    "repr(T.nn.LinearCrossEntropyOptions(batch_chunk_size=3))",
    "[list(v.shape) for v in T.nn.LinearCrossEntropyLoss(3, 2, bias=True, "
    "out_features=(4,)).state_dict().values()]",
    "T.nn.LinearCrossEntropyLoss(3, 2, weight=d(3))",
    "T.nn.LinearCrossEntropyLoss(3, 2, label_smoothing=2.0)",
    "T.nn.LinearCrossEntropyOptions(batch_chunk_size=0)",
    "T.nn.LinearCrossEntropyOptions(chunking_method='foo')",
    "T.nn.LinearCrossEntropyOptions(acc_policy='x')",
    "T.nn.LinearCrossEntropyOptions(acc_dtype=T.int32)",
]
_OTHERS = [
    "x(3).__rdiv__(2)",
    "l(3).__rdiv__(2)",
    "x(3).__rdiv__(x(3, start=1))",
    "T.unravel_index(l(3).to(T.int32), (2, 2))",
    "F.silu(T.complex(d(3), d(3, start=4)))",
    "F.silu(T.complex(d(3), d(3, start=4)), inplace=True)",
    "F.triplet_margin_with_distance_loss(x(2, 3), x(2, 3), x(2, 3), reduction='abc')",
    "F.triplet_margin_with_distance_loss(x(2, 3), x(2, 3, start=2), "
    "x(2, 3, start=4), distance_function=T.nn.PairwiseDistance(p=1.0))",
    "[T.optim.lr_scheduler.StepLR(T.optim.SGD([x(2)], lr=1), 2).get_last_lr()]",
]

CASES = cases(_LINEAR_LOSS, _OTHERS)
