# ruff: noqa: E501  (a case is one line)
"""Cases of hooks of all modules, switches of back ends, kinds of attention,
the adaptive softmax and gradients of convolutions.
"""

from __future__ import annotations

import importlib
import warnings

from nn_scope import Cases
from outcomes import tensor

cases = Cases()
CASES = cases.found


def _part(lib, name):
    return importlib.import_module(f"{lib.__name__}.{name}")


def _with(handle, act):
    try:
        return act()
    finally:
        handle.remove()


@cases.case
def registrations_are_seen(lib):
    hooks = _part(lib, "nn.modules.module")
    found = []

    def see(module, name, value):
        found.append((type(module).__name__, name, type(value).__name__))

    handles = [
        getattr(hooks, f"register_module_{kind}_registration_hook")(see)
        for kind in ("parameter", "buffer", "module")
    ]
    try:
        m = lib.nn.Sequential(lib.nn.BatchNorm1d(2), lib.nn.PReLU())
        m.extra = lib.nn.Linear(1, 1, bias=False)
        m[0].running_mean = lib.ones(2)
    finally:
        for handle in handles:
            handle.remove()
    lib.nn.Linear(1, 1)
    return found


@cases.case
def registrations_are_changed(lib):
    hooks = _part(lib, "nn.modules.module")
    handle = hooks.register_module_parameter_registration_hook(
        lambda m, n, p: None if p is None else lib.nn.Parameter(lib.ones(2))
    )
    return _with(handle, lambda: lib.nn.PReLU().weight)


@cases.case
def backward_hooks_of_all_modules(lib):
    hooks = _part(lib, "nn.modules.module")
    found = []
    handle = hooks.register_module_full_backward_hook(
        lambda m, i, o: found.append((type(m).__name__, i, o))
    )
    x = tensor(lib, 2).requires_grad_()
    m = lib.nn.Sequential(lib.nn.Tanh(), lib.nn.ReLU())
    _with(handle, lambda: m(x).sum().backward())
    try:
        hooks.register_module_backward_hook(print)
    except RuntimeError as error:
        found.append(str(error))
    return found


@cases.case
def hooks_called_behind_errors(lib):
    found = []

    class Fails(lib.nn.Module):
        def forward(self, x, y=0):
            raise ValueError("no")

    m = Fails()
    m.register_forward_hook(lambda m, a, r: found.append((1, r)), always_call=True)
    m.register_forward_hook(
        lambda m, a, k, r: found.append((k, r)), always_call=True, with_kwargs=True
    )
    m.register_forward_hook(lambda m, a, r: found.append(3))
    try:
        m(1, y=2)
    except ValueError as error:
        return found, str(error)


@cases.case
def result_seen_behind_a_failing_hook(lib):
    found = []
    m = lib.nn.ReLU()

    def fails(*_):
        raise ValueError("no")

    m.register_forward_hook(lambda m, a, r: r + 1)
    m.register_forward_hook(fails)
    m.register_forward_hook(lambda m, a, r: found.append(r), always_call=True)
    try:
        m(tensor(lib, 2))
    except ValueError:
        return found


@cases.case
def inputs_without_gradients_stay_so(lib):
    found = []

    class Three(lib.nn.Module):
        def forward(self, a, b, c):
            found.append([x.requires_grad for x in (a, b, c)])
            return a + b + c

    m = Three()
    m.register_full_backward_hook(lambda *_: None)
    x = tensor(lib, 2)
    m(x.clone().requires_grad_(), x, x.clone().requires_grad_())
    return found


def _plain_hook(lib, forward, *args):
    made = type("Made", (lib.nn.Module,), {"forward": forward})()
    made.register_backward_hook(lambda *_: None)
    made(*args)


@cases.case
def what_plain_backward_hooks_miss(lib):
    a, b = (tensor(lib, 2, start=i).requires_grad_() for i in range(2))
    _plain_hook(lib, lambda self, x: [x[0] * 2], [a])
    _plain_hook(lib, lambda self, x: x[0] * 2, [a])
    _plain_hook(lib, lambda self, x, y: (x * 2, y * 2), a, b)
    _plain_hook(lib, lambda self, x: x.clone().clone(), a.clone())
    _plain_hook(lib, lambda self, x: x.clone(), a.clone())


@cases.case
def hooks_of_a_dead_module(lib):
    m = lib.nn.Linear(1, 1)
    m.register_load_state_dict_pre_hook(lambda *_: None)
    hook = next(iter(m._load_state_dict_pre_hooks.values()))
    del m
    hook({}, "", {}, True, [], [], [])


def _lazy(lib):
    mixin = _part(lib, "nn.modules.lazy").LazyModuleMixin
    waiting = lib.nn.UninitializedParameter

    class Scale(mixin, lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = waiting()

        def initialize_parameters(self, x, fill=True):
            if fill:
                self.scale.materialize(x.shape[-1])
                with lib.no_grad():
                    self.scale.fill_(2)

        def forward(self, x, fill=True):
            return x * self.scale

    return Scale()


@cases.case
def lazy_module_of_a_user(lib):
    m, other = _lazy(lib), _lazy(lib)
    found = [
        m.has_uninitialized_params(),
        m(tensor(lib, 2, 3)),
        len(m._forward_pre_hooks),
    ]
    other.load_state_dict(m.state_dict())
    found += [other.scale, type(other.scale).__name__, m.has_uninitialized_params()]
    fresh = _lazy(lib)
    found.append(repr(fresh.load_state_dict(_lazy(lib).state_dict())))
    try:
        fresh(tensor(lib, 2, 3), fill=False)
    except RuntimeError as error:
        found.append(str(error))
    return found


cases.each(
    "lazy",
    "nn.LazyConvTranspose1d(2, 2, stride=2)(lib.ones(1, 3, 4), output_size=[9]).shape",
    "(lambda b: (repr(b), b.materialize(2), type(b).__name__, b.shape)[0::2])(nn.UninitializedBuffer())",
    "isinstance(nn.UninitializedBuffer(), nn.Buffer), isinstance(nn.UninitializedParameter(), nn.Parameter)",
    "type('L', (lib.nn.modules.lazy.LazyModuleMixin, nn.Module), {})().initialize_parameters()",
)


@cases.case
def lazy_is_refused_where_shapes_are_needed(lib):
    found = []
    for act in (
        lambda: lib.jit.script(lib.nn.LazyLinear(2)),
        lambda: lib.optim.Adagrad(lib.nn.LazyLinear(2).parameters()),
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                act()
        except (RuntimeError, ValueError) as error:
            found.append(
                (type(error).__name__, "uninitialized parameter" in str(error))
            )
    return found


def _flag(text: str):
    def run(lib):
        b = _part(lib, "backends")
        return eval(text, {"b": b, "lib": lib, "_in": _inside})

    return run


def _inside(block, look):
    with block:
        return look()


for _text in (
    "(b.cudnn.enabled, b.cudnn.benchmark, b.cudnn.deterministic, b.cudnn.allow_tf32, b.cudnn.version(), b.cudnn.is_available())",
    "(b.mkldnn.enabled, b.mkldnn.deterministic)",
    "_in(b.cudnn.flags(enabled=False, deterministic=True), lambda: (b.cudnn.enabled, b.cudnn.deterministic)), b.cudnn.enabled, b.cudnn.deterministic",
    "_in(b.mkldnn.flags(enabled=False), lambda: b.mkldnn.enabled), b.mkldnn.enabled",
    "_in(b.nnpack.flags(), lambda: 1), b.nnpack.set_flags(True)",
    "setattr(b.cudnn, 'enabled', 3)",
    "setattr(b.cudnn, 'fp32_precision', 'x')",
    "setattr(b.cudnn, 'depthwise_kernel', 'x')",
    "setattr(b.cuda.matmul, 'x', 1)",
    "b.cuda.matmul.x",
    "(b.cuda.matmul.allow_tf32, b.cuda.flash_sdp_enabled(), b.cuda.math_sdp_enabled(), b.mha.get_fastpath_enabled())",
    "_in(b.cuda.sdp_kernel(enable_math=False), lambda: (b.cuda.math_sdp_enabled(), b.cuda.flash_sdp_enabled()))",
):
    CASES[f"flags: {_text}"] = _flag(_text)


@cases.case
def kinds_of_attention(lib):
    a = lib.nn.attention
    kinds = a.SDPBackend
    found = [str(kinds.MATH), repr(kinds.ERROR), int(kinds.CUDNN_ATTENTION)]
    now = a._cur_sdpa_kernel_backends
    found.append(str(now()))
    with a.sdpa_kernel([kinds.MATH, kinds.FLASH_ATTENTION], set_priority=True):
        found += [str(now()), str(now(with_priority=True))]
        with a.sdpa_kernel(kinds.EFFICIENT_ATTENTION):
            found.append(str(now()))
    return [*found, str(now(with_priority=True))]


cases.each(
    "attention",
    "nn.attention.sdpa_kernel(3).__enter__()",
    *(
        f"nn.functional.multi_head_attention_forward(lib.ones(2, 3, 4), lib.ones(5, 3, 4), lib.ones(5, 3, 4), 4, 2, lib.ones(12, 4), None, {bias}, False, 0., lib.eye(4), None, {more})"
        for bias, more in (
            ("None, None", "static_k=lib.ones(6, 7, 2), static_v=lib.ones(6, 7, 2)"),
            ("None, None", "static_k=lib.ones(5, 7, 2), static_v=lib.ones(6, 7, 2)"),
            ("None, None", "static_k=lib.ones(6, 7, 2), static_v=lib.ones(6, 7, 3)"),
            ("lib.ones(1, 1, 4), lib.ones(1, 1, 4)", "static_k=lib.ones(6, 7, 2)"),
            ("lib.ones(1, 1, 4), None", ""),
            ("None, lib.ones(1, 1, 4)", ""),
            ("None, None", "key_padding_mask=lib.zeros(3, 4, dtype=lib.bool)"),
            ("None, None", "key_padding_mask=lib.zeros(2, 5, dtype=lib.bool)"),
        )
    ),
)


def _native(text: str):
    def run(lib):
        scope = {"lib": lib, "n": lib._native_multi_head_attention}
        for i, (name, shape) in enumerate(
            {
                "q": (2, 3, 4),
                "k": (2, 3, 4),
                "w": (12, 4),
                "b": (12,),
                "p": (4, 4),
                "c": (4,),
            }.items()
        ):
            scope[name] = tensor(lib, *shape, start=10 * i)
        scope["keys"] = lib.tensor([[False, False, True], [False] * 3])
        scope["later"] = lib.ones(3, 3, dtype=lib.bool).triu(1)
        return eval(text, scope)

    return run


for _text in (
    "n(q, k, k * 2, 4, 2, w, b, p, c)",
    "n(q, q, q, 4, 2, w, b, p, c, None, False)",
    "n(q, q, q, 4, 2, w, b, p, c, keys, True, True, 1)",
    "n(q, q, q, 4, 2, w, b, p, c, later, True, False, 0)",
    "n(q, q, q, 4, 2, w, b, p, c, later.float(), True, True, 0)",
    "n(q, q, q, 4, 2, w, b, p, c, later[None, None].expand(2, 2, 3, 3), True, True, 2)",
    "n(q, q, q, 4, 2, w, b, p, c, keys)",
    "n(q[0], q, q, 4, 2, w, b, p, c)",
    "n(q, q, q, 5, 2, w, b, p, c)",
    "n(q, q, q, 4, 3, w, b, p, c)",
    "n(q, q, q, 4, 2, w[:6], b, p, c)",
    "n(q, q, q, 4, 2, w, b[:6], p, c)",
    "lib._transform_bias_rescale_qkv(lib.arange(24.).view(1, 2, 12), b, 2)",
):
    CASES[f"native attention: {_text}"] = _native(_text)


for _text in (
    "s(x, k, 3, 1)",
    "s(x, later, 3, 0)",
    "s(x, x > 1)",
    "s(x, x > 1, 2, 2)",
    "s(x, k.float(), 3, 1)",
    "s(x, k[0], 3, 1)",
    "s(x, k[:, :2], 3, 1)",
    "s(x, later[:2], 3, 0)",
    "s(x[0], x[0] > 1, None, 2)",
):
    CASES[f"masked softmax: {_text}"] = lambda lib, text=_text: eval(
        text,
        {
            "s": lib._masked_softmax,
            "x": lib.arange(18.0).view(1, 2, 3, 3) / 5,
            "k": lib.tensor([[False, True, True]]),
            "later": lib.ones(3, 3, dtype=lib.bool).triu(1),
        },
    )


def _adaptive(lib, **options):
    m = lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0, **options)
    for i, p in enumerate(m.parameters()):
        p.data = tensor(lib, *p.shape, start=i)
    return m


@cases.case
def adaptive_softmax(lib):
    m = _adaptive(lib, head_bias=True)
    x = tensor(lib, 5, 8).requires_grad_()
    output, loss = m(x, lib.tensor([0, 4, 9, 2, 6]))
    loss.backward()
    one = m(x[0], lib.tensor(7))
    found = [output, loss, x.grad, one, m.log_prob(x), m.predict(x)]
    return [*found, repr(m), m.cutoffs, list(m.state_dict())]


for _name, _act in {
    "class": lambda lib: _adaptive(lib)(lib.ones(2, 8), lib.tensor([0, 10])),
    "batch": lambda lib: _adaptive(lib)(lib.ones(2, 8), lib.tensor([0])),
    "rank": lambda lib: _adaptive(lib)(lib.ones(8), lib.tensor([0] * 8)),
    "rank of one": lambda lib: _adaptive(lib)(lib.ones(1, 8), lib.tensor(0)),
    "ranks": lambda lib: _adaptive(lib)(lib.ones(1, 8), lib.tensor([[0]])),
    "none": lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, []),
    "order": lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5, 2]),
    "high": lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [5, 10]),
    "fraction": lambda lib: lib.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2.5]),
}.items():
    CASES[f"adaptive_softmax refuses: {_name}"] = _act

cases.each(
    "gradients of convolutions",
    "nn.grad.conv1d_input((1, 2, 5), lib.arange(12.).view(3, 2, 2), lib.arange(9.).view(1, 3, 3), stride=2, padding=1)",
    "nn.grad.conv1d_weight(lib.arange(10.).view(1, 2, 5), (3, 2, 2), lib.arange(9.).view(1, 3, 3), stride=2, padding=1)",
    "nn.functional.grad.conv2d_input((1, 2, 3, 3), lib.arange(8.).view(2, 1, 2, 2), lib.arange(8.).view(1, 2, 2, 2), groups=2)",
    "nn.grad.conv2d_weight(lib.arange(18.).view(1, 2, 3, 3), (2, 1, 2, 2), lib.arange(8.).view(1, 2, 2, 2), groups=2)",
    "nn.grad.conv3d_input((1, 1, 2, 3, 2), lib.arange(8.).view(1, 1, 2, 2, 2), lib.arange(2.).view(1, 1, 1, 2, 1))",
    "nn.grad.conv3d_weight(lib.arange(12.).view(1, 1, 2, 3, 2), (1, 1, 2, 2, 2), lib.arange(2.).view(1, 1, 1, 2, 1))",
)

cases.each(
    "other",
    "lib.ones(2, dtype=lib.int64).new(2, 3).shape, lib.ones(2, dtype=lib.int64).new([4, 5]), lib.ones(2).new(lib.Size([2, 1])).shape",
    "nn.ParameterList([p]).extend(p)",
    "nn.utils.rnn.pack_padded_sequence(lib.ones(0, 0), [])",
    "nn.utils.rnn.pack_sequence([t]).short().data, nn.utils.rnn.pack_sequence([t]).char().data, nn.utils.rnn.pack_sequence([t]).byte().data.dtype",
    "lib.ones(2).multiply_(2.0), lib.ones(2).divide_(2), lib.ones(2).subtract_(3)",
    "(lambda s: (nn.modules.utils.consume_prefix_in_state_dict_if_present(s, 'module.'), list(s), list(s._metadata)))(nn.DataParallel(m).state_dict())",
    "(lambda d: (d(t[None]) is not None, list(d.state_dict())[:2], d.device_ids))(nn.DataParallel(nn.Linear(2, 3)))",
)
