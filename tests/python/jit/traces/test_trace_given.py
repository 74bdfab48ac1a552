"""Tensors that a traced function is given: the very ones."""

import weakref

import pytest

import hotaru

X = hotaru.arange(6.0).reshape(2, 3)
OTHER = X * 3 - 4
# A constant of the functions.
K = X.clone()


def traced(function, *given):
    return hotaru.jit.trace(function, given, check_trace=False)


@pytest.mark.parametrize("module", [False, True])
def test_functions_and_modules_get_the_tensors_themselves(module):
    seen = []

    def function(*given):
        seen.append([a is b for a, b in zip(given, (X, OTHER))])
        return given[0] + given[1]

    class Module(hotaru.nn.Module):
        def forward(self, *given):
            return function(*given)

    made = traced(Module() if module else function, X, OTHER)
    assert seen == [[True, True]]
    assert hotaru.equal(made(OTHER, OTHER), 2 * OTHER)


def test_tensors_in_containers_are_those_given():
    seen = []

    def function(pair, table):
        seen.extend((pair[0] is X, pair[1] is OTHER, table["x"] is pair[0]))
        return pair[0] * pair[1]

    program = traced(function, (X, OTHER), {"x": X + 1})
    assert seen == [True, True, False]
    found = program((OTHER, OTHER), {"x": X})
    assert hotaru.equal(found, OTHER * OTHER)


def test_one_tensor_given_twice_is_two_inputs():
    program = traced(lambda a, b: a - b, X, X)
    assert hotaru.equal(program(OTHER, X), OTHER - X)


def test_an_input_may_be_the_result():
    assert hotaru.equal(traced(lambda x: x, X)(OTHER), OTHER)
    found = traced(lambda x: (x, [x][0] + 1), X)(OTHER)
    assert hotaru.equal(found[0], OTHER)


class Doubled(hotaru.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@hotaru.jit.script
def compiled(x):
    return x + 1


def written(x):
    made = K * 2
    made[x > 2] = 1
    made[0] = x[1]
    return made + made.mul_(x)


# Ways to reach the tensor by other ways than an operator.
WAYS = {
    "compiled": compiled,
    "function": Doubled.apply,
    "rows": lambda x: hotaru.stack(list(x)),
    "unpacked": lambda x: (lambda a, b: a + b)(*x),
    "stacked": lambda x: hotaru.stack([x, K]),
    "indexed": lambda x: hotaru.ones(40)[x.abs().long()] + x,
    "index": lambda x: K[x.long().clamp(0, 1)[:, 0]],
    "reflected": lambda x: 1 - K - x,
    "in place": lambda x: K.clone().add_(x),
    "written part": written,
    "compared": lambda x: (x > K).float() + (x == K).float(),
    "sizes": lambda x: hotaru.zeros(x.shape) + x.shape[0] * x.numel(),
    "data": lambda x: x.data + 1,
    "transposed": lambda x: x.T + x.mT,
    "layer": hotaru.nn.functional.softsign,
    "formatted": lambda x: (f"{x}", x + 1)[1],
    "python": lambda x: hotaru.norm(x) + x.norm(dim=0),
    "einsum": lambda x: hotaru.einsum("ij,ij->i", x, K),
    "mapped": lambda x: hotaru.vmap(lambda row: row + 1)(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_an_input_is_traced(way):
    function = WAYS[way]
    grad = X.clone().requires_grad_(way == "function")
    program = traced(function, grad)
    assert hotaru.equal(program(OTHER), function(OTHER))


def test_writes_stay_in_the_program():
    def function(x):
        x[0] = 7
        x += 1
        return x * 2

    given = X.clone()
    program = traced(function, given)
    assert hotaru.equal(program(OTHER.clone()), function(OTHER.clone()))


@hotaru.library.custom_op("trace_given::thrice", mutates_args=())
def thrice(x: hotaru.Tensor) -> hotaru.Tensor:
    return x * 3


@hotaru.library.custom_op("trace_given::both", mutates_args=())
def both(x: hotaru.Tensor, by: float) -> list[hotaru.Tensor]:
    return [x * by, x + by]


hotaru.library.define("trace_given::many.number", "(Tensor x, int n) -> Tensor")
hotaru.library.define(
    "trace_given::many.pair", "(Tensor x, Tensor y) -> (Tensor, Tensor)"
)
hotaru.library.impl("trace_given::many.number", "CPU", lambda x, n: x.repeat(n, 1))
hotaru.library.impl("trace_given::many.pair", "CPU", lambda x, y: (x + y, x - y))
OURS = hotaru.ops.trace_given


@pytest.mark.parametrize(
    "function",
    [
        lambda x: thrice(x) + 1,
        lambda x: thrice(x + 1),
        lambda x: OURS.thrice.default(x * 2),
        lambda x: hotaru.stack(both(x, 0.5)),
        lambda x: OURS.many(x, 2),
        lambda x: OURS.many.pair(x, K)[1],
    ],
)
def test_operators_that_python_defined_are_lines(function):
    program = traced(function, X)
    assert hotaru.equal(program(OTHER), function(OTHER))
    assert "trace_given" in program.code


def test_results_keep_what_the_function_notes_on_them():
    given = hotaru.ones(2)
    seen = {}

    def noted(x):
        y = x.exp()
        assert not hasattr(y, "origin")
        y.origin = weakref.ref(given)
        x.origin = "given"
        seen.update(y=y.origin(), x=x.origin, alive=weakref.ref(y)() is y)
        del y.origin
        assert not hasattr(y, "origin")
        for member in ("shape", "is_leaf", "exp"):
            with pytest.raises(AttributeError):
                setattr(y, member, 1)
        return y * 2

    program = hotaru.jit.trace(noted, given, check_trace=False)
    assert seen["y"] is given
    assert seen["x"] == "given"
    assert seen["alive"]
    assert program(hotaru.zeros(2)).tolist() == [2, 2]
