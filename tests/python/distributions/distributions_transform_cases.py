"""Cases of transforms and constraints."""

from __future__ import annotations

from distributions_eval import cases

_PASSED = [
    "passed(ExpTransform(), x(2, 3))",
    "passed(ExpTransform().inv, x(2, 3).exp())",
    "passed(PowerTransform(t([2.0, -0.5, 1.0])), x(2, 3).exp())",
    "passed(SigmoidTransform(), 40 * x(2, 3))",
    "passed(TanhTransform(), x(2, 3))",
    "passed(SoftplusTransform(), x(2, 3))",
    "passed(AbsTransform(), x(2, 3))",
    "passed(AffineTransform(1.0, -2.0), x(2, 3))",
    "passed(AffineTransform(x(3), x(3), event_dim=1), x(2, 3))",
    "passed(AffineTransform(x(2, 1), x(3)), x(3))",
    "passed(SoftmaxTransform(), x(2, 3))",
    "passed(StickBreakingTransform(), x(2, 3))",
    "passed(LowerCholeskyTransform(), x(2, 3, 3))",
    "passed(PositiveDefiniteTransform(), x(2, 3, 3))",
    "passed(CorrCholeskyTransform(), x(2, 6))",
    "passed(CumulativeDistributionTransform(Normal(0.5, 2.0)), x(2, 3))",
    "passed(ReshapeTransform((3, 2), (6,)), x(4, 3, 2))",
    "passed(ComposeTransform([]), x(2, 3))",
    "passed(ComposeTransform([ExpTransform(), AffineTransform(1.0, 2.0)]), x(2, 3))",
    "passed(ComposeTransform([AffineTransform(1.0, 2.0), "
    "StickBreakingTransform()]), x(2, 3))",
    "passed(ComposeTransform([StickBreakingTransform(), "
    "StickBreakingTransform().inv]), x(2, 3))",
    "passed(IndependentTransform(ExpTransform(), 1), x(2, 3))",
    "passed(CatTransform([ExpTransform(), AffineTransform(0, 2)], dim=1, "
    "lengths=[2, 1]), x(2, 3))",
    "passed(StackTransform([ExpTransform(), AffineTransform(0, 2)], dim=0), x(2, 3))",
    "ExpTransform()(x(2)) is ExpTransform()(x(2))",
    "ExpTransform() == ExpTransform()",
    "ExpTransform() == SigmoidTransform()",
    "AffineTransform(0, 1) == AffineTransform(t(0.0), 1)",
    "AffineTransform(0, 1) != AffineTransform(0, 2)",
    "PowerTransform(2) == PowerTransform(t(3.0))",
    "ComposeTransform([ExpTransform()]) == ComposeTransform([ExpTransform()])",
    "ExpTransform().inv == ExpTransform().inv",
    "ReshapeTransform((2, 3), (5,))",
    "ReshapeTransform((2, 3), (6,)).forward_shape((2, 4))",
    "ReshapeTransform((2, 3), (6,)).forward_shape((4,))",
    "StickBreakingTransform().forward_shape(())",
    "CorrCholeskyTransform().forward_shape((2, 5))",
    "CorrCholeskyTransform().inverse_shape((2, 3, 4))",
    "ExpTransform(cache_size=3)",
    "StickBreakingTransform().event_dim",
    "ReshapeTransform((2, 3), (6,)).event_dim",
    "CatTransform([ExpTransform()], lengths=[1, 2])",
    "CatTransform([ExpTransform()])(x(2))",
    "CatTransform([ExpTransform()], dim=3)(x(2))",
    "CatTransform([1])",
    "StackTransform([ExpTransform()])(x(2))",
    "IndependentTransform(ExpTransform(), 2)(x(2))",
]
_CONSTRAINTS = [
    "C.real",
    "C.real_vector",
    "C.positive",
    "C.nonnegative",
    "C.greater_than(0.5)",
    "C.greater_than_eq(t([0.5, 0.1, 0.2]))",
    "C.less_than(0.5)",
    "C.unit_interval",
    "C.interval(-0.5, 0.5)",
    "C.half_open_interval(-0.5, 0.5)",
    "C.integer_interval(-1, 3)",
    "C.nonnegative_integer",
    "C.positive_integer",
    "C.boolean",
    "C.one_hot",
    "C.simplex",
    "C.multinomial(3)",
    "C.lower_triangular",
    "C.lower_cholesky",
    "C.corr_cholesky",
    "C.square",
    "C.symmetric",
    "C.positive_semidefinite",
    "C.positive_definite",
    "C.independent(C.positive, 1)",
    "C.independent(C.positive, 3)",
    "C.cat([C.positive, C.real], dim=1, lengths=[1, 2])",
    "C.stack([C.positive, C.real, C.boolean], dim=1)",
    "C.MixtureSameFamilyConstraint(C.positive)",
]
_VALUES = [
    "x(3, 3)",
    "t([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]])",
    "t([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])",
    "t([[3.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])",
    "t([[3.0, -1.0, 2.5]])",
]
_CHECKED = [
    f"[repr({c}), {c}.is_discrete, {c}.event_dim, {c}.check({v})]"
    for c in _CONSTRAINTS
    for v in _VALUES
]
_FOUND = [
    f"repr({registry}({c}))"
    for registry in ("biject_to", "transform_to")
    for c in _CONSTRAINTS
]
_DEPENDENT = [
    "C.dependent.event_dim",
    "C.dependent.is_discrete",
    "C.dependent(event_dim=2).event_dim",
    "C.dependent.check(x(2))",
    "[C.is_dependent(c) for c in (C.dependent, C.real, Uniform.support)]",
    "[repr(C.cat([C.real])), repr(C.dependent)]",
    "Uniform.support.event_dim",
    "TransformedDistribution.support.is_discrete",
    "TransformedDistribution.support.event_dim",
    "biject_to.register(3, ExpTransform)",
    "C.cat([3])",
    "C.cat([C.real], lengths=[1, 2])",
    "C.MixtureSameFamilyConstraint(3)",
    "D.utils.tril_matrix_to_vec(x(2, 3, 3), -1)",
    "D.utils.tril_matrix_to_vec(x(2, 3, 3), 1)",
    "D.utils.tril_matrix_to_vec(x(2, 3, 3), 3)",
    "D.utils.vec_to_tril_matrix(x(2, 6))",
    "D.utils.vec_to_tril_matrix(x(2, 6), -1)",
    "D.utils.vec_to_tril_matrix(x(2, 8), 1)",
    "D.utils.vec_to_tril_matrix(x(2, 5))",
    "D.utils.broadcast_all(1, t([2.0, 3.0]))",
    "D.utils.broadcast_all(1, True, 2.0)",
    "D.utils.broadcast_all(1, None)",
    "D.utils.probs_to_logits(t([0.0, 0.5, 1.0]), is_binary=True)",
    "D.utils.probs_to_logits(t([0.0, 0.5, 1.0]))",
    "D.utils.logits_to_probs(t([0.0, 0.5, 1.0]))",
    "D.utils.logits_to_probs(t([0.0, 0.5, 1.0]), is_binary=True)",
]

CASES = cases(_PASSED, _CHECKED, _FOUND, _DEPENDENT)
