"""Derivatives where formulas as written break: kinks, zeros, shared elements,
gradients of zero; and what outlives its result.
"""

import math

import hotaru.nn.functional as F
import pytest

import hotaru
from hotaru import func
from hotaru.autograd import Function, forward_ad, gradgradcheck

FLAT = {
    "relu": F.relu,
    "leaky_relu": F.leaky_relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "hardsigmoid": F.hardsigmoid,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.1, 0.2),
    "prelu": lambda x: F.prelu(x, hotaru.tensor([0.25], dtype=x.dtype)),
}


def _double(*values, **options):
    return hotaru.tensor(values, dtype=hotaru.float64, **options)


@pytest.mark.parametrize("name", FLAT)
def test_second_derivatives_of_piecewise_linear_functions_are_zeros(name):
    x = _double(1.0, -2.0, 0.0, requires_grad=True)
    (g,) = hotaru.autograd.grad(FLAT[name](x).sum(), x, create_graph=True)
    (second,) = hotaru.autograd.grad(g.sum(), x)
    assert second.tolist() == [0.0, 0.0, 0.0]


PLANES = {
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x, 3),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "fractional_max_pool2d": lambda x: F.fractional_max_pool2d(x, 2, output_size=2),
    "reflect": lambda x: F.pad(x, (1, 1), mode="reflect"),
    "replicate": lambda x: F.pad(x, (1, 1), mode="replicate"),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "nll_loss": lambda x: F.nll_loss(x[0], hotaru.tensor([1, 0, 2, 1])),
    "prod of one": lambda x: x[:, :1, :1].prod(2),
}


@pytest.mark.parametrize("name", PLANES)
def test_second_derivatives_of_pools_and_their_like_are_zeros(name):
    hotaru.manual_seed(0)
    x = hotaru.randn(2, 4, 4, dtype=hotaru.float64, requires_grad=True)
    (g,) = hotaru.autograd.grad(PLANES[name](x).sum(), x, create_graph=True)
    (second,) = hotaru.autograd.grad(g.sum(), x)
    assert not second.any()
    assert second.shape == x.shape


@pytest.mark.parametrize("name", FLAT)
def test_tangents_of_piecewise_linear_functions(name):
    f = FLAT[name]
    x, v = _double(0.9, -2.0, 0.3), _double(1.0, 2.0, -3.0)
    want = (f(x + 1e-4 * v) - f(x - 1e-4 * v)) / 2e-4
    assert hotaru.allclose(func.jvp(f, (x,), (v,))[1], want)
    with forward_ad.dual_level():
        out = f(forward_ad.make_dual(x, v))
        assert hotaru.allclose(forward_ad.unpack_dual(out).tangent, want)
    # Forward over reverse: f f' has the derivative f'^2 v.
    slope = func.grad(lambda x: f(x).sum())(x)
    _, found = func.jvp(
        lambda x: func.grad(lambda x: f(x).square().sum() / 2)(x), (x,), (v,)
    )
    assert hotaru.allclose(found, slope * slope * v)


def test_a_gradient_penalty_gives_zeros_to_what_it_does_not_depend_on():
    layer = hotaru.nn.Linear(2, 3)
    x = hotaru.rand(4, 2, requires_grad=True)
    loss = layer(x).relu().sum()
    (g,) = hotaru.autograd.grad(loss, x, create_graph=True)
    g.pow(2).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0]] * 4
    assert layer.bias.grad.tolist() == [0.0] * 3


def test_third_derivative_of_mish_at_zero():
    d = _double(0.0, requires_grad=True)
    x, found = d, []
    d = F.mish(d)
    for _ in range(3):
        (d,) = hotaru.autograd.grad(d.sum(), x, create_graph=True)
        found.append(d.item())
    # tanh(log 2) = 0.6; by the series of x tanh(softplus(x)).
    assert found == pytest.approx([0.6, 0.64, -0.096])


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_hessian_of_a_product_with_zeros(zeros):
    values = [2.0, 3.0, 5.0, 7.0]
    values[:zeros] = [0.0] * zeros
    x = hotaru.tensor(values, dtype=hotaru.float64)
    found = func.hessian(hotaru.prod)(x)
    for i in range(4):
        for j in range(4):
            others = [v for k, v in enumerate(values) if k not in (i, j)]
            want = 0.0 if i == j else others[0] * others[1]
            assert found[i, j].item() == pytest.approx(want)
    x.requires_grad_()
    assert gradgradcheck(hotaru.prod, (x,))


def _rank_deficient(n: int, dtype=hotaru.float64):
    hotaru.manual_seed(n)
    a = hotaru.rand(n, n, dtype=dtype)
    a[-1] = 0  # exactly singular, whatever the factorisation rounds
    return a


@pytest.mark.parametrize("n", [2, 3, 5, 20])
@pytest.mark.parametrize("dtype", [hotaru.float64, hotaru.complex128])
def test_gradient_of_the_determinant_of_a_singular_matrix(n, dtype):
    a = _rank_deficient(n, dtype).requires_grad_()
    # Only entries of the last row matter: their cofactors do.
    want = hotaru.zeros(n, n, dtype=dtype)
    for j in range(n):
        keep = [k for k in range(n) if k != j]
        minor = a.detach()[:-1][:, keep]
        want[-1, j] = (-1) ** (n - 1 + j) * hotaru.linalg.det(minor)
    for graph in (False, True):
        det = hotaru.linalg.det(a)
        loss = det.real if dtype.is_complex else det
        (g,) = hotaru.autograd.grad(loss, a, create_graph=graph)
        assert hotaru.allclose(g, want.conj(), atol=1e-12)


@pytest.mark.parametrize("n", [3, 20])
def test_graphs_have_the_gradient_of_a_singular_determinant_too(n):
    def gradient(a):
        a = a.detach().requires_grad_()
        return hotaru.autograd.grad(hotaru.linalg.det(a), a)[0]

    compiled = hotaru.compile(gradient)
    regular = hotaru.eye(n, dtype=hotaru.float64)
    for a in (regular, _rank_deficient(n), regular + 1):
        assert hotaru.allclose(compiled(a), gradient(a), atol=1e-12)


def test_the_gradient_of_a_determinant_has_a_shape_on_meta():
    a = hotaru.empty(2, 3, 3, device="meta", requires_grad=True)
    (g,) = hotaru.autograd.grad(hotaru.linalg.det(a).sum(), a)
    assert g.is_meta
    assert g.shape == a.shape


def test_second_derivatives_of_a_singular_determinant():
    a = _rank_deficient(3).requires_grad_()
    assert gradgradcheck(hotaru.linalg.det, (a,))
    shift = hotaru.diag(hotaru.ones(3, dtype=hotaru.float64), 1)
    assert gradgradcheck(hotaru.linalg.det, (shift.requires_grad_(),))


@pytest.mark.parametrize("n", [1, 2, 5, 33])
def test_logcumsumexp_has_the_same_derivative_in_every_mode(n):
    hotaru.manual_seed(n)
    x = hotaru.randn(2, n, dtype=hotaru.float64) * 20
    v = hotaru.randn(2, n, dtype=hotaru.float64)
    f = lambda x: hotaru.logcumsumexp(x, 1)  # noqa: E731
    reverse = func.jacrev(f)(x)
    want = hotaru.einsum("abcd,cd->ab", reverse, v)
    assert hotaru.allclose(func.jvp(f, (x,), (v,))[1], want)
    assert hotaru.allclose(func.jacfwd(f)(x), reverse)
    with forward_ad.dual_level():
        out = f(forward_ad.make_dual(x, v))
        assert hotaru.allclose(forward_ad.unpack_dual(out).tangent, want)
    assert gradgradcheck(f, (x.requires_grad_(),))


def test_the_backward_pass_of_ctc_has_no_derivative():
    x = hotaru.randn(4, 1, 3, dtype=hotaru.float64, requires_grad=True)
    loss = F.ctc_loss(x.log_softmax(2), hotaru.tensor([[1, 2]]), (4,), (2,))
    (g,) = hotaru.autograd.grad(loss, x, create_graph=True)
    with pytest.raises(RuntimeError, match="_ctc_loss_backward"):
        hotaru.autograd.grad(g.pow(2).sum(), x)


OVERLAPS = {
    "windows of windows": lambda x: x.unfold(0, 3, 1).unfold(0, 2, 1),
    "windows of expanded": lambda x: x.expand(3, 6).unfold(0, 2, 1),
    "steps of expanded": lambda x: x.expand(2, 6).unfold(1, 2, 2),
    "strided of expanded": lambda x: x.expand(3, 6).as_strided((2, 3), (0, 1), 1),
    "strided of windows": lambda x: x.unfold(0, 3, 1).as_strided((2, 2), (1, 2), 1),
    "spectra of expanded": lambda x: hotaru.view_as_real(
        hotaru.stft(
            x.expand(2, 6),
            4,
            1,
            return_complex=True,
            center=False,
            window=hotaru.ones(4, dtype=x.dtype),
        )
    ),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_views_of_what_shows_elements_more_than_once(name):
    f = OVERLAPS[name]
    x = hotaru.arange(1.0, 7.0, dtype=hotaru.float64)
    v = hotaru.linspace(-1, 1, 6, dtype=hotaru.float64)
    step = 1e-3  # all of them are linear
    want = (f(x + step * v) - f(x - step * v)) / (2 * step)
    assert hotaru.allclose(func.jvp(f, (x,), (v,))[1], want)
    weights = hotaru.linspace(1, 2, want.numel()).to(want).view(want.shape)
    assert hotaru.allclose(
        (func.vjp(f, x)[1](weights)[0] * v).sum(), (weights * want).sum()
    )
    assert gradgradcheck(lambda x: f(x) ** 2, (x.requires_grad_(),))


def test_tangents_are_not_lost_in_other_layouts():
    x, v = hotaru.tensor([1.0, 2.0]), hotaru.tensor([10.0, 20.0])
    index = hotaru.tensor([[0, 1], [2, 0]])
    rows, columns = hotaru.tensor([0, 1, 2]), hotaru.tensor([2, 0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, v)
        for call in (
            lambda: hotaru.sparse_coo_tensor(index, dual, (2, 3)),
            lambda: hotaru.sparse_csr_tensor(rows, columns, dual, (2, 3)),
            lambda: dual.to_sparse(),
            lambda: hotaru.nested.as_nested_tensor([dual, dual], layout=hotaru.jagged),
            lambda: hotaru.nested.as_nested_tensor([dual, dual]),
        ):
            with pytest.raises(NotImplementedError, match="tangents"):
                call()


class _Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


def test_a_node_outlives_its_result():
    x = hotaru.ones(2, requires_grad=True)
    y = _Square.apply(x)
    node = y.grad_fn
    del y
    assert node.name() == "_SquareBackward"
    assert [t.tolist() for t in node.saved_tensors] == [[1.0, 1.0]]
    ((leaf, _),) = node.next_functions
    assert leaf.variable is x
    assert node.register_hook(lambda grads, given: None) is not None
    assert node(hotaru.tensor([1.0, 3.0])).tolist() == [2.0, 6.0]


def test_values_of_a_sparse_gradient_are_its_own():
    table = hotaru.nn.Embedding(4, 2, sparse=True)
    out = table(hotaru.tensor([1, 1, 2]))
    out.retain_grad()
    (out + 0).sum().backward()
    values = table.weight.grad._values()
    assert values.is_contiguous()
    values.mul_(2)
    assert out.grad.tolist() == [[1.0, 1.0]] * 3


def test_classes_that_are_registered_as_trees_are_arguments():
    from hotaru.utils import _pytree

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    _pytree.register_pytree_node(
        Pair, lambda p: ([p.a, p.b], None), lambda parts, _: Pair(*parts)
    )
    try:
        p = Pair(hotaru.tensor([1.0, 2.0]), hotaru.tensor([3.0, 4.0]))
        found = func.grad(lambda p: (p.a * p.b).sum())(p)
        assert type(found) is Pair
        assert found.a.tolist() == [3.0, 4.0]
        mapped = hotaru.vmap(lambda p: Pair(p.a * p.b, p.b))(p)
        assert mapped.a.tolist() == [3.0, 8.0]
        half = hotaru.vmap(lambda p: p.a + p.b, in_dims=(Pair(0, None),))(p)
        assert half.tolist() == [[4.0, 5.0], [5.0, 6.0]]
    finally:
        _pytree._deregister_pytree_node(Pair)


# Formulas that divide by what is zero here, and are masked there.
MASKED = {
    "power": lambda x: x ** _double(0.0, 2.0, 3.0),
    "exponent": lambda x: _double(0.0, 0.0, 2.0) ** (x + 1),
    "power of a number": lambda x: 0.0 ** (x + 1),
    "float_power": lambda x: hotaru.float_power(x, _double(2.0, 0.0, 1.0)),
    "norm": lambda x: hotaru.linalg.vector_norm(x * 0),
    "norm of order 3": lambda x: hotaru.linalg.vector_norm(x * 0, 3),
    "dist": lambda x: hotaru.dist(x, x.detach(), 2.5),
    "std": lambda x: hotaru.std(x * 0),
    "std_mean": lambda x: hotaru.std_mean(x * 0)[0],
    "cdist": lambda x: hotaru.cdist(
        x.view(3, 1), x.view(3, 1) * 0, compute_mode="use_mm_for_euclid_dist"
    ),
    "atan2": lambda x: hotaru.atan2(x, x * 0),
    "copysign": lambda x: hotaru.copysign(x, _double(1.0, -1.0, 1.0)),
    "sinc": hotaru.sinc,
    "xlogy": lambda x: hotaru.xlogy(x, _double(0.0, 0.0, 2.0)),
    "xlog1py": lambda x: hotaru.special.xlog1py(x, _double(-1.0, -1.0, 1.0)),
    "logit": lambda x: hotaru.logit(x, 0.2),
    "logit far outside": lambda x: hotaru.logit(
        x + _double(math.inf, -math.inf, 0.0), 0.2
    ),
    "angle": lambda x: hotaru.angle(hotaru.complex(x, x)),
    "sgn": lambda x: hotaru.view_as_real(hotaru.sgn(hotaru.complex(x, x))),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_formulas_have_tangents_and_second_derivatives(name):
    f = MASKED[name]
    x, v = _double(0.0, 0.0, 0.5), _double(1.0, -2.0, 3.0)

    def gradient(x):
        return func.grad(lambda x: f(x).sum())(x)

    g = gradient(x)
    assert g.isfinite().all()
    tangent = func.jvp(f, (x,), (v,))[1]
    assert float(tangent.sum()) == pytest.approx(float(g @ v))
    assert not func.jvp(f, (x,), (hotaru.zeros_like(x),))[1].any()
    forward = func.jvp(gradient, (x,), (v,))[1]
    backward = func.vjp(gradient, x)[1](v)[0]
    assert forward.isfinite().all()
    assert backward.isfinite().all()
    assert forward.tolist() == pytest.approx(backward.tolist())


def test_a_power_of_zero_grows_with_its_exponent():
    """PyTorch masks the exponent 0 and says 0; by mathematics it is 1 / x."""
    x, y = _double(2.0, requires_grad=True), _double(0.0, requires_grad=True)
    (g,) = hotaru.autograd.grad((x**y).sum(), x, create_graph=True)
    assert hotaru.autograd.grad(g.sum(), y)[0].item() == 0.5


@pytest.mark.parametrize("name", ["elu", "celu", "selu"])
def test_exponential_units_are_straight_at_zero(name):
    x = _double(0.0, -1.0, 1.0, requires_grad=True)
    (g,) = hotaru.autograd.grad(getattr(F, name)(x).sum(), x, create_graph=True)
    second = hotaru.autograd.grad(g.sum(), x)[0].tolist()
    assert second[0] == second[2] == 0
    scale = 1.0507009873554805 * 1.6732632423543772 if name == "selu" else 1
    assert second[1] == pytest.approx(scale * math.exp(-1))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_that_are_scattered_have_the_hessian_of_products(zeros):
    x = hotaru.tensor([0.0] * zeros + [1.5, 2.0, -3.0][zeros:]).double()
    index = hotaru.zeros(2, dtype=hotaru.int64)

    def scattered(x):
        return x[:1].scatter_reduce(0, index, x[1:], "prod").sum()

    found = func.hessian(scattered)(x)
    assert hotaru.allclose(found, func.hessian(hotaru.prod)(x))
    jacobian = func.jacfwd(func.jacfwd(scattered))(x)
    assert hotaru.allclose(jacobian, found)


@pytest.mark.parametrize("name", ["slogdet", "solve_ex", "logdet"])
def test_singular_matrices_have_derivatives_that_are_no_errors(name):
    """Functions that say how it went, or say infinity, do so in all modes."""
    A = hotaru.ones(2, 2, dtype=hotaru.float64)
    calls = {
        "slogdet": lambda A: hotaru.linalg.slogdet(A)[1],
        "solve_ex": lambda A: hotaru.linalg.solve_ex(A, hotaru.eye(2).double())[
            0
        ].sum(),
        "logdet": hotaru.logdet,
    }
    g = func.grad(calls[name])(A)
    assert g.shape == (2, 2)
    assert not g.isfinite().all()
    assert not func.jvp(calls[name], (A,), (A,))[1].isfinite()


def test_a_product_that_self_takes_no_part_in_leaves_it_its_gradient():
    x = hotaru.zeros(2, dtype=hotaru.float64, requires_grad=True)
    factors, index = _double(0.0, 0.0, 3.0), hotaru.zeros(3, dtype=hotaru.int64)
    y = x.scatter_reduce(0, index, factors, "prod", include_self=False)
    (g,) = hotaru.autograd.grad(y, x, _double(1.0, 2.0))
    assert g.tolist() == [0.0, 2.0]


def _bessel(order: int, x: float) -> float:
    """I of an integer order, by its series."""
    n, half = abs(order), x / 2
    terms = (
        half ** (2 * k + n) / (math.factorial(k) * math.factorial(k + n))
        for k in range(40)
    )
    return math.fsum(terms)


def _derivative(order: int, count: int, x: float) -> float:
    """The count-th of I: a mean of its neighbours, again and again."""
    return (
        math.fsum(
            math.comb(count, k) * _bessel(order - count + 2 * k, x)
            for k in range(count + 1)
        )
        / 2**count
    )


def _scaled(order: int, count: int, x: float) -> float:
    """The count-th of exp(-x) I, for positive x."""
    return math.exp(-x) * math.fsum(
        math.comb(count, k) * (-1) ** (count - k) * _derivative(order, k, x)
        for k in range(count + 1)
    )


BESSEL = {
    "i0": lambda count, x: _derivative(0, count, x),
    "i1": lambda count, x: _derivative(1, count, x),
    "i0e": lambda count, x: _scaled(0, count, x),
    "i1e": lambda count, x: _scaled(1, count, x),
}


@pytest.mark.parametrize("name", BESSEL)
@pytest.mark.parametrize("x", [1e-30, 1e-12, 1e-8, 1e-4, 0.3, 0.999, 1.0, 5.0])
def test_derivatives_of_bessel_functions_near_zero(name, x):
    at = _double(x, requires_grad=True)
    y = getattr(hotaru.special, name)(at)
    for count in range(1, 5):
        (y,) = hotaru.autograd.grad(y.sum(), at, create_graph=True)
        wanted = BESSEL[name](count, x)
        assert y.item() == pytest.approx(wanted, rel=1e-9, abs=1e-15), count


@pytest.mark.parametrize("dtype", [hotaru.float32, hotaru.float64])
def test_derivatives_of_bessel_functions_at_zero_and_far_away(dtype):
    x = hotaru.tensor([0.0, -0.0, 900.0], dtype=dtype, requires_grad=True)
    y = hotaru.special.i1(x)
    for wanted in ([0.5, 0.5], [0.0, 0.0], [0.375, 0.375], [0.0, 0.0]):
        (y,) = hotaru.autograd.grad(y.sum(), x, create_graph=True)
        assert y[:2].tolist() == wanted
    y = hotaru.special.i1e(x)
    for _ in range(3):
        (y,) = hotaru.autograd.grad(y.sum(), x, create_graph=True)
        assert abs(y[2].item()) < 1e-2


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions_forward_over_reverse(name):
    f = getattr(hotaru.special, name)
    x = hotaru.tensor(0.25, dtype=hotaru.float64)
    second = func.jvp(func.grad(f), (x,), (hotaru.ones_like(x),))[1]
    third = func.grad(func.grad(func.grad(f)))(x)
    assert second.item() == pytest.approx(BESSEL[name](2, 0.25), rel=1e-12)
    assert third.item() == pytest.approx(BESSEL[name](3, 0.25), rel=1e-12)


@pytest.mark.parametrize("name", ["i1", "i1e"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_slopes_at_the_least_numbers(name, dtype, create_graph):
    """Quotients of two of them have no digits, and 1 / x is infinite."""
    dtype = getattr(hotaru, dtype)
    least = hotaru.finfo(dtype).smallest_normal
    epsilon = hotaru.finfo(dtype).eps
    for value in (0.0, least * epsilon, least / 7, least, least * 5):
        x = hotaru.tensor([value, -value], dtype=dtype, requires_grad=True)
        y = getattr(hotaru.special, name)(x)
        (slope,) = hotaru.autograd.grad(y.sum(), x, create_graph=create_graph)
        # That of i1e is 1/2 - |x|.
        wanted = hotaru.full((2,), 0.5, dtype=dtype)
        hotaru.testing.assert_close(
            slope, wanted, rtol=epsilon, atol=2 * abs(value) + epsilon
        )


def test_mish_is_straight_far_out():
    x = hotaru.tensor([float("inf"), 1e30, -1e30], requires_grad=True)
    for create_graph in (False, True):
        (slope,) = hotaru.autograd.grad(
            hotaru.nn.functional.mish(x).sum(), x, create_graph=create_graph
        )
        assert slope.tolist() == [1, 1, 0]
    (second,) = hotaru.autograd.grad(slope.sum(), x)
    assert second.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("far", [-1e30, -300.0, 17.0, 300.0, 1e4, 1e30])
@pytest.mark.parametrize("create_graph", [False, True])
def test_running_logarithms_pass_gradients_on(dtype, far, create_graph):
    """Each gradient goes to the elements that its sum is made of, by their
    shares in it, however large they are.
    """
    dtype = getattr(hotaru, dtype)
    values = [0.5, far, -0.25, 0.75]
    x = hotaru.tensor(values, dtype=dtype, requires_grad=True)
    weights = [1.0, -2.0, 3.0, 5.0]
    (grad,) = hotaru.autograd.grad(
        x.logcumsumexp(0),
        x,
        hotaru.tensor(weights, dtype=dtype),
        create_graph=create_graph,
    )
    values = x.tolist()
    wanted = [0.0] * 4
    for j, weight in enumerate(weights):
        most = max(values[: j + 1])
        shares = [math.exp(max(v - most, -800)) for v in values[: j + 1]]
        for i, share in enumerate(shares):
            wanted[i] += weight * share / sum(shares)
    limit = {hotaru.bfloat16: 0.06, hotaru.float32: 3e-6}.get(dtype, 1e-14)
    for got, want in zip(grad.tolist(), wanted):
        assert abs(got - want) <= limit * 10


@pytest.mark.parametrize("base", [0.0, 1e-40, -1e-45, float("nan")])
def test_a_power_of_zero_has_no_slope(base):
    x = hotaru.tensor([base], requires_grad=True)
    y = hotaru.tensor([0.0], requires_grad=True)
    for create_graph in (False, True):
        (slope,) = hotaru.autograd.grad(x**y, x, create_graph=create_graph)
        assert slope.item() == 0
