"""How the tensors of several processes become one."""

from __future__ import annotations

import enum


class RedOpType(enum.Enum):
    """The kinds of reduction."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


class _OneOfEither(type):
    def __instancecheck__(cls, value) -> bool:
        return isinstance(value, RedOpType) or type.__instancecheck__(cls, value)


class ReduceOp(metaclass=_OneOfEither):
    """A kind of reduction and, of PREMUL_SUM, what is multiplied before.

    The names of the kinds are attributes: ReduceOp.SUM.
    """

    RedOpType = RedOpType
    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: RedOpType, factor: float = 1.0) -> None:
        if isinstance(op, ReduceOp) and not isinstance(op, RedOpType):
            op, factor = op.op, op.factor
        if not isinstance(op, RedOpType):
            raise TypeError(f"ReduceOp: {op!r} is no kind of reduction")
        self.op = op
        self.factor = float(factor)

    def __eq__(self, other) -> bool:
        """True if the kinds are the same."""
        if not isinstance(other, ReduceOp):
            return NotImplemented
        return self.op is kind_of(other)[0]

    def __hash__(self) -> int:
        """The kind's."""
        return hash(self.op)

    def __repr__(self) -> str:
        """The kind's."""
        return repr(self.op)


def _make_nccl_premul_sum(factor) -> ReduceOp:
    """The sum of what is multiplied by a number, or a tensor of one, before."""
    return ReduceOp(RedOpType.PREMUL_SUM, factor)


def kind_of(op) -> tuple[RedOpType, float]:
    """The kind of an op and its factor; TypeError if it is none."""
    if isinstance(op, RedOpType):
        return op, 1.0
    if isinstance(op, ReduceOp):
        return op.op, op.factor
    raise TypeError(
        f"reduce op: expected torch.distributed.ReduceOp, got {type(op).__name__}"
    )


class _OldNames:
    """`reduce_op.SUM`: the names before ReduceOp."""

    def __getattr__(self, name: str) -> RedOpType:
        if name not in RedOpType.__members__:
            raise AttributeError(name)
        import warnings

        warnings.warn(
            "`torch.distributed.reduce_op` is deprecated, please use "
            "`torch.distributed.ReduceOp` instead",
            FutureWarning,
            stacklevel=2,
        )
        return RedOpType[name]


reduce_op = _OldNames()
