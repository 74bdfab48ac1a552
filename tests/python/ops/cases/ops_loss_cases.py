# ruff: noqa: E501  (a case is one line)
"""Cases of losses and distances."""

from __future__ import annotations

from ops_eval import cases

_REDUCTIONS = ("none", "mean", "sum")

_ELEMENTWISE = [
    f"F.{loss}(x(2, 3) * 2, x(2, 3, start=4), reduction='{reduction}')"
    for loss in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div")
    for reduction in _REDUCTIONS
] + [
    "F.smooth_l1_loss(x(3), x(3, start=2), beta=0.3)",
    "F.smooth_l1_loss(x(3), x(3, start=2), beta=0)",
    "F.huber_loss(x(3), x(3, start=2), delta=0.3)",
    "F.soft_margin_loss(x(3), t([1.0, -1.0, 1.0]))",
    "F.poisson_nll_loss(x(3), x(3).abs() * 5)",
    "F.poisson_nll_loss(x(3).abs(), x(3).abs() * 5, log_input=False, full=True)",
    "F.binary_cross_entropy(x(3).abs(), x(3, start=1).abs(), x(3, start=2).abs())",
    "F.binary_cross_entropy(t([0.0, 1.0, 0.0]), t([0.0, 1.0, 1.0]), reduction='none')",
    "F.binary_cross_entropy_with_logits(x(3) * 9, x(3).abs())",
    "F.binary_cross_entropy_with_logits(x(3) * 90, x(3).abs(), x(3), "
    "pos_weight=x(3).abs())",
    "F.kl_div(x(3), x(3).abs().log(), log_target=True, reduction='sum')",
    "F.mse_loss(x(3).half(), x(3, start=1).half())",
]

_TARGET = "t([1, 0, -100])"
_CLASSES = [
    f"F.{loss}(x(3, 4), {_TARGET}, {weight}, reduction='{reduction}')"
    for loss in ("nll_loss", "cross_entropy")
    for weight in ("None", "x(4).abs()")
    for reduction in _REDUCTIONS
] + [
    "F.nll_loss(x(4), t(2))",
    "F.nll_loss(x(2, 3, 2), t([[0, 2], [1, 1]]), reduction='none')",
    "F.nll_loss(x(2, 3, 1, 2), t([[[0, 2]], [[1, 1]]]), x(3).abs(), ignore_index=1)",
    "F.nll_loss(x(2, 3, 1, 1, 2), t([[[[0, 2]]], [[[1, 1]]]]))",
    "F.nll_loss(x(2, 3), t([-100, -100]))",
    "F.nll_loss(T.ones(0, 3), T.empty(0, dtype=T.int64))",
    "F.cross_entropy(x(4), t(2))",
    "F.cross_entropy(x(3, 4), t([1, 0, -100]), label_smoothing=0.2)",
    "F.cross_entropy(x(3, 4), t([1, 0, -100]), x(4).abs(), label_smoothing=0.2)",
    "F.cross_entropy(x(3, 4), t([1, 0, 2]), label_smoothing=0.2, reduction='none')",
    "F.cross_entropy(x(2, 3, 2), t([[0, 2], [1, 1]]))",
    "F.cross_entropy(x(3, 4), x(3, 4).abs())",
    "F.cross_entropy(x(3, 4), x(3, 4).abs(), x(4), label_smoothing=0.1)",
    "F.cross_entropy(x(2, 3, 2), x(2, 3, 2).abs(), reduction='none')",
    "F.multi_margin_loss(x(3, 4), t([0, 3, 2]), 2, 0.7, x(4).abs())",
    "F.multilabel_margin_loss(x(2, 3), t([[0, 2, -1], [1, -1, 0]]))",
]

_PAIRS = [
    "F.hinge_embedding_loss(x(3), t([1, -1, 1]), reduction='none')",
    "F.margin_ranking_loss(x(3), x(3, start=2), t([1, -1, 1]), 0.5)",
    "F.cosine_embedding_loss(x(2, 3), x(2, 3, start=2), t([1, -1]), 0.1)",
    "F.cosine_embedding_loss(x(3), x(3, start=2), t(-1))",
    "F.triplet_margin_loss(x(2, 3), x(2, 3, start=1), x(2, 3, start=2), swap=True)",
    "F.cosine_similarity(x(2, 3), x(3))",
    "F.cosine_similarity(x(2, 3), T.zeros(2, 3))",
    "F.pairwise_distance(x(2, 3), x(2, 3, start=2))",
    "F.pairwise_distance(x(2, 3), x(2, 3, start=2), 1, keepdim=True)",
    "T.cdist(x(2, 3), x(4, 3))",
    "T.cdist(x(2, 2, 3), x(4, 3), p=1)",
    "T.cdist(x(2, 3), x(4, 3), p=inf)",
    "[T.cdist(x(2, 20), x(3, 20, start=5), p=p) for p in (0, 0.5, 1, 2, 3, inf)]",
    "T.cdist(x(1, 2, 3), x(2, 1, 4, 3)), T.cdist(x(0, 3), x(2, 3))",
    "T.cdist(x(2, 0), x(3, 0)), T.cdist(x(1, 2, 3).expand(2, 2, 3), x(3, 2).t()[:2])",
    "T.cdist(x(30, 5), x(3, 5, start=9))",
    "T.cdist(x(2, 3), x(4, 3, start=9), compute_mode='use_mm_for_euclid_dist')",
    "T.cdist(x(30, 3), x(30, 3), compute_mode='donot_use_mm_for_euclid_dist').diagonal()",
    "T.cdist(t([[2.0, 1.0], [inf, 2.0]]), t([[0.0, inf], [1.0, 1.0]]), p=inf)",
]

_CTC = [
    "F.ctc_loss(x(4, 2, 3).log_softmax(2), t([[1, 2], [2, 2]]), [4, 3], [2, 1])",
    "F.ctc_loss(x(4, 2, 3).log_softmax(2), t([1, 2, 2]), t([4, 3]), t([2, 1]))",
    "F.ctc_loss(x(4, 3).log_softmax(1), t([1, 2]), t(4), t(2), reduction='sum')",
    "F.ctc_loss(x(2, 1, 3), t([[1, 1]]), [2], [2], reduction='none')",
    "F.ctc_loss(x(2, 1, 3), t([[1, 1]]), [2], [2], zero_infinity=True)",
    "F.ctc_loss(x(2, 1, 3), t([[1, 1]]), [2], [0], blank=2)",
    "F.ctc_loss(t([[[-1.0, -1.0, -1.0]], [[-1.0, -1.0, nan]]]), t([[1, 2]]), "
    "[2], [2], reduction='none')",
    "grad(lambda a: F.ctc_loss(a, t([[1, 2], [2, 2]]), [4, 3], [2, 1]),"
    " d(4, 2, 3).log_softmax(2))",
    "F.ctc_loss(x(4, 2, 3), l(2, 2), [5, 4], [2, 1])",
    "F.ctc_loss(x(4, 2, 3), l(2, 2), [4], [2, 1])",
    "F.ctc_loss(x(4, 2, 3), l(2, 2), [4, 4], [3, 1])",
    "F.ctc_loss(x(4, 2, 3), l(2, 2), [4, 4], [2, 1], blank=7)",
]

_GRADIENTS = [
    *(
        f"grad(lambda a, b: F.{loss}(a, b, reduction='{reduction}'), d(2, 2) "
        "* 2, d(2, 2, start=3))"
        for loss in ("mse_loss", "smooth_l1_loss", "huber_loss")
        for reduction in _REDUCTIONS
    ),
    "[grad(lambda a, b: T.cdist(a, b, p=p), d(3, 5), d(2, 5, start=9)) for p in (0, 0.5, 1, 1.5, 2, 3, inf)]",
    "grad(lambda a, b: T.cdist(a, b), d(1, 3, 5), d(2, 1, 2, 5, start=9))",
    "grad(lambda a, b: T.cdist(a, b), d(28, 3), d(2, 3))[1:]",
    "grad(lambda a: T.cdist(a, a), d(3, 5))",
    "grad2(lambda a: T.cdist(a, a + d(3, 5), compute_mode='use_mm_for_euclid_dist'), d(3, 5))",
    "grad(lambda a: F.nll_loss(a, t([1, 0, -100]), d(4).abs()), d(3, 4))",
    "grad(lambda a: F.nll_loss(a, t([[0, 2], [1, 1]])), d(2, 3, 2))",
    "grad(lambda a: F.cross_entropy(a, t([1, 0, 2])), d(3, 4))",
    "grad(lambda a: F.cross_entropy(a, t([1, 0, 2]), label_smoothing=0.1), d(3, 4))",
    "grad(lambda a: F.cross_entropy(a, d(3, 4).abs(), reduction='sum'), d(3, 4))",
    "grad(lambda a: F.binary_cross_entropy(a, d(3).abs()), d(3).abs() + 0.1)",
    "grad(lambda a, b: F.binary_cross_entropy_with_logits(a, b), d(3), d(3))",
    "grad(lambda a: F.soft_margin_loss(a, t([1.0, -1.0])), d(2))",
    "grad(F.cosine_similarity, d(2, 3), d(2, 3, start=3))",
    "grad(lambda a, b: F.triplet_margin_loss(a, b, d(2, 3, start=5)), d(2, "
    "3), d(2, 3, start=3))",
    "grad2(lambda a, b: F.mse_loss(a, b), d(2, 2), d(2, 2, start=3))",
    "grad2(lambda a: F.cross_entropy(a, t([1, 0, 2])), d(3, 4))",
    "grad2(lambda a: F.nll_loss(a.square(), t([1, 0, 2]), reduction='none'), d(3, 4))",
    "grad2(lambda a, b: F.binary_cross_entropy_with_logits(a, b), d(3), d(3))",
]

_ERRORS = [
    "F.soft_margin_loss(x(2), l(2) > 0)",
    "F.mse_loss(x(2), x(2) + 1j)",
    "F.mse_loss(x(0), x(0) + 1j)",
    "F.mse_loss(l(2), x(2))",
    "F.mse_loss(x(2), l(2) > 0)",
    "F.smooth_l1_loss(x(0), x(0) + 1j)",
    "F.smooth_l1_loss(l(2), x(2))",
    "F.huber_loss(x(2), x(2) + 1j)",
    "F.huber_loss(l(2), x(2))",
    "F.huber_loss(x(2), d(2))",
    "grad(lambda a: F.mse_loss(a, l(2) > 0), d(2))",
    "F.kl_div(x(0), x(0) + 1j)",
    "F.kl_div(x(2), x(2) + 1j, log_target=True)",
    "F.binary_cross_entropy(t([0.5]), t([1.5]))",
    "F.binary_cross_entropy(t([0.5]), t([nan]))",
    "F.binary_cross_entropy(t([nan]), t([2.0]))",
    "F.binary_cross_entropy(x(2).abs(), x(2).abs(), x(2) + 1j)",
    "F.binary_cross_entropy(x(2).abs(), x(2).abs(), d(2))",
    "F.binary_cross_entropy_with_logits(x(2), l(2))",
    "F.binary_cross_entropy_with_logits(x(0), l(0))",
    "F.hinge_embedding_loss(l(2), x(2))",
    "F.hinge_embedding_loss(l(3), t([1, -1, 0]), 2.0, reduction='none')",
    "F.soft_margin_loss(x(2), t([1.0, -1.0], requires_grad=True))",
    "F.soft_margin_loss(x(5, 1), x(5, 0))",
    "F.soft_margin_loss(x(2), d(2))",
    "F.soft_margin_loss(x(2), x(2) + 1j)",
    "F.mse_loss(l(2, 3), l(2, 3))",
    "F.huber_loss(x(2), x(2), delta=-1)",
    "F.smooth_l1_loss(x(2), x(2), beta=-1)",
    "F.nll_loss(x(2, 3), t([0, 5]))",
    "F.nll_loss(x(2, 3), t([0, -1]))",
    "F.nll_loss(x(2, 3), t([0, 1, 2]))",
    "F.nll_loss(x(2, 3), x(2))",
    "F.nll_loss(x(2, 3), t([0, 1]), x(4))",
    "F.nll_loss(x(2, 3), t([0, 1]), d(3))",
    "F.nll_loss(x(2, 3, 4), l(2, 3))",
    "F.nll_loss(x(), l(2))",
    "F.cross_entropy(x(2, 3), x(2, 4))",
    "F.cross_entropy(x(2, 3), l(2, 3))",
    "F.cross_entropy(x(2, 3), x(2, 3), ignore_index=1)",
    "F.cross_entropy(x(2, 3), t([0, 1]), label_smoothing=2.0)",
    "F.binary_cross_entropy(t([2.0]), t([1.0]))",
    "F.binary_cross_entropy(x(2), x(3))",
    "F.cosine_embedding_loss(x(2), x(2), x(2))",
    "F.triplet_margin_loss(x(2, 3), x(2), x(2, 3))",
    "F.cosine_similarity(l(2, 3), l(2, 3))",
    "T.cdist(x(2, 3), x(2, 4))",
    "T.cdist(x(3), x(2, 4))",
    "T.cdist(x(2, 3), l(2, 3))",
    "T.cdist(d(2, 3), x(2, 3))",
    "T.cdist(x(2, 3).half(), x(2, 3).half())",
    "T.cdist(x(2, 3), x(2, 3), p=-1)",
    "T.cdist(x(2, 3), x(2, 3), compute_mode='fast')",
]

CASES = cases(_ELEMENTWISE, _CLASSES, _PAIRS, _CTC, _GRADIENTS, _ERRORS)
