"""Operators that programs define: calls, layers, derivatives, errors."""

import functools
import warnings

import numpy as np
from outcomes import tensor


def _with_library(case):
    """The case with a library of its own, which ends with it."""

    def run(lib):
        with lib.library._scoped_library("cases", "FRAGMENT") as library:
            return case(lib, library)

    return run


def _tried(function):
    """Result of a call, or the first line of its error."""
    try:
        return function()
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0][:200]]


def _arguments(lib, library):
    seen = []
    library.define("f(Tensor x, int y=2, str s='a', *, float z=1.0) -> Tensor")
    library.impl("f", lambda *a, **k: seen.append([a[1:], k]) or a[0] + 1, "CPU")
    op, x = lib.ops.cases.f, tensor(lib, 2)
    calls = [
        lambda: op(x),
        lambda: op(x, 3),
        lambda: op(x, 2, "b"),
        lambda: op(x, s="b", z=2),
        lambda: op(x=x, y=2, z=1.0),
        lambda: op.default(x, s="a"),
        lambda: op(),
        lambda: op(x, "q"),
        lambda: op(x, 1.5),
        lambda: op(x, 1, "a", 2.0),
        lambda: op(x, 1, "a", 2.0, 3),
        lambda: op(x, q=1),
        lambda: op(x, x=x),
        lambda: op(3),
    ]
    return [[_tried(call) for call in calls], seen]


def _kinds(lib, library):
    seen = []
    library.define(
        "f(Tensor?[] x, ScalarType d, Device e, Scalar s, int[] i, "
        "Tensor? o=None, bool b=True, int[2] ii=1, float f=2) -> ()"
    )
    library.impl(
        "f", lambda *a, **k: seen.append([a[1:], k]), "CompositeExplicitAutograd"
    )
    op, x = lib.ops.cases.f, tensor(lib, 2)
    calls = [
        lambda: op([x, None], lib.float, "cpu", 2.5, (1, 2), ii=[1, 2]),
        lambda: op([x], 6, lib.device("cpu"), 2, lib.Size([1]), b=False),
        lambda: op((x,), lib.int8, "cpu", True, [], None, False, 3, 1),
        lambda: op([x, 3], 6, "cpu", 2, [1]),
        lambda: op([x], "q", "cpu", 2, [1]),
        lambda: op([x], 3, 5, 2, [1]),
        lambda: op([x], 3, "cpu", 2, [1.5]),
        lambda: op(x, 3, "cpu", 2, [1]),
        lambda: op([x], 3, "cpu", "2", [1]),
    ]
    return [[_tried(call) for call in calls], seen]


def _names(lib, library):
    library.define("g(Tensor x) -> Tensor")
    library.define("g.two(Tensor x, Tensor y) -> (Tensor, Tensor)")
    packet = lib.ops.cases.g
    op = packet.two
    return [
        str(packet),
        repr(packet),
        repr(op),
        packet.overloads(),
        [op.__name__, op.name(), op._name, op._opname, op._overloadname],
        [op.namespace, op.overloadpacket is packet, packet.two is op],
        [str(op._schema), str(packet.default._schema), op.tags],
        [_tried(lambda: packet.three), _tried(lambda: lib.ops.cases.h)],
        [hasattr(lib.ops.cases, "g"), repr(lib.ops.cases)],
        [s.overload_name for s in lib._C._jit_get_schemas_for_operator("cases::g")],
    ]


def _overloads(lib, library):
    library.define("g(Tensor x) -> int")
    library.define("g.two(Tensor x, Tensor y) -> int")
    library.define("g.n(Tensor x, str y) -> int")
    for i, name in enumerate(("g", "g.two", "g.n")):
        library.impl(name, lambda *a, i=i: i, "CPU")
    op, x = lib.ops.cases.g, tensor(lib, 2)
    return [
        [op(x), op(x, x), op(x, y="a"), op.two(x, x)],
        lib._C._jit_resolve_packet("cases::g", x, "s"),
        _tried(lambda: op(x, 3)),
        _tried(lambda: op.n(x, x)),
    ]


def _results(lib, library):
    found, x = [], tensor(lib, 2)
    for i, (kind, value) in enumerate(
        [
            ("(Tensor, int[], str)", [x, [1, 2], "q"]),
            ("Tensor[]", [x, x]),
            ("()", None),
            ("()", 3),
            ("Tensor", 3),
            ("float", 3),
            ("(int, bool)", (1, False)),
        ]
    ):
        library.define(f"r{i}(Tensor x) -> {kind}")
        library.impl(f"r{i}", lambda x, value=value: value, "CPU")
        found.append(_tried(lambda i=i: getattr(lib.ops.cases, f"r{i}")(x)))
    return found


def _layers(lib, library):
    """Which kernel answers, for each set of registered keys."""
    found = []
    sets = [
        ("CPU",),
        ("CompositeExplicitAutograd",),
        ("CompositeImplicitAutograd",),
        ("CPU", "CompositeImplicitAutograd"),
        ("CPU", "CompositeExplicitAutograd"),
        ("CPU", "Autograd"),
        ("CPU", "Autograd", "AutogradCPU"),
        ("Autograd", "CompositeExplicitAutograd"),
        ("CPU", "ADInplaceOrView"),
        ("CPU", "Autograd", "ADInplaceOrView"),
        ("Meta",),
        ("Autograd",),
    ]
    for i, keys in enumerate(sets):
        library.define(f"l{i}(Tensor x) -> str")
        for key in keys:
            library.impl(f"l{i}", lambda x, key=key: key, key)
        op = getattr(lib.ops.cases, f"l{i}")
        x, y = lib.ones(2), lib.ones(2, device="meta")
        row = [_tried(functools.partial(op, x))]
        with lib._C._AutoDispatchBelowAutograd():
            row.append(_tried(functools.partial(op, x)))
        row.append(_tried(functools.partial(op, y)))
        found.append([r if isinstance(r, str) else r[0] for r in row])
    return found


def _registered(lib, library):
    library.define("k(Tensor x) -> Tensor")
    library.impl("k", lambda x: x, "CPU")
    has = lib._C._dispatch_has_kernel_for_dispatch_key
    keys = ("CPU", "Meta", "Autograd", "CompositeImplicitAutograd")
    return [
        [has("cases::k", key) for key in keys],
        lib._C._dispatch_has_kernel("cases::k"),
        lib._C._dispatch_has_kernel("cases::kk"),
        _tried(lambda: has("cases::k", "Foo")),
        _tried(lambda: has("cases::kk", "CPU")),
        [has("aten::sin", "CPU"), has("aten::sin", "AutogradCPU")],
    ]


def _refused(lib, library):
    L = lib.library
    library.define("k(Tensor x) -> Tensor")
    library.define("v(Tensor(a) x) -> Tensor(a)")
    library.define("n(Tensor x, *, Tensor y) -> Tensor")
    calls = [
        lambda: library.define("a b c"),
        lambda: library.define("o::k(Tensor x) -> Tensor")[:0],
        lambda: library.define("q(Tensor x) -> Tensor", "Q"),
        lambda: library.impl("k", 3, "CPU"),
        lambda: library.impl("k", lambda x: x, "CPX"),
        lambda: L.Library("cases", "XX"),
        lambda: L.Library("prim", "DEF"),
        lambda: L.define("foo", "() -> ()"),
        lambda: L.define("cases::foo", "foo() -> ()"),
        lambda: L.define(3, "() -> ()"),
        lambda: L.impl("cases::k", "s"),
        lambda: L.register_kernel(3, "cpu"),
        lambda: L.register_fake(3),
        lambda: L.register_autograd("cases::v", lambda ctx, g: g, lib=library),
        lambda: L.register_autograd("cases::n", lambda ctx, g: g, lib=library),
        lambda: L.register_vmap("cases::n", lambda *a: a, lib=library),
        lambda: L.fallthrough_kernel(),
    ]
    return [_tried(call) for call in calls]


def _derived(lib):
    x = tensor(lib, 3, requires_grad=True)
    y = tensor(lib, 3, start=5, requires_grad=True)

    @lib.library.custom_op("cases::mul", mutates_args=())
    def mul(x: lib.Tensor, y: lib.Tensor, k: int = 2) -> lib.Tensor:
        return lib.from_numpy(x.detach().numpy() * y.detach().numpy() * k)

    without = _tried(lambda: mul(x, y).sum().backward())

    def setup(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.k = inputs[2]
        ctx.count = len(inputs)

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        need = ctx.needs_input_grad
        return grad * y * ctx.k if need[0] else None, grad * x * ctx.k, None

    mul.register_autograd(backward, setup_context=setup)
    z = mul(x, y)
    z.sum().backward()
    with lib.no_grad():
        plain = mul(x, y, 3)
    return [
        without,
        z,
        x.grad,
        y.grad,
        z.requires_grad,
        plain.requires_grad,
        mul(x, y.detach()).grad_fn is None,
        lib.autograd.gradcheck(
            mul, (x.double().detach().requires_grad_(), y.double().detach())
        ),
        str(mul),
    ]


def _lists(lib):
    @lib.library.custom_op("cases::cat2", mutates_args=())
    def cat2(xs: list[lib.Tensor], k: float) -> list[lib.Tensor]:
        return [x.detach() * k for x in xs]

    def backward(ctx, grads):
        return [g * ctx.k for g in grads], None

    def setup(ctx, inputs, output):
        ctx.k = inputs[1]

    cat2.register_autograd(backward, setup_context=setup)
    xs = [tensor(lib, 2, requires_grad=True), tensor(lib, 1, start=3)]
    out = cat2(xs, 3.0)
    (out[0].sum() * 2).backward()
    return [out, xs[0].grad, xs[1].grad, [o.requires_grad for o in out]]


def _written(lib):
    @lib.library.custom_op("cases::sin_", mutates_args={"x"})
    def sin_(x: lib.Tensor, y: lib.Tensor) -> None:
        np.sin(x.numpy(), out=x.numpy())

    x, y = tensor(lib, 2), tensor(lib, 2)
    version = x._version, y._version
    sin_(x, y)
    return [
        x,
        x._version - version[0],
        y._version - version[1],
        str(lib.ops.cases.sin_.default._schema),
    ]


def _aliased(lib):
    found = []
    for i, body in enumerate(
        (lambda x: x, lambda x: x.view(-1), lambda x: x[:1], lambda x: x + 1)
    ):

        @lib.library.custom_op(
            f"cases::alias{i}", mutates_args=(), schema="(Tensor x) -> Tensor"
        )
        def op(x, body=body):
            return body(x)

        found.append(_tried(lambda op=op: op(tensor(lib, 2))))
    return [f if isinstance(f, lib.Tensor) else f[0] for f in found]


def _factory(lib):
    @lib.library.custom_op("cases::make", mutates_args=(), device_types="cpu")
    def make(n: int, device: lib.device) -> lib.Tensor:
        return lib.ones(n, device=device)

    return [
        make(2, "cpu"),
        make(2, device=lib.device("cpu")),
        _tried(lambda: make(2, "cuda")),
    ]


def _meta(lib):
    @lib.library.custom_op("cases::rows", mutates_args=())
    def rows(x: lib.Tensor) -> lib.Tensor:
        return x.sum(1)

    x = lib.ones(2, 3, device="meta")
    before = _tried(lambda: rows(x))
    rows.register_fake(lambda x: x.new_empty(x.shape[0]))
    return [before, list(rows(x).shape), rows(x).device.type]


def _fallback(lib, library):
    library.define("w(Tensor x) -> Tensor")
    library.impl("w", lambda x: x.detach() * 2, "CPU")
    found = []
    for mode in ("nothing", "warn"):
        before = lib._C._get_autograd_fallback_mode()
        lib._C._set_autograd_fallback_mode(mode)
        x = tensor(lib, 2, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = lib.ops.cases.w(x)
            state = [y.requires_grad, _tried(lambda y=y: y.sum().backward())]
        texts = [str(w.message).split(" (Triggered")[0] for w in caught]
        found.append([mode, state, x.grad, texts])
        lib._C._set_autograd_fallback_mode(before)
    return found


def _batched(lib):
    @lib.library.custom_op("cases::scaled", mutates_args=())
    def scaled(x: lib.Tensor, y: lib.Tensor) -> lib.Tensor:
        return x * y

    def rule(info, in_dims, x, y):
        x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x
        y = y.movedim(in_dims[1], 0) if in_dims[1] is not None else y
        # Marks that it ran.
        return (x * y + 100 + info.batch_size).movedim(0, -1), -1

    scaled.register_vmap(rule)
    x, y = tensor(lib, 3, 2), tensor(lib, 2)
    return [
        lib.vmap(scaled, in_dims=(0, None))(x, y),
        lib.vmap(scaled, in_dims=(1, None), out_dims=1)(x, y[0]),
        lib.vmap(lib.ops.cases.scaled)(x, x),
    ]


def _inferred(lib):
    found = []

    def a(
        x: lib.Tensor,
        y: list[lib.Tensor],
        n: int,
        f: float = 1.5,
        s: str = "q",
        d: lib.dtype = lib.float32,
        e: lib.device = "cpu",
        *,
        o: lib.Tensor | None = None,
        i: list[int] | None = None,
        b: bool = True,
    ) -> tuple[lib.Tensor, int]: ...

    def untyped(x) -> lib.Tensor: ...

    def unreturned(x: lib.Tensor): ...

    def strange(x: dict) -> lib.Tensor: ...

    def tupled(x: tuple[int, int]) -> lib.Tensor: ...

    def starred(*x: lib.Tensor) -> lib.Tensor: ...

    def nothing(x: lib.Tensor) -> None: ...

    for function, mutates in (
        (a, ()),
        (a, {"x", "y"}),
        (a, "unknown"),
        (nothing, ["x"]),
        (nothing, ["q"]),
        (nothing, "x"),
        (untyped, ()),
        (unreturned, ()),
        (strange, ()),
        (tupled, ()),
        (starred, ()),
    ):
        found.append(
            _tried(
                lambda f=function, m=mutates: lib.library.infer_schema(
                    f, mutates_args=m
                )
            )
        )
    return [f if isinstance(f, str) else [f[0], f[1][:60]] for f in found]


def _tags(lib, library):
    Tag = lib.Tag
    library.define("t(Tensor x) -> Tensor", tags=Tag.pointwise)
    library.define("u(Tensor x) -> Tensor", tags=(Tag.core, Tag.pointwise))
    aten = lib.ops.aten
    ops = (
        lib.ops.cases.t.default,
        lib.ops.cases.u.default,
        aten.sin.default,
        aten.add_.Tensor,
        aten.nonzero.default,
        aten.mm.default,
    )
    return [sorted(tag.name for tag in op.tags) for op in ops]


CASES = {
    "arguments": _with_library(_arguments),
    "kinds": _with_library(_kinds),
    "names": _with_library(_names),
    "overloads": _with_library(_overloads),
    "results": _with_library(_results),
    "layers": _with_library(_layers),
    "registered": _with_library(_registered),
    "refused": _with_library(_refused),
    "derived": _derived,
    "lists": _lists,
    "written": _written,
    "aliased": _aliased,
    "factory": _factory,
    "meta": _meta,
    "fallback": _with_library(_fallback),
    "batched": _batched,
    "inferred": _inferred,
    "tags": _with_library(_tags),
}
