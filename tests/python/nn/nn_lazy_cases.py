"""Cases of modules that learn their sizes from the first input."""

from __future__ import annotations

import copy

from nn_scope import Cases
from outcomes import tensor

cases = Cases()
CASES = cases.found

_MADE = {
    "LazyLinear": ((4,), (2, 3)),
    "LazyConv1d": ((4, 2), (2, 3, 5)),
    "LazyConv2d": ((4, (2, 1)), (3, 5, 4)),
    "LazyConv3d": ((4, 2), (1, 2, 3, 4, 3)),
    "LazyConvTranspose1d": ((4, 2), (2, 3, 5)),
    "LazyConvTranspose2d": ((4, 3, 2), (1, 2, 3, 4)),
    "LazyConvTranspose3d": ((2, 2), (1, 2, 2, 3, 2)),
    "LazyBatchNorm1d": ((), (3, 4)),
    "LazyBatchNorm2d": ((), (2, 3, 2, 2)),
    "LazyBatchNorm3d": ((), (2, 3, 2, 2, 1)),
    "LazyInstanceNorm1d": ((), (2, 3, 4)),
    "LazyInstanceNorm2d": ((), (2, 3, 2, 2)),
    "LazyInstanceNorm3d": ((), (2, 3, 2, 2, 2)),
}


def _life(name):
    args, shape = _MADE[name]

    def run(lib):
        lib.manual_seed(3)
        m = getattr(lib.nn, name)(*args)
        found = [repr(m), m.has_uninitialized_params(), list(m.state_dict())]
        found += [repr(v) for v in m.parameters()]
        m.double()
        y = m(tensor(lib, *shape).double())
        state = dict(m.state_dict())
        return [*found, y, repr(m), type(m).__name__, state]

    return run


def _loaded(name):
    args, shape = _MADE[name]

    def run(lib):
        m, other = (getattr(lib.nn, name)(*args) for _ in range(2))
        m(tensor(lib, *shape))
        told = repr(other.load_state_dict(m.state_dict()))
        same = [
            bool((a == b).all())
            for a, b in zip(m.state_dict().values(), other.state_dict().values())
        ]
        # Called now, PyTorch's forgets to count the features.
        return [told, same, type(other).__name__, other.has_uninitialized_params()]

    return run


for _name in _MADE:
    CASES[f"life of {_name}"] = _life(_name)
    CASES[f"loading into {_name}"] = _loaded(_name)

cases.each(
    "lazy",
    "lib.nn.LazyLinear(2).weight.shape",
    "lib.nn.LazyLinear(2, bias=False)",
    "lib.nn.LazyConv2d(4, 3, groups=2, padding='same')",
    "lib.nn.LazyConv2d(4, 3)(lib.ones(2, 5))",
    "lib.nn.LazyConv2d(3, 3, groups=2)",
    "lib.nn.LazyConv2d(4, 3, groups=2)(lib.ones(1, 3, 5, 5))",
    "lib.nn.LazyConvTranspose2d(4, 3, output_padding=1, stride=2)",
    "lib.nn.LazyBatchNorm2d()(lib.ones(2, 3))",
    "lib.nn.LazyInstanceNorm2d(affine=False, track_running_stats=False)",
    "lib.nn.LazyLinear(2).share_memory()",
    "lib.nn.LazyLinear(2).reset_parameters()",
    "lib.nn.Sequential(lib.nn.LazyLinear(2), lib.nn.ReLU()).half()[0].weight.dtype",
    "repr(lib.nn.UninitializedParameter(requires_grad=False))",
    "lib.nn.UninitializedBuffer().requires_grad",
)


@cases.case
def copied_before_the_first_call(lib):
    m = lib.nn.LazyLinear(2)
    other = copy.deepcopy(m)
    other(lib.ones(1, 3))
    return [repr(m), repr(other), repr(m.weight)]


@cases.case
def trained_parameters_keep_their_identity(lib):
    m = lib.nn.LazyLinear(2)
    held = list(m.parameters())
    m(lib.ones(1, 3)).sum().backward()
    lib.optim.SGD(held, lr=0.5).step()
    grads = [p.grad for p in held]
    return [held[0] is m.weight, held[1] is m.bias, grads]


@cases.case
def operators_are_refused_before_the_first_call(lib):
    weight = lib.nn.LazyLinear(2).weight
    buffer = lib.nn.UninitializedBuffer()
    found = []
    for call in (
        lambda: weight + 1,
        lambda: lib.empty_like(weight),
        lambda: lib.nn.functional.linear(lib.ones(2), weight),
        lambda: buffer.sum(),
    ):
        try:
            call()
        except ValueError as error:
            start, _, end = str(error).partition(" in <")
            found.append([start, end.partition(">. ")[2]])
    return [found, list(weight.size()), weight.double().dtype, weight.is_leaf]
