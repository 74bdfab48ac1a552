"""Cases of operators in profiles: what they call, and with which inputs."""

from __future__ import annotations

import importlib

# Operators that allocate, fill and convert have no rows of their own here, nor
# have views that reductions take of their results.
_LEFT_OUT = frozenset(
    (
        "_local_scalar_dense",
        "_to_copy",
        "copy_",
        "empty",
        "empty_like",
        "empty_strided",
        "fill_",
        "item",
        "resize_",
        "resize_as_",
        "resolve_conj",
        "to",
        "zero_",
        "squeeze_",
        "broadcast_tensors",
        "result_type",
    )
)
_REDUCTIONS = ("aten::sum", "aten::std", "aten::amax")
# Convolutions are computed by other operators, depending on the machine; the
# place where indices of rows are looked up is a detail, too.
_ENDS = ("aten::_convolution", "aten::index_select", "aten::constant_pad_nd")


def _rows(event, depth: int) -> list:
    rows = []
    for child in event.cpu_children:
        name = child.name.removeprefix("aten::")
        left_out = name in _LEFT_OUT or (
            name == "as_strided" and event.name in _REDUCTIONS
        )
        if child.name.startswith("aten::") and not left_out:
            rows += _row(child, depth)
    return rows


def _row(event, depth: int) -> list:
    row = [depth, event.name, event.input_shapes, event.concrete_inputs]
    inside = [] if event.name in _ENDS else _rows(event, depth + 1)
    return [row, *inside]


def _case(name: str, make):
    """The rows of the last operator of that name that Python calls."""

    def case(lib):
        profiler = importlib.import_module(f"{lib.__name__}.profiler")
        call = make(lib, lib.nn.functional)
        activities = [profiler.ProfilerActivity.CPU]
        with profiler.profile(activities=activities, record_shapes=True) as prof:
            call()
        tops = [
            e
            for e in prof.events()
            if e.name == f"aten::{name}"
            and not (e.cpu_parent and e.cpu_parent.name.startswith("aten::"))
        ]
        return _row(tops[-1], 0)

    return case


def _on(*shapes, **more):
    """A case's `make` of a function of tensors of these shapes."""

    def bind(function):
        def make(lib, f):
            tensors = [lib.ones(*shape) for shape in shapes]
            return lambda: function(lib, f, *tensors, **more)

        return make

    return bind


_X = (4, 4)
_IMAGE, _KERNEL = (1, 3, 8, 8), (2, 3, 3, 3)


def _indices(lib, *shape):
    return lib.zeros(*shape, dtype=lib.int64)


# By the operator's name and a few letters more.
_CASES = {
    "add": _on(_X)(lambda lib, f, x: x + x),
    "add number": _on(_X)(lambda lib, f, x: 1 + x),
    "add_": _on(_X)(lambda lib, f, x: x.add_(x, alpha=2)),
    "sub": _on(_X)(lambda lib, f, x: lib.sub(x, 2)),
    "mul": _on(_X)(lambda lib, f, x: x * 2),
    "div": _on(_X)(lambda lib, f, x: x / 2),
    "rsub": _on(_X)(lambda lib, f, x: 1 - x),
    "gt": _on(_X)(lambda lib, f, x: x > 0),
    "clamp": _on(_X)(lambda lib, f, x: x.clamp(0, 1)),
    "lerp": _on(_X)(lambda lib, f, x: lib.lerp(x, x, 0.5)),
    "addcmul": _on(_X)(lambda lib, f, x: lib.addcmul(x, x, x)),
    "where": _on(_X)(lambda lib, f, x: lib.where(x > 0, x, x)),
    "sum": _on(_X)(lambda lib, f, x: x.sum()),
    "sum dim": _on(_X)(lambda lib, f, x: lib.sum(x, 1)),
    "sum names": _on(_X)(lambda lib, f, x: lib.sum(x, axis=1, keepdims=True)),
    "sum dtype": _on(_X)(lambda lib, f, x: x.sum((0, 1), dtype=lib.float32)),
    "mean": _on(_X)(lambda lib, f, x: x.mean()),
    "mean dim": _on(_X)(lambda lib, f, x: x.mean(1, keepdim=True)),
    "mean dims": _on((2, 3, 4))(lambda lib, f, x: x.mean((0, -1))),
    "std": _on(_X)(lambda lib, f, x: x.std(1)),
    "max": _on(_X)(lambda lib, f, x: x.max()),
    "amax": _on(_X)(lambda lib, f, x: x.amax(1)),
    "cumsum": _on(_X)(lambda lib, f, x: x.cumsum(0)),
    "topk": _on(_X)(lambda lib, f, x: x.topk(2)),
    "tril": _on(_X)(lambda lib, f, x: x.tril()),
    "clone": _on(_X)(lambda lib, f, x: x.clone()),
    "to": _on(_X)(lambda lib, f, x: x.to(lib.float32)),
    "gelu": _on(_X)(lambda lib, f, x: f.gelu(x)),
    "elu": _on(_X)(lambda lib, f, x: f.elu(x)),
    "relu": _on(_X)(lambda lib, f, x: f.relu(x)),
    "dropout": _on(_X)(lambda lib, f, x: f.dropout(x, 0.25)),
    "dropout off": _on(_X)(lambda lib, f, x: f.dropout(x, 0.25, False)),
    "pad": _on(_X)(lambda lib, f, x: f.pad(x, (1, 2))),
    "avg_pool2d": _on(_IMAGE)(lambda lib, f, x: f.avg_pool2d(x, 2)),
    "adaptive_avg_pool2d": _on(_IMAGE)(lambda lib, f, x: f.adaptive_avg_pool2d(x, 2)),
    "adaptive_avg_pool2d one": _on(_IMAGE)(
        lambda lib, f, x: f.adaptive_avg_pool2d(x, 1)
    ),
    "cat": _on(_X)(lambda lib, f, x: lib.cat([x, x])),
    "stack": _on(_X)(lambda lib, f, x: lib.stack([x, x])),
    "stack inside": _on(_X)(lambda lib, f, x: lib.stack([x, x], 1)),
    # Views.
    "t": _on(_X)(lambda lib, f, x: x.t()),
    "transpose": _on(_X)(lambda lib, f, x: x.transpose(0, 1)),
    "swapaxes": _on(_X)(lambda lib, f, x: x.swapaxes(0, 1)),
    "permute": _on((2, 3, 4))(lambda lib, f, x: x.permute(2, 0, 1)),
    "unsqueeze": _on(_X)(lambda lib, f, x: x.unsqueeze(-1)),
    "squeeze": _on((1, 4, 1))(lambda lib, f, x: x.squeeze()),
    "squeeze dim": _on((1, 4, 1))(lambda lib, f, x: x.squeeze(0)),
    "expand": _on((4, 1))(lambda lib, f, x: x.expand(2, -1, 3)),
    "expand_as": _on((4,), _X)(lambda lib, f, x, y: x.expand_as(y)),
    "view": _on(_X)(lambda lib, f, x: x.view(2, 8)),
    "reshape": _on(_X)(lambda lib, f, x: x.reshape(2, -1)),
    "reshape copied": _on(_X)(lambda lib, f, x: x.t().reshape(16)),
    "reshape aliased": _on((2, 3, 4))(
        lambda lib, f, x: x.transpose(0, 1).reshape(3, 2, 2, 2)
    ),
    "flatten": _on((2, 3, 4))(lambda lib, f, x: x.flatten(1)),
    "contiguous": _on(_X)(lambda lib, f, x: x.t().contiguous()),
    "narrow": _on(_X)(lambda lib, f, x: x.narrow(1, 1, 2)),
    "chunk": _on(_X)(lambda lib, f, x: x.chunk(3)),
    "split": _on(_X)(lambda lib, f, x: x.split(3, 1)),
    "unbind": _on((2, 3))(lambda lib, f, x: x.unbind()),
    "select": _on(_X)(lambda lib, f, x: x[2]),
    "slice": _on(_X)(lambda lib, f, x: x[1:]),
    "slice step": _on(_X)(lambda lib, f, x: x[1:3:2]),
    # Products.
    "mm": _on(_X)(lambda lib, f, x: lib.mm(x, x)),
    "mv": _on(_X, (4,))(lambda lib, f, x, y: lib.mv(x, y)),
    "addmm": _on((4,), _X)(lambda lib, f, x, y: lib.addmm(x, y, y)),
    "addmm whole": _on(_X)(lambda lib, f, x: lib.addmm(x, x, x, beta=2)),
    "baddbmm": _on((2, 4, 4))(lambda lib, f, x: lib.baddbmm(x, x, x)),
    "outer": _on((3,), (4,))(lambda lib, f, x, y: lib.outer(x, y)),
    **{
        f"matmul {len(a)}{len(b)}{extra}": _on(a, b)(lambda lib, f, x, y: x @ y)
        for a, b, extra in (
            (_X, (4, 5), ""),
            ((4,), (4,), ""),
            (_X, (4,), ""),
            ((4,), _X, ""),
            ((2, 3, 4), (4,), ""),
            ((2, 3, 4), (4, 5), ""),
            ((2, 3, 4), (2, 4, 5), ""),
            ((5, 4), (2, 4, 3), ""),
            ((4,), (2, 4, 3), ""),
            ((1, 2, 3, 4), (5, 1, 4, 2), ""),
            ((1, 2, 3, 4), (1, 2, 4, 2), " same"),
        )
    },
    "matmul turned": _on((2, 3, 4), _X)(lambda lib, f, x, y: x.transpose(0, 1) @ y),
    "linear": _on((3, 4), (5, 4), (5,))(lambda lib, f, *t: f.linear(*t)),
    "linear plain": _on((3, 4), (5, 4))(lambda lib, f, *t: f.linear(*t)),
    "linear 3": _on((2, 3, 4), (5, 4), (5,))(lambda lib, f, *t: f.linear(*t)),
    "linear 3 plain": _on((2, 3, 4), (5, 4))(lambda lib, f, *t: f.linear(*t)),
    "linear 1": _on((4,), (5, 4), (5,))(lambda lib, f, *t: f.linear(*t)),
    "linear turned": _on((2, 3, 4), (5, 4), (5,))(
        lambda lib, f, x, *t: f.linear(x.transpose(0, 1), *t)
    ),
    **{
        f"einsum {equation}": _on(*shapes)(
            lambda lib, f, *t, equation=equation: lib.einsum(equation, *t)
        )
        for equation, *shapes in (
            ("ij,jk->ik", _X, (4, 5)),
            ("bij,jk->bik", (2, 3, 4), (4, 5)),
            ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
            ("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 5, 4)),
            ("...ij,jk->...ik", (2, 3, 4), (4, 5)),
            ("i,j->ij", (3,), (4,)),
            ("ij,ij->ij", _X, _X),
            ("ij,ij->", _X, _X),
            ("ij,jk", (3, 4), (4, 5)),
            ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
            ("ij->ji", _X),
            ("ij->i", _X),
        )
    },
    # Layers.
    "conv1d": _on((2, 3, 4), (2, 3, 2))(lambda lib, f, *t: f.conv1d(*t)),
    "conv2d": _on(_IMAGE, _KERNEL)(lambda lib, f, *t: f.conv2d(*t)),
    "conv2d padded": _on(_IMAGE, _KERNEL, (2,))(
        lambda lib, f, *t: f.conv2d(*t, padding=1, stride=(2, 1))
    ),
    "conv2d same": _on(_IMAGE, _KERNEL)(
        lambda lib, f, *t: f.conv2d(*t, padding="same")
    ),
    "conv2d single": _on((3, 8, 8), _KERNEL)(lambda lib, f, *t: f.conv2d(*t)),
    "conv3d": _on((1, 2, 4, 4, 4), (2, 2, 2, 2, 2))(lambda lib, f, *t: f.conv3d(*t)),
    "conv_transpose2d": _on((1, 2, 5, 5), _KERNEL)(
        lambda lib, f, *t: f.conv_transpose2d(*t, stride=2, output_padding=1)
    ),
    "conv_transpose2d single": _on((2, 5, 5), _KERNEL)(
        lambda lib, f, *t: f.conv_transpose2d(*t, stride=2, padding=1)
    ),
    "layer_norm": _on((2, 3, 4), (4,))(
        lambda lib, f, x, w: f.layer_norm(x, (4,), w, w)
    ),
    "layer_norm two": _on((2, 3, 4))(lambda lib, f, x: f.layer_norm(x, (3, 4))),
    "group_norm": _on(_IMAGE)(lambda lib, f, x: f.group_norm(x, 3)),
    "instance_norm": _on((2, 3, 8, 8))(lambda lib, f, x: f.instance_norm(x)),
    "batch_norm": _on(_X, (4,))(lambda lib, f, x, s: f.batch_norm(x, s, s)),
    "batch_norm training": _on(_IMAGE, (3,))(
        lambda lib, f, x, s: f.batch_norm(x, s, s, s, s, training=True)
    ),
    "softmax": _on(_X)(lambda lib, f, x: lib.softmax(x, -1)),
    "softmax of f": _on(_X)(lambda lib, f, x: f.softmax(x, 0)),
    "softmax dtype": _on(_X)(lambda lib, f, x: f.softmax(x, 0, dtype=lib.float64)),
    "log_softmax": _on(_X)(lambda lib, f, x: f.log_softmax(x, 1)),
    "embedding": _on(_X)(lambda lib, f, x: f.embedding(_indices(lib, 3), x)),
    "embedding rows": _on(_X)(lambda lib, f, x: f.embedding(_indices(lib, 2, 3), x)),
    # Losses.
    "cross_entropy_loss": _on(_X)(
        lambda lib, f, x: f.cross_entropy(x, _indices(lib, 4))
    ),
    "cross_entropy_loss image": _on((1, 3, 2, 2))(
        lambda lib, f, x: f.cross_entropy(x, _indices(lib, 1, 2, 2))
    ),
    "cross_entropy_loss row": _on((1, 3, 2))(
        lambda lib, f, x: f.cross_entropy(x, _indices(lib, 1, 2))
    ),
    "cross_entropy_loss shares": _on(_X)(lambda lib, f, x: f.cross_entropy(x, x)),
    "nll_loss_nd": _on(_X)(lambda lib, f, x: f.nll_loss(x, _indices(lib, 4))),
    **{
        f"{name} {reduction}": _on(_X)(
            lambda lib, f, x, name=name, reduction=reduction: getattr(
                f, "kl_div" if name == "kl_div" else name
            )(x, x, reduction=reduction)
        )
        for name in ("mse_loss", "smooth_l1_loss", "huber_loss", "kl_div")
        for reduction in ("mean", "sum", "none")
    },
    "binary_cross_entropy": _on(_X)(lambda lib, f, x: f.binary_cross_entropy(x, x)),
    # Tensors from numbers.
    "ones": _on()(lambda lib, f: lib.ones(2, 3)),
    "zeros": _on()(lambda lib, f: lib.zeros((2, 3), dtype=lib.float64)),
    "full": _on()(lambda lib, f: lib.full((2,), 1.0)),
    "empty": _on()(lambda lib, f: lib.empty(3)),
    "rand": _on()(lambda lib, f: lib.rand(2)),
    "randn": _on()(lambda lib, f: lib.randn(2, 3)),
    "zeros_like": _on(_X)(lambda lib, f, x: lib.zeros_like(x)),
    "randn_like": _on(_X)(lambda lib, f, x: lib.randn_like(x)),
}

CASES = {name: _case(name.partition(" ")[0], make) for name, make in _CASES.items()}
