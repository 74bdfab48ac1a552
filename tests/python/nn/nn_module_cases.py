# ruff: noqa: E501  (a case is one line)
"""Cases of nn.Module itself: attributes, registration, lookup, containers."""

from __future__ import annotations

from nn_scope import Cases, net
from outcomes import tensor

cases = Cases()
CASES = cases.found


cases.each(
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


cases.each(
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


cases.each(
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


cases.each(
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


cases.each(
    "parameters",
    "p",
    "nn.Parameter()",
    "nn.Parameter(t, requires_grad=False)",
    "nn.Parameter(lib.ones(2, dtype=lib.int64))",
    "nn.Parameter(t).data_ptr() == t.data_ptr()",
    "isinstance(p, lib.Tensor), isinstance(t, nn.Parameter), type(p * 2).__name__",
    "p * 2",
    "nn.Buffer(t), isinstance(nn.Buffer(t), lib.Tensor)",
    "type(nn.Buffer(t)) is lib.Tensor, isinstance(t, nn.Buffer), isinstance(nn.Buffer(t), nn.Buffer)",
    "nn.utils.parameters_to_vector(m.fc.parameters())",
    "nn.utils.vector_to_parameters(lib.ones(9), list(m.fc.parameters())), m.fc.weight",
    "nn.utils.vector_to_parameters(3, [p])",
)


@cases.case
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


@cases.case
def replaced_parameters(lib):
    """Plain tensors in place of parameters are used by the layers."""
    nn = lib.nn
    fc, rnn = nn.Linear(2, 2), nn.GRU(2, 2)
    del fc.weight
    fc.weight = lib.ones(2, 2)
    del rnn.weight_hh_l0
    rnn.weight_hh_l0 = lib.ones(6, 2)
    return fc(tensor(lib, 2)), rnn(tensor(lib, 3, 2)), list(fc.state_dict())


@cases.case
def instance_forward(lib):
    m = lib.nn.ReLU()
    m.forward = lambda x: x * 7
    return m(tensor(lib, 2))


@cases.case
def weight_sharing_trains_once(lib):
    m = net(lib)
    m(tensor(lib, 4, 2)).sum().backward()
    return [(n, p.grad) for n, p in m.named_parameters()]


@cases.case
def repr_of_nested(lib):
    nn = lib.nn

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), net(lib)])
            self.b = nn.ModuleDict({"x": nn.Sequential()})

        def extra_repr(self):
            return "first\nsecond"

    return repr(Two())


@cases.case
def seed_linear_network(lib):
    """Seed 003: the weights and the result that its text shows."""
    net = lib.nn.Linear(2, 2)
    return (isinstance(net, lib.nn.Module), net.weight, net(lib.tensor([0.1, 0.2])))


@cases.case
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
        for net, shape in ((Net(), (10,)), (CNN(), (1, 1, 28, 28)), (RNN(), (10, 64)))
    ]
