"""Cases of autograd as Python has it: functions, grad, backward, gradcheck."""

from __future__ import annotations

from nn_scope import Cases
from outcomes import tensor

cases = Cases()
CASES = cases.found


@cases.case
def python_function(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, y):
            ctx.save_for_backward(x, None)
            ctx.factor = factor
            return x * factor, y.view_as(y)

        @staticmethod
        def backward(ctx, g, h):
            (x, _) = ctx.saved_tensors
            return g * ctx.factor + x * 0, None, h

    x = tensor(lib, 3, requires_grad=True)
    y = tensor(lib, 3, start=4, requires_grad=True)
    a, b = Scale.apply(x, 3.0, y)
    (a.sum() + (b * b).sum()).backward()
    return a, b, x.grad, y.grad, a.grad_fn.name()


@cases.case
def python_function_setup_context(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x**2 * g

    x = tensor(lib, 3, requires_grad=True)
    (first,) = lib.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x)
    return first, second


@cases.case
def python_function_saved_output(lib):
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return y * g

    x = tensor(lib, 3, requires_grad=True)
    (first,) = lib.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x)
    return first, second


@cases.case
def python_function_flags(lib):
    seen = []

    class Many(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            seen.append(ctx.needs_input_grad)
            ranks = (x > 0).to(x.dtype)
            ctx.mark_non_differentiable(ranks)
            return x * 2, ranks, "text"

        @staticmethod
        def backward(ctx, g, unused, text):
            seen.append([g, unused, text])
            return g * 2, None

    x = tensor(lib, 3, requires_grad=True)
    a, ranks, text = Many.apply(x, tensor(lib, 3))
    a.sum().backward()
    return seen, x.grad, a.requires_grad, ranks.requires_grad, text


@cases.case
def python_function_wrong_count(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g

    x = tensor(lib, 3, requires_grad=True)
    Wrong.apply(x, x).sum().backward()


@cases.case
def python_function_gradient_for_non_tensor(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = tensor(lib, 3, requires_grad=True)
    Wrong.apply(x, 2.0).sum().backward()


@cases.case
def python_function_once_differentiable(lib):
    class Once(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = tensor(lib, 3, requires_grad=True)
    (first,) = lib.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
    lib.autograd.grad(first.sum(), x)


@cases.case
def python_function_without_gradient(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = tensor(lib, 3, requires_grad=True)
    with lib.no_grad():
        found = [Double.apply(x).requires_grad]
    found += [Double.apply(tensor(lib, 3)).requires_grad]
    Double.apply(x).sum().backward()


def _graph(lib):
    x = tensor(lib, 3, requires_grad=True)
    return x, (x * x).sum(), x * 2


@cases.case
def grad_values(lib):
    x, scalar, vector = _graph(lib)
    grad = lib.autograd.grad
    return [
        grad(scalar, x, retain_graph=True),
        grad([scalar, vector], [x], [None, lib.ones(3)]),
        grad(_graph(lib)[1], tensor(lib, 2, requires_grad=True), allow_unused=True),
        grad(
            _graph(lib)[1], tensor(lib, 2, requires_grad=True), materialize_grads=True
        ),
    ]


for _name, _text in {
    "grad_of_vector": "lib.autograd.grad(vector, x)",
    "grad_shape": "lib.autograd.grad(vector, x, lib.ones(2))",
    "grad_type": "lib.autograd.grad(vector, x, [3])",
    "grad_unused": "lib.autograd.grad(scalar, tensor(lib, 2, requires_grad=True))",
    "grad_contradiction": "lib.autograd.grad(scalar, x, allow_unused=False,"
    " materialize_grads=True)",
    "grad_twice": "lib.autograd.grad(scalar, x), lib.autograd.grad(scalar, x)",
    "backward_without_graph": "lib.autograd.backward(tensor(lib, 2).sum())",
    "backward_of_vector": "lib.autograd.backward(vector)",
    "backward_values": "lib.autograd.backward([scalar, vector], [None, lib.ones(3)]),"
    " x.grad",
    "backward_inputs": "lib.autograd.backward(scalar, inputs=[x]), x.grad",
    "backward_old_name": "lib.autograd.backward(vector, grad_variables=lib.ones(3)),"
    " x.grad",
}.items():
    CASES[_name] = lambda lib, text=_text: eval(
        text, {"lib": lib, "tensor": tensor, **dict(zip(_NAMES, _graph(lib)))}
    )


_NAMES = ("x", "scalar", "vector")


@cases.case
def gradcheck(lib):
    check = lib.autograd.gradcheck
    x = tensor(lib, 2, 3, dtype=lib.float64, requires_grad=True)
    y = tensor(lib, 3, start=3, dtype=lib.float64, requires_grad=True)

    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    return [
        check(lambda a, b: (a * b).sin(), (x, y)),
        check(lambda a, b: (a.sum(), a @ b), (x, y)),
        check(Wrong.apply, x, raise_exception=False),
        lib.autograd.gradgradcheck(lambda a, b: (a * b).sin(), (x, y)),
    ]


@cases.case
def gradcheck_complex(lib):
    x = tensor(lib, 2, 3, dtype=lib.float64)
    z = (x + 1j * x.flip(0)).requires_grad_()
    check = lib.autograd.gradcheck
    return [check(lambda a: a * a.conj() + a**2, z), check(lambda a: a.abs(), z)]


@cases.case
def gradcheck_without_gradient(lib):
    return lib.autograd.gradcheck(lambda a: a * 2, tensor(lib, 2))


@cases.case
def gradcheck_failure(lib):
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = tensor(lib, 2, dtype=lib.float64, requires_grad=True)
    try:
        lib.autograd.gradcheck(Wrong.apply, x)
    except RuntimeError as error:
        return str(error).split("\n")[0]
