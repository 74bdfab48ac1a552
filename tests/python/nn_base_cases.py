# ruff: noqa: E501  (a case is one line)
"""Cases of nn.Module itself, containers, parameters, hooks and autograd."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

from outcomes import tensor

CASES = {}


def case(function):
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def each(name: str, *texts: str):
    """Registers one case for each text, evaluated with `m` and other names."""
    for text in texts:
        CASES[f"{name}: {text}"] = lambda lib, text=text: _evaluate(lib, text)


def _evaluate(lib, text: str):
    nn = lib.nn
    scope = {"lib": lib, "nn": nn, "OrderedDict": OrderedDict, "m": _net(lib)}
    scope["p"] = nn.Parameter(tensor(lib, 2))
    scope["t"] = tensor(lib, 2)
    scope["seq"] = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.GELU())
    scope["ml"] = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    scope["md"] = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    scope["pl"] = nn.ParameterList([tensor(lib, 2, 3), scope["p"], 3])
    scope["pd"] = nn.ParameterDict(
        {"a": tensor(lib, 2, 3), "b": scope["p"], "c": 3}
    )
    scope["do"] = _do
    return eval(text, scope)


def _do(target, *names_and_args):
    """Calls methods one after the other, then shows the target."""
    results = [getattr(target, name)(*args) for name, *args in names_and_args]
    return [repr(r) for r in results], repr(target), list(target.state_dict())


def _net(lib):
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 3)
            self.blocks = nn.Sequential(
                nn.Linear(3, 3), nn.ReLU(), nn.BatchNorm1d(3)
            )
            self.shared = self.fc
            self.scale = nn.Parameter(lib.ones(3))
            self.nothing = None
            self.register_parameter("absent", None)
            self.register_buffer("count", lib.zeros(2))
            self.register_buffer("scratch", lib.ones(2), persistent=False)
            self.register_buffer("missing", None)
            self.register_module("hole", None)

        def forward(self, x):
            return self.blocks(self.fc(x)) * self.scale

    return Net()


each(
    "attributes",
    "m",
    "m.nothing",
    "m.absent",
    "m.missing",
    "m.hole",
    "m.foo",
    "m.blocks.foo",
    "setattr(m, 'scale', t)",
    "setattr(m, 'scale', 3)",
    "setattr(m, 'scale', None), m.scale, list(m.state_dict())",
    "setattr(m, 'count', 3)",
    "setattr(m, 'count', None), list(m.state_dict())",
    "setattr(m, 'count', t), m.count, list(m.state_dict())",
    "setattr(m, 'fc', 3)",
    "setattr(m, 'fc', t)",
    "setattr(m, 'fc', None), list(m.state_dict())",
    "setattr(m, 'fc', nn.ReLU()), list(m._modules), list(m.state_dict())",
    "setattr(m, 'fc', p), list(m._modules), list(m.state_dict())",
    "setattr(m, 'count', p), list(m.state_dict())",
    "setattr(m, 'scale', nn.ReLU()), list(m.state_dict()), list(m._modules)",
    "setattr(m, 'new', nn.Buffer(t)), list(m.state_dict())",
    "setattr(m, 'new', nn.Buffer(t, persistent=False)), list(m.state_dict())",
    "setattr(m, 'scale', nn.Buffer(t)), list(m.state_dict())",
    "setattr(m, 'new', t), list(m.state_dict()), 'new' in m.__dict__",
    "setattr(m, 'scratch', p), sorted(m._non_persistent_buffers_set)",
    "delattr(m, 'scale'), delattr(m, 'count'), delattr(m, 'fc'), list(m.state_dict())",
    "delattr(m, 'nothing'), hasattr(m, 'nothing')",
    "delattr(m, 'foo')",
    "[n for n in ('fc', 'scale', 'count', 'forward') if n in dir(m)]",
    "nn.Module(1)",
    "nn.Module(a=1)",
    "nn.Linear(1, 2, a=1)",
    "nn.Module()(1)",
)
each(
    "registration",
    *[
        f"m.{method}({args})"
        for method in ("register_parameter", "register_buffer", "add_module")
        for args in (
            "3, None",
            "'a.b', None",
            "'', None",
            "'forward', None",
            "'scale', None",
            "'count', None",
            "'fc', None",
            "'x', 3",
            "'x', p * 2",
            "'x', nn.Module",
        )
    ],
    "m.register_module('x', nn.ReLU()), m.x",
    "m.register_buffer('x', t), m.register_buffer('x', None, False), m.x",
)
each(
    "lookup",
    "m.get_submodule('blocks.0')",
    "m.get_submodule('') is m",
    "m.get_submodule('blocks.7')",
    "m.get_submodule('scale')",
    "m.get_submodule('blocks.0.weight')",
    "m.get_parameter('scale')",
    "m.get_parameter('blocks.0.bias')",
    "m.get_parameter('count')",
    "m.get_parameter('blocks.9.bias')",
    "m.get_parameter('zz')",
    "m.get_buffer('count')",
    "m.get_buffer('blocks.2.running_mean')",
    "m.get_buffer('scale')",
    "m.get_buffer('zz')",
    "m.set_submodule('blocks.0', nn.Tanh()), m",
    "m.set_submodule('', nn.Tanh())",
    "m.set_submodule('scale', nn.Tanh())",
    "[n for n, _ in m.named_modules()]",
    "[n for n, _ in m.named_modules(remove_duplicate=False)]",
    "[n for n, _ in m.named_modules(prefix='q')]",
    "[n for n, _ in m.named_children()], len(list(m.children()))",
    "[n for n, _ in m.named_parameters()]",
    "[n for n, _ in m.named_parameters('q', recurse=False)]",
    "[n for n, _ in m.named_parameters(remove_duplicate=False)]",
    "[n for n, _ in m.named_buffers()], len(list(m.buffers()))",
    "len(list(m.modules())), len(list(m.parameters()))",
    "[type(c).__name__ for c in m.modules()]",
    "[type(c).__name__ for c in (lambda seen: m.apply(seen.append) and seen)([])]",
)
each(
    "conversion",
    "{n: str(v.dtype) for n, v in m.double().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.half().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.bfloat16().float().state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(lib.float64).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to('cpu', lib.float16).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(dtype=lib.float16).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.to(t.double()).state_dict().items()}",
    "{n: str(v.dtype) for n, v in m.type(lib.float64).state_dict().items()}",
    "m.to() is m, m.to(None) is m, m.cpu() is m",
    "m.to(lib.int32)",
    "m.to(lib.complex64).scale",
    "m.to(3, 4, 5, 6)",
    "m.to([1])",
    "m.to(lib.float64, 'cpu')",
    "m.to('cpu', 3)",
    "m.to(foo=3)",
    "m.to('cpu', device='cpu')",
    "m.to('cpu', non_blocking=True) is m",
    "m.to('foo')",
    "m.cuda()",
    "m.to('cuda')",
    "(lambda q: (m.double(), m.scale is q))(m.scale)[1]",
    "m.to_empty(device='cpu').scale.shape",
)
each(
    "modes",
    "m.eval().training, m.fc.training, m.train().blocks[2].training",
    "m.train(3)",
    "m.train(False).blocks.training",
    "[q.requires_grad for q in m.requires_grad_(False).parameters()]",
    "m.zero_grad()",
)
each(
    "state",
    "m.state_dict()",
    "m.state_dict()._metadata",
    "list(m.state_dict(prefix='q.'))",
    "m.state_dict(keep_vars=True)['scale'].requires_grad",
    "m.state_dict()['scale'].requires_grad",
    "m.state_dict(OrderedDict(), 'z.')",
    "m.load_state_dict(m.state_dict())",
    "m.load_state_dict({})",
    "m.load_state_dict(3)",
    "m.load_state_dict({}, strict=False)",
    "m.load_state_dict({'scale': lib.ones(4), 'z': 3}, strict=False)",
    "m.load_state_dict({'scale': 3, 'blocks.0.foo.bar': t, 'fc.z': t, 'q.z': t})",
    "m.load_state_dict({**m.state_dict(), 'scale': lib.zeros(3)}), m.scale",
    "m.load_state_dict({**m.state_dict(), 'scale': lib.zeros(3).double()}), m.scale",
    "m.load_state_dict({k: v.double() for k, v in m.state_dict().items()},"
    " assign=True), m.scale, m.count",
    "m.load_state_dict({k: v for k, v in m.state_dict().items() if 'num' not in k})",
)
each(
    "containers",
    "seq",
    "seq[0], seq[-1], len(seq)",
    "seq[1:]",
    "seq[5]",
    "seq[-4]",
    "seq['a']",
    "seq + seq[0:1]",
    "seq + 3",
    "seq * 2",
    "2 * seq",
    "seq * 0",
    "seq * 1.5",
    "do(seq, ['append', nn.ELU()], ['insert', 0, nn.SELU()], ['pop', 1])",
    "do(seq, ['extend', [nn.ELU(), nn.ELU()]])",
    "seq.insert(9, nn.GELU())",
    "seq.insert(0, 3)",
    "do(seq, ['insert', -1, nn.CELU()])",
    "do(seq, ['__delitem__', 0])",
    "do(seq, ['__delitem__', slice(0, 2)])",
    "do(seq, ['__setitem__', 1, nn.ELU()], ['__setitem__', -1, nn.SELU()])",
    "seq.__setitem__(7, nn.ELU())",
    "nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Linear(1, 1)))",
    "nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Linear(1, 1)))[1]",
    "do(nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())), ['__delitem__', 0])",
    "nn.Sequential(3)",
    "nn.Sequential({'a': nn.ReLU()})",
    "nn.Sequential()",
    "seq(t)",
    "ml",
    "ml[0:2]",
    "ml[9]",
    "ml['a']",
    "ml(3)",
    "ml + [nn.ReLU()]",
    "ml.extend(3)",
    "ml.append(3)",
    "do(ml, ['insert', 1, nn.ELU()], ['pop', 0], ['pop', -1])",
    "do(ml, ['__delitem__', 0], ['__iadd__', [nn.ELU()]])",
    "nn.ModuleList()",
    "nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Tanh())] * 2)",
    "[type(c).__name__ for c in ml], len(ml)",
    "md",
    "md['z']",
    "list(md), 'a' in md, len(md), list(md.values())",
    "do(md, ['pop', 'a'], ['update', {'c': nn.ELU()}], ['update', [('d', nn.ReLU())]])",
    "do(md, ['__setitem__', 'q', nn.ELU()], ['__delitem__', 'a'], ['clear'])",
    "md.update([('q',)])",
    "md.update(3)",
    "md.update([3])",
    "md(1)",
    "pl",
    "pl[0:1]",
    "pl[-1], len(pl)",
    "pl[7]",
    "pl(1)",
    "pl.extend(3)",
    "do(pl, ['append', t], ['extend', [t, 4]], ['__setitem__', 0, t])",
    "[type(v).__name__ for v in pl]",
    "pd",
    "pd['z']",
    "list(pd), list(reversed(pd)), len(pd), 'a' in pd",
    "do(pd, ['popitem'], ['setdefault', 'k', t], ['get', 'nn'], ['pop', 'a'])",
    "do(pd, ['update', {'u': t}], ['__delitem__', 'a'], ['copy'])",
    "pd.fromkeys(['a', 'b'], 1), pd | {'u': 1}",
    "pd(1)",
    "pd.update(3)",
    "[k for k, v in pd.items()], len(list(pd.values()))",
)
each(
    "parameters",
    "p",
    "nn.Parameter()",
    "nn.Parameter(t, requires_grad=False)",
    "nn.Parameter(lib.ones(2, dtype=lib.int64))",
    "nn.Parameter(t).data_ptr() == t.data_ptr()",
    "isinstance(p, lib.Tensor), isinstance(t, nn.Parameter), type(p * 2).__name__",
    "p * 2",
    "nn.Buffer(t), isinstance(nn.Buffer(t), lib.Tensor)",
    "nn.utils.parameters_to_vector(m.fc.parameters())",
    "nn.utils.vector_to_parameters(lib.ones(9), list(m.fc.parameters())), m.fc.weight",
    "nn.utils.vector_to_parameters(3, [p])",
)


@case
def modules_before_init(lib):
    nn = lib.nn
    texts = []
    attempts = (
        lambda self: setattr(self, "x", nn.Parameter(lib.ones(1))),
        lambda self: setattr(self, "x", nn.ReLU()),
        lambda self: setattr(self, "x", nn.Buffer(lib.ones(1))),
        lambda self: self.register_buffer("x", lib.ones(1)),
        lambda self: self.register_parameter("x", None),
    )
    for attempt in attempts:

        class Early(nn.Module):
            def __init__(self, attempt=attempt):
                attempt(self)

        try:
            Early()
        except AttributeError as error:
            texts.append(str(error))
    return texts


@case
def forward_hooks(lib):
    nn = lib.nn
    log = []
    m = nn.Linear(2, 2)

    def pre(module, args):
        log.append("pre")
        return args[0] + 1

    def pre_kwargs(module, args, kwargs):
        log.append(["pre_kwargs", sorted(kwargs)])
        return args, kwargs

    def after(module, args, output):
        log.append(["after", output])
        return output * 2

    def after_kwargs(module, args, kwargs, output):
        log.append(["after_kwargs", output])

    handles = [
        m.register_forward_pre_hook(pre),
        m.register_forward_pre_hook(pre_kwargs, with_kwargs=True, prepend=True),
        m.register_forward_hook(after),
        m.register_forward_hook(after_kwargs, with_kwargs=True, prepend=True),
    ]
    log.append(m(tensor(lib, 2)))
    handles[0].remove()
    with handles[2]:
        log.append(m(input=tensor(lib, 2)))
    log.append(m(tensor(lib, 2)))
    handles[1].remove()
    handles[1].remove()
    log.append(m(tensor(lib, 2)))
    return log


@case
def bad_pre_hook(lib):
    m = lib.nn.Linear(2, 2)
    m.register_forward_pre_hook(lambda *a: 3, with_kwargs=True)
    return m(tensor(lib, 2))


@case
def always_called_hook(lib):
    nn = lib.nn
    log = []

    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    m = Fails()
    m.register_forward_hook(lambda *a: log.append("plain"))
    m.register_forward_hook(lambda m, a, o: log.append(o), always_call=True)
    try:
        m(1)
    except ValueError as error:
        log.append(str(error))
    return log


@case
def global_hooks(lib):
    modules = lib.nn.modules.module
    log = []
    handles = [
        modules.register_module_forward_pre_hook(
            lambda m, a: log.append("pre")
        ),
        modules.register_module_forward_hook(
            lambda m, a, o: log.append("after")
        ),
    ]
    m = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Tanh())
    m(tensor(lib, 2))
    for handle in handles:
        handle.remove()
    m(tensor(lib, 2))
    return log


@case
def full_backward_hooks(lib):
    nn = lib.nn
    log = []
    m = nn.Linear(2, 2)
    m.register_full_backward_hook(
        lambda m, gi, go: log.append(["back", gi, go])
    )
    m.register_full_backward_pre_hook(lambda m, go: log.append(["pre", go]))
    x = tensor(lib, 3, 2, requires_grad=True)
    m(x).sum().backward()
    log.append(x.grad)
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    x.grad = None
    m(x).sum().backward()
    log.append(x.grad)
    return log


@case
def full_backward_hook_without_input_gradient(lib):
    log = []
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda m, gi, go: log.append([gi, go]))
    m(tensor(lib, 3, 2)).sum().backward()
    return log, m.weight.grad


@case
def full_backward_hook_wrong_count(lib):
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    m(tensor(lib, 2, requires_grad=True)).sum().backward()


@case
def backward_hooks_do_not_mix(lib):
    m = lib.nn.Linear(2, 2)
    m.register_full_backward_hook(lambda *a: None)
    m.register_backward_hook(lambda *a: None)


@case
def state_dict_hooks(lib):
    log = []
    m = _net(lib)
    m.register_state_dict_pre_hook(
        lambda m, prefix, keep: log.append([prefix, keep])
    )
    m.fc.register_state_dict_post_hook(
        lambda m, state, prefix, meta: state.pop(prefix + "bias") and None
    )
    m._register_state_dict_hook(
        lambda m, state, prefix, meta: dict(state, extra=1)
    )
    log.append(list(m.state_dict()))
    return log


@case
def load_state_dict_hooks(lib):
    log = []
    m = _net(lib)

    def before(module, state, prefix, *rest):
        log.append([prefix, sorted(state)])
        state[prefix + "weight"] = lib.zeros(3, 2)

    def after(module, keys):
        log.append([list(keys.missing_keys), list(keys.unexpected_keys)])
        keys.missing_keys.clear()

    m.fc.register_load_state_dict_pre_hook(before)
    m.register_load_state_dict_post_hook(after)
    log.append(
        m.load_state_dict({"fc.bias": lib.ones(3), "shared.bias": lib.ones(3)})
    )
    return log, m.fc.state_dict()


@case
def extra_state(lib):
    class Extra(lib.nn.Module):
        def get_extra_state(self):
            return {"v": 3}

        def set_extra_state(self, state):
            self.v = state["v"]

    m = lib.nn.Sequential(Extra(), lib.nn.ReLU())
    state = m.state_dict()
    m.load_state_dict(state)
    found = [list(state), m[0].v]
    try:
        m.load_state_dict({})
    except RuntimeError as error:
        found.append(str(error))
    return found


@case
def copies(lib):
    m = _net(lib)
    m.eval()
    twin = copy.deepcopy(m)
    with lib.no_grad():
        twin.scale.zero_()
    shared = twin.shared is twin.fc and twin.fc is not m.fc
    return shared, m.scale, twin.scale, twin.training, list(twin.state_dict())


@case
def pickles(lib):
    m = lib.nn.Sequential(
        lib.nn.Linear(2, 2), lib.nn.BatchNorm1d(2), lib.nn.ReLU()
    )
    m[0].register_buffer("x", lib.ones(1), persistent=False)
    twin = pickle.loads(pickle.dumps(m))
    same = all(
        bool((a == b).all())
        for a, b in zip(m.state_dict().values(), twin.parameters())
    )
    return repr(twin), same, twin[0].weight.requires_grad, twin[0].x


@case
def parameter_pickle_keeps_attributes(lib):
    p = lib.nn.Parameter(tensor(lib, 2), requires_grad=False)
    p.note = "kept"
    twin = pickle.loads(pickle.dumps(p))
    return type(twin).__name__, twin.requires_grad, twin.note, twin


@case
def replaced_parameters(lib):
    """Plain tensors in place of parameters are used by the layers."""
    nn = lib.nn
    fc, rnn = nn.Linear(2, 2), nn.GRU(2, 2)
    del fc.weight
    fc.weight = lib.ones(2, 2)
    del rnn.weight_hh_l0
    rnn.weight_hh_l0 = lib.ones(6, 2)
    return fc(tensor(lib, 2)), rnn(tensor(lib, 3, 2)), list(fc.state_dict())


@case
def instance_forward(lib):
    m = lib.nn.ReLU()
    m.forward = lambda x: x * 7
    return m(tensor(lib, 2))


@case
def zero_grad(lib):
    m = lib.nn.Linear(2, 1)
    m(tensor(lib, 2)).backward()
    m.zero_grad(set_to_none=False)
    kept = [p.grad for p in m.parameters()]
    m.zero_grad()
    return kept, [p.grad for p in m.parameters()]


@case
def weight_sharing_trains_once(lib):
    m = _net(lib)
    m(tensor(lib, 4, 2)).sum().backward()
    return [(n, p.grad) for n, p in m.named_parameters()]


@case
def clipping(lib):
    utils = lib.nn.utils
    m = lib.nn.Linear(2, 2)
    m(tensor(lib, 3, 2)).sum().backward()
    found = [utils.clip_grad_norm_(m.parameters(), 0.5), m.weight.grad.clone()]
    found += [utils.clip_grad_norm_(m.weight, 0.1, norm_type=float("inf"))]
    found += [m.weight.grad.clone(), utils.clip_grad_norm_([], 1.0)]
    utils.clip_grad_value_(m.parameters(), 0.01)
    found += [m.bias.grad.clone()]
    m.bias.grad[0] = float("nan")
    try:
        utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
    except RuntimeError as error:
        found.append(str(error))
    return found


@case
def repr_of_nested(lib):
    nn = lib.nn

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.ModuleList(
                [nn.Linear(1, 1), nn.Linear(1, 1), _net(lib)]
            )
            self.b = nn.ModuleDict({"x": nn.Sequential()})

        def extra_repr(self):
            return "first\nsecond"

    return repr(Two())


@case
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


@case
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


@case
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


@case
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


@case
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


@case
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


@case
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


@case
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


@case
def grad_values(lib):
    x, scalar, vector = _graph(lib)
    grad = lib.autograd.grad
    return [
        grad(scalar, x, retain_graph=True),
        grad([scalar, vector], [x], [None, lib.ones(3)]),
        grad(
            _graph(lib)[1],
            tensor(lib, 2, requires_grad=True),
            allow_unused=True,
        ),
        grad(
            _graph(lib)[1],
            tensor(lib, 2, requires_grad=True),
            materialize_grads=True,
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


@case
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


@case
def gradcheck_complex(lib):
    x = tensor(lib, 2, 3, dtype=lib.float64)
    z = (x + 1j * x.flip(0)).requires_grad_()
    check = lib.autograd.gradcheck
    return [
        check(lambda a: a * a.conj() + a**2, z),
        check(lambda a: a.abs(), z),
    ]


@case
def gradcheck_without_gradient(lib):
    return lib.autograd.gradcheck(lambda a: a * 2, tensor(lib, 2))


@case
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


@case
def seed_linear_network(lib):
    """Seed 003: the weights and the result that its text shows."""
    net = lib.nn.Linear(2, 2)
    return (
        isinstance(net, lib.nn.Module),
        net.weight,
        net(lib.tensor([0.1, 0.2])),
    )


@case
def seed_networks(lib):
    """The three networks of seed 001, with inputs as there."""
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1 = nn.Linear(10, 64)
            self.relu = nn.ReLU()
            self.linear2 = nn.Linear(64, 10)

        def forward(self, x):
            return self.linear2(self.relu(self.linear1(x)))

    class CNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 32, 3, 1)
            self.relu1 = nn.ReLU()
            self.maxpool1 = nn.MaxPool2d(2)
            self.conv2 = nn.Conv2d(32, 64, 3, 1)
            self.relu2 = nn.ReLU()
            self.maxpool2 = nn.MaxPool2d(2)
            self.fc = nn.Linear(64 * 5 * 5, 10)

        def forward(self, x):
            x = self.maxpool1(self.relu1(self.conv1(x)))
            x = self.maxpool2(self.relu2(self.conv2(x)))
            return self.fc(x.flatten(1))

    class RNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.RNN(64, 32)
            self.fc = nn.Linear(32, 10)

        def forward(self, x):
            output, state = self.rnn(x)
            return self.fc(output[-1]), state

    return [
        [repr(net), net(tensor(lib, *shape))]
        for net, shape in (
            (Net(), (10,)),
            (CNN(), (1, 1, 28, 28)),
            (RNN(), (10, 64)),
        )
    ]
