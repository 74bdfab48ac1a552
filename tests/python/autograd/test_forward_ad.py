"""Forward-mode differentiation: tangents of operators, views and writes."""

import math
import threading

import hotaru.autograd.forward_ad as fwAD
import pytest

import hotaru as torch


def tangent(x):
    return fwAD.unpack_dual(x).tangent


@pytest.fixture
def level():
    with fwAD.dual_level():
        yield


def dual(values, direction, **options):
    return fwAD.make_dual(
        torch.tensor(values, **options), torch.tensor(direction, **options)
    )


def test_tangents_follow_the_formulas(level):
    x = dual([0.5, 2.0], [1.0, -3.0])
    expected = torch.tensor([math.cos(0.5), -3 * math.cos(2.0)])
    assert torch.allclose(tangent(x.sin()), expected)
    assert torch.allclose(tangent(x * x), torch.tensor([1.0, -12.0]))
    assert torch.allclose(tangent(x.sum()), torch.tensor(-2.0))
    assert torch.allclose(tangent(x @ x), torch.tensor(-11.0))


def test_a_constant_operand_has_no_part_in_it(level):
    x = dual([1.0, 2.0], [1.0, 1.0])
    y = torch.tensor([3.0, 5.0])
    assert torch.equal(tangent(x * y), y)
    assert torch.equal(tangent(y / x), -y / torch.tensor([1.0, 4.0]))
    assert tangent(y * y) is None


def test_broadcasting_spreads_the_tangent(level):
    x = dual([2.0], [3.0])
    out = x * torch.ones(2, 4)
    assert torch.equal(tangent(out), torch.full((2, 4), 3.0))


def test_complex_tangents_are_directional_derivatives(level):
    z = dual([1 + 2j], [0.5 - 1j], dtype=torch.complex128)
    value, step = 1 + 2j, 0.5 - 1j
    assert tangent(z * z).item() == pytest.approx(2 * value * step)
    expected = (value.conjugate() * step).real / abs(value)
    assert tangent(z.abs()).item() == pytest.approx(expected)
    assert tangent(z.conj()).item() == step.conjugate()


def test_views_share_the_tangent_of_their_base(level):
    x = dual([[1.0, 2.0], [3.0, 4.0]], [[1.0, 10.0], [100.0, 1000.0]])
    assert torch.equal(tangent(x[1]), torch.tensor([100.0, 1000.0]))
    assert torch.equal(tangent(x.t()[1]), torch.tensor([10.0, 1000.0]))
    row = x[0]
    x.mul_(2)
    assert torch.equal(tangent(row), torch.tensor([2.0, 20.0]))


def test_a_write_into_a_view_reaches_the_base(level):
    x = torch.zeros(2, 3)
    x[0].add_(dual([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    assert torch.equal(tangent(x), torch.tensor([[4.0, 5.0, 6.0], [0.0, 0.0, 0.0]]))
    x.t()[0] = 7.0
    assert torch.equal(tangent(x), torch.tensor([[0.0, 5.0, 6.0], [0.0, 0.0, 0.0]]))


def test_in_place_formulas_read_what_was_there_before(level):
    x = dual([3.0], [1.0])
    y = dual([5.0], [10.0])
    x.mul_(y)
    assert tangent(x).item() == 1 * 5 + 3 * 10
    x.zero_()
    assert tangent(x).item() == 0


def test_in_place_on_a_tensor_without_tangent(level):
    x = torch.tensor([3.0])
    x.mul_(dual([5.0], [10.0]))
    assert tangent(x).item() == 30


def test_complex_parts_see_the_tangent(level):
    z = dual([1 + 2j, 3 - 1j], [5 + 6j, 7 + 8j])
    assert torch.equal(
        tangent(torch.view_as_real(z)), torch.tensor([[5.0, 6.0], [7.0, 8.0]])
    )
    z.imag.mul_(2)
    assert torch.equal(tangent(z), torch.tensor([5 + 12j, 7 + 16j]))


def test_a_tangent_that_lies_otherwise_than_its_tensor(level):
    x = torch.arange(6.0).reshape(2, 3)
    v = torch.arange(6.0).reshape(3, 2).t()
    d = fwAD.make_dual(x, v)
    assert tangent(d) is v
    assert torch.equal(tangent(d[1]), v[1])
    assert torch.equal(tangent(d.reshape(3, 2)), v.contiguous().reshape(3, 2))


def test_what_is_detached_has_no_tangent(level):
    x = dual([1.0], [2.0])
    assert tangent(x.detach()) is None
    assert tangent(x.data) is None


def test_results_are_not_written_where_dual_numbers_are(level):
    x, plain = dual([1.0], [2.0]), torch.zeros(1)
    with pytest.raises(NotImplementedError, match="out= function"):
        torch.add(x, plain, out=plain)
    with pytest.raises(NotImplementedError, match="out= function"):
        torch.add(plain, plain, out=x)
    assert plain.item() == 0


def test_operators_without_a_formula_are_named(level):
    x = dual([1.0], [2.0])
    with pytest.raises(NotImplementedError, match="forward AD with igamma"):
        torch.igamma(x, x)


def test_no_grad_is_about_backward_only(level):
    x = dual([3.0], [1.0])
    with torch.no_grad():
        assert tangent(x * x).item() == 6
    with fwAD._set_fwd_grad_enabled(False):
        assert not fwAD._is_fwd_grad_enabled()
        assert tangent(x * x) is None
    assert fwAD._is_fwd_grad_enabled()


def test_gradients_of_tangents():
    x = torch.tensor([2.0], requires_grad=True)
    v = torch.tensor([3.0], requires_grad=True)
    with fwAD.dual_level():
        out = tangent(fwAD.make_dual(x, v) ** 3)
        gx, gv = torch.autograd.grad(out, (x, v))
    assert (gx.item(), gv.item()) == (6 * 2 * 3, 3 * 4)


def test_tangents_of_gradients():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.tensor([2.0]), torch.tensor([5.0]))
        x.requires_grad_()
        (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
        assert tangent(g).item() == pytest.approx(5 * (2 + 2) * math.exp(2))


def test_make_dual_passes_gradients_on():
    x = torch.tensor([2.0], requires_grad=True)
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.ones(1))
        (fwAD.unpack_dual(d * 4).primal).sum().backward()
    assert x.grad.item() == 4


def test_printing(level):
    assert str(dual([1.0], [2.0])) == "tensor([1.], tangent=tensor([2.]))"
    assert str(dual(1.5, 2.5)) == "tensor(1.5000, tangent=2.5)"


def test_tangents_end_with_their_level():
    with fwAD.dual_level():
        x = dual([1.0], [2.0])
        y = x * 2
    assert tangent(y) is None
    with fwAD.dual_level():
        assert tangent(x) is None
        assert tangent(y) is None
    assert "tangent" not in str(x)


def test_tensors_and_levels_go_in_any_order():
    fwAD.enter_dual_level()
    kept = [dual([1.0], [2.0]).exp() for _ in range(3)]
    del kept[1]
    fwAD.exit_dual_level()
    del kept[0]
    assert tangent(kept[0]) is None


def test_other_threads_see_the_level(level):
    x = dual([3.0], [1.0])
    found = []
    thread = threading.Thread(target=lambda: found.append(tangent(x * x)))
    thread.start()
    thread.join()
    assert found[0].item() == 6


def test_levels_are_not_nested():
    with fwAD.dual_level() as number:
        assert number == 0
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not"):
            fwAD.enter_dual_level()
        with pytest.raises(RuntimeError, match="was not the last one that was"):
            fwAD.exit_dual_level(level=1)
    with pytest.raises(RuntimeError, match="must be a positive number"):
        fwAD.exit_dual_level()


def test_what_make_dual_refuses():
    x, i = torch.ones(3), torch.ones(3, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="no level exists"):
        fwAD.make_dual(x, x)
    with fwAD.dual_level():
        with pytest.raises(ValueError, match="Expected primal to be floating"):
            fwAD.make_dual(i, x)
        with pytest.raises(ValueError, match="Expected tangent to be floating"):
            fwAD.make_dual(x, i)
        with pytest.raises(RuntimeError, match="different size than that of"):
            fwAD.make_dual(x, torch.ones(2))
        d = fwAD.make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient"):
            fwAD.make_dual(d, x)
        with pytest.raises(RuntimeError, match="that itself has a forward"):
            fwAD.make_dual(x, d)


def test_layers_have_tangents():
    torch.manual_seed(0)
    double = {"dtype": torch.float64}
    net = torch.nn.Sequential(
        torch.nn.Conv2d(2, 3, 3, **double),
        torch.nn.BatchNorm2d(3, **double),
        torch.nn.GELU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(12, 4, **double),
        torch.nn.Softmax(-1),
    )
    x = torch.randn(2, 2, 6, 6, **double, requires_grad=True)
    assert torch.autograd.gradcheck(net, x, check_forward_ad=True, fast_mode=True)


OPERATORS = {
    "cat": lambda x, y: torch.cat([x, y, x]),
    "where": lambda x, y: torch.where(x > y, x, y),
    "max": lambda x, y: torch.stack([x.max(0)[0], y.min(0)[0]]),
    "cumsum": lambda x, y: x.cumsum(0) * y,
    "gather": lambda x, y: x.gather(0, torch.tensor([[0, 1, 0]])) + y,
    "index_put": lambda x, y: x.index_put((torch.tensor([1]),), y[:1]),
    "solve": lambda x, y: torch.linalg.solve(x @ x.t() + torch.eye(2) * 4, y),
    "var": lambda x, y: (x * y).var(1),
    "logsumexp": lambda x, y: torch.logsumexp(x - y, 1),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "layer_norm": lambda x, y: torch.nn.functional.layer_norm(x * y, (3,)),
    "addcmul_": lambda x, y: x.clone().addcmul_(x, y, value=0.5),
    "div_": lambda x, y: x.clone().div_(y.exp()),
    "pow_": lambda x, y: (x * x + 1).pow_(y),
    "tanh_": lambda x, y: (x + y).tanh_(),
    "copy_": lambda x, y: (x * 2)[:1].copy_(y[1:]),
    "fft": lambda x, y: torch.fft.fft(x + 1j * y).abs(),
    "addbmm": lambda x, y: torch.addbmm(
        x @ x.t(), torch.stack([x, y]), torch.stack([y.t(), x.t()])
    ),
    "channel_shuffle": lambda x, y: torch.nn.functional.channel_shuffle(
        torch.stack([x, y]).reshape(1, 4, 1, 3), 2
    ),
    "unbind": lambda x, y: torch.stack(x.unbind(1)) @ y,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_against_differences(name):
    torch.set_default_dtype(torch.float64)
    try:
        torch.manual_seed(1)
        x = torch.randn(2, 3, requires_grad=True)
        y = torch.randn(2, 3, requires_grad=True)
        assert torch.autograd.gradcheck(OPERATORS[name], (x, y), check_forward_ad=True)
    finally:
        torch.set_default_dtype(torch.float32)


def test_operators_that_have_no_gradient_drop_the_tangent(level):
    x = dual([1.5, -2.5], [1.0, 1.0])
    assert tangent(x.argmax()) is None
    assert tangent(x > 0) is None
    assert tangent(torch.zeros_like(x)) is None


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x**3 * factor

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2 * ctx.factor, None

    @staticmethod
    def jvp(ctx, x_t, factor_t):
        assert factor_t is None
        (x,) = ctx.saved_tensors
        return x_t * 3 * x**2 * ctx.factor


def test_functions_have_jvp():
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda x: Cube.apply(x, 2.0), x, check_forward_ad=True
    )


def test_functions_without_jvp_say_so(level):
    class Plain(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

    with pytest.raises(NotImplementedError, match="must implement the jvp fun"):
        Plain.apply(dual([1.0], [1.0]))


def test_jvp_of_a_write_in_place(level):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def jvp(ctx, x_t):
            return x_t.mul_(2)

    base = torch.zeros(2, 2)
    base.copy_(dual([[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]))
    Double.apply(base[0])
    assert torch.equal(base, torch.tensor([[2.0, 4.0], [3.0, 4.0]]))
    assert torch.equal(tangent(base), torch.tensor([[2.0, 2.0], [1.0, 1.0]]))


def _double(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def _one_constant(ctx, x):
    constant = x.clone()
    ctx.mark_non_differentiable(constant)
    return x + 1, constant


NO_VIEW = "but the jvp is not returning a view"
NOT_WRITTEN = "must modify the corresponding gradient inplace"
NO_TENSOR = "You should return None at that position instead"


# Recorded from PyTorch 2.13.
@pytest.mark.parametrize(
    ("forward", "jvp", "text"),
    [
        (_double, lambda ctx, t: t * 2, NOT_WRITTEN),
        (_double, lambda ctx, t: t, NOT_WRITTEN),
        (_double, lambda ctx, t: None, NOT_WRITTEN),
        (lambda ctx, x: x[:2], lambda ctx, t: t[:2].clone(), NO_VIEW),
        (lambda ctx, x: x.view_as(x), lambda ctx, t: t, NO_VIEW),
        (lambda ctx, x: (x + 1, x), lambda ctx, t: (t, t), NO_VIEW),
        (lambda ctx, x: (x + 1, x), lambda ctx, t: (t, t * 2), NO_VIEW),
        (
            lambda ctx, x: x[:2],
            lambda ctx, t: t.clone()[:2],
            "not returning a view of the given grad input",
        ),
        (_one_constant, lambda ctx, t: (t, t.clone()), NO_TENSOR),
        (lambda ctx, x: (x, x.long()), lambda ctx, t: (t[:], t), NO_TENSOR),
        (lambda ctx, x: x + 1, lambda ctx, t: 3, r"\(got int\) for grad"),
        (lambda ctx, x: x + 1, lambda ctx, t: (t, t), "expected 1 but got 2"),
        (lambda ctx, x: x + 1, lambda ctx, t: t[:2], "is of size .4. while"),
        (_double, lambda ctx, t: t.mul_(2), None),
        (lambda ctx, x: x[:2], lambda ctx, t: t[:2], None),
        (lambda ctx, x: (x + 1, x), lambda ctx, t: (t, t.view_as(t)), None),
        (_one_constant, lambda ctx, t: (t, None), None),
    ],
)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_what_jvp_must_return(level, forward, jvp, text, requires_grad):
    members = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    function = type("Made", (torch.autograd.Function,), members)
    x = torch.arange(4.0).requires_grad_(requires_grad)
    x = fwAD.make_dual(x.clone(), torch.ones(4))
    if text is None:
        function.apply(x)
        return
    with pytest.raises(RuntimeError, match=text):
        function.apply(x)


def test_jvp_of_a_view_of_a_view(level):
    class Half(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def jvp(ctx, t):
            return t[:2].clone()[:]

    x = fwAD.make_dual(torch.arange(4.0), torch.ones(4))
    with pytest.raises(RuntimeError, match="of the same base as the given"):
        Half.apply(x.view_as(x))


def test_what_is_no_dual_tensor(level):
    with pytest.raises(TypeError, match="must be Tensor, not int"):
        fwAD.unpack_dual(3)


def test_a_tangent_for_all_memory_of_the_tensor(level):
    """The copy has zeros where the tensor does not look."""
    x = torch.arange(6.0)[1:5].detach()
    v = torch.ones(4, requires_grad=True)
    d = fwAD.make_dual(x, v)
    assert tangent(d) is not v
    tangent(d).detach().mul_(2)
    assert v.tolist() == [1] * 4
    whole = d.as_strided((6,), (1,), 0)
    assert tangent(whole).tolist() == [0, 2, 2, 2, 2, 0]
    (g,) = torch.autograd.grad(tangent(d * d).sum(), v)
    assert torch.equal(g, 2 * x)
    larger = torch.ones(9)[:4].detach()
    assert tangent(fwAD.make_dual(x, larger)) is larger


FIXED = torch.tensor([[0.0, 1.5, 0.0, 2.0], [0.5, 0.0, 0.0, -1.0]])
IN_COORDINATES, IN_ROWS = FIXED.to_sparse(), FIXED.to_sparse_csr()
AT = torch.tensor([[0, 1], [2, 0]])
#: Functions of a dense (4, 2), with something sparse in them.
AROUND_SPARSE = {
    "gather": lambda w: torch.gather(w, 0, AT, sparse_grad=True),
    "embedding": lambda w: torch.nn.functional.embedding(AT, w, sparse=True),
    "sparse_mm": lambda w: torch.sparse.mm(IN_COORDINATES, w),
    "sparse_addmm": lambda w: torch.sparse.addmm(w[:2], IN_COORDINATES, w),
    "spmm_sum": lambda w: torch.sparse.mm(IN_ROWS, w, "sum"),
    "add_": lambda w: w.t().clone().add_(IN_COORDINATES),
}


@pytest.mark.parametrize("needs_gradient", [False, True])
@pytest.mark.parametrize("name", AROUND_SPARSE)
def test_tangents_pass_by_what_is_sparse(name, needs_gradient):
    function = AROUND_SPARSE[name]
    point = torch.arange(8.0).view(4, 2)
    direction = point.cos()
    # Each is affine in its argument.
    expected = function(point + direction) - function(point)
    _, found = torch.func.jvp(function, (point,), (direction,))
    assert torch.allclose(found, expected, atol=1e-5)
    with fwAD.dual_level():
        dual = fwAD.make_dual(point.requires_grad_(needs_gradient), direction)
        found = fwAD.unpack_dual(function(dual)).tangent
    assert torch.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "given",
    [
        IN_COORDINATES,
        IN_ROWS,
        FIXED.to_sparse_csc(),
        FIXED.to_sparse_bsr((1, 2)),
        FIXED.to_sparse(1),
        torch.nested.nested_tensor([FIXED, FIXED[:1]]),
        torch.nested.nested_tensor([FIXED, FIXED[:1]], layout=torch.jagged),
    ],
)
def test_layouts_that_would_lose_a_tangent_take_none(given):
    with fwAD.dual_level():
        with pytest.raises(NotImplementedError, match="tangents would be lost"):
            fwAD.make_dual(given, given)
        if given.is_nested:
            return
        with pytest.raises(NotImplementedError, match="tangents would be lost"):
            fwAD.make_dual(FIXED, given)


def test_second_gradients_of_a_sparse_gather():
    x = torch.arange(4.0, requires_grad=True)
    at = torch.tensor([1, 1, 3])
    (first,) = torch.autograd.grad(
        (torch.gather(x, 0, at, sparse_grad=True) ** 3).sum(), x, create_graph=True
    )
    assert first.requires_grad
    (second,) = torch.autograd.grad(first.to_dense().sum(), x)
    assert second.to_dense().tolist() == [0.0, 12.0, 0.0, 18.0]


def test_resizing_what_has_a_tangent_is_refused():
    with fwAD.dual_level():
        x = fwAD.make_dual(torch.ones(2), torch.ones(2))
        with pytest.raises(RuntimeError, match="has a forward grad"):
            x.resize_(3)
    assert x.resize_(3).shape == (3,)
