# ruff: noqa: E501  (an action is one line)
"""Actions that a program can take on a module between two calls, a line each.

An action is the line itself. It sees `net` (see module_net.py), `torch`, `nn`,
`F`, `draw(*shape)` for values, and `later(f)` for what has to be undone after
the run. `linear()`, `block()`, `tanh()` and so on give layers that were made
before the first call: whoever notices that modules are made notices nothing.
"""

from __future__ import annotations

_CHILDREN = """
net.seq.append(linear())
net.seq.append(tanh())
net.seq.append(nn.Tanh())
net.seq.append(nn.Linear(6, 6)); filled(net.seq[-1])
net.seq.extend([tanh(), linear()])
net.seq.extend(nn.Sequential(tanh()))
net.seq.insert(0, linear())
net.seq.insert(1, relu())
net.seq.pop(1)
net.seq.pop(-1)
net.seq[0] = linear()
net.seq[-1] = tanh()
net.seq[1] = nn.Sequential(linear(), tanh())
del net.seq[0]
del net.seq[1:]
net.seq += nn.Sequential(linear())
net.seq *= 2
net.seq = net.seq + nn.Sequential(linear())
net.seq = net.seq[::2]
net.seq = nn.Sequential(*reversed(list(net.seq)))
net.seq = nn.Identity()
net.seq.add_module("tail", linear())
net.seq.add_module("1", relu())
net.seq.register_module("tail", sigmoid())
net.seq._modules["1"] = relu()
net.seq._modules["tail"] = linear()
net.seq._modules.pop("1")
net.seq._modules.popitem()
net.seq._modules.update({"1": sigmoid()})
net.seq._modules.update(tail=linear())
net.seq._modules.setdefault("tail", linear())
net.seq._modules.clear()
net.seq._modules.__setitem__("1", relu())
net.seq._modules.__delitem__("1")
net.seq._modules |= {"1": relu()}
net.seq._modules = {"0": linear()}
net.seq._modules = type(net.seq._modules)(net.seq._modules); net.seq._modules["1"] = relu()
dict.__setitem__(net.seq._modules, "1", relu())
net.__dict__["_modules"]["seq"] = tanh()
setattr(net.seq, "1", relu())
delattr(net.seq, "1")
net.blocks.append(block())
net.blocks.append(linear())
net.blocks.extend([block(), tanh()])
net.blocks.insert(0, block())
net.blocks.pop(0)
net.blocks.pop()
net.blocks[0] = block()
net.blocks[-1] = tanh()
net.blocks[0], net.blocks[1] = net.blocks[1], net.blocks[0]
net.blocks[0].inner = linear()
net.blocks[0].inner = nn.Sequential(linear(), tanh())
net.blocks[1] = net.blocks[0]
del net.blocks[0]
del net.blocks[:]
net.blocks += [block()]
net.blocks = nn.ModuleList([block()])
net.blocks = net.blocks[1:]
net.blocks = nn.ModuleList(list(net.blocks) * 2)
net.table["c"] = linear()
net.table["a"] = block()
net.table["a"], net.table["b"] = net.table["b"], net.table["a"]
net.table.update({"c": linear(), "a": tanh()})
net.table.update([("d", linear())])
net.table.pop("a")
net.table.pop("b")
net.table.clear()
net.table.add_module("c", block())
del net.table["a"]
net.table = nn.ModuleDict({"z": linear()})
net.table.b.gain = nn.Parameter(draw(6))
net.extra = linear()
net.extra = block()
net.add_module("late", linear()); net.extra = net.late
net.register_module("late", tanh()); net.extra = net.late
net.stem = linear()
net.stem = nn.Sequential(linear(), tanh())
net.stem = nn.Identity()
net.stem = net.seq[0]
net._modules["stem"] = linear()
net._modules.update(stem=block())
net.norm = nn.Identity()
net.norm = nn.LayerNorm(6, elementwise_affine=False)
net.batch = nn.BatchNorm1d(6, track_running_stats=False)
net.batch = nn.BatchNorm1d(6, affine=False)
net.batch = nn.Identity()
net.drop = nn.Identity()
net.drop = nn.Hardtanh()
net.conv = filled(nn.Conv1d(1, 1, 5, padding=2))
net.conv = filled(nn.Conv1d(1, 1, 3, padding=1, bias=False))
net.stem = copy.deepcopy(net.stem)
net.blocks = copy.deepcopy(net.blocks)
net.seq = copy.copy(net.seq); net.seq.append(tanh())
net.stem, net.layers[0] = net.layers[0], net.stem
net.set_submodule("blocks.0.inner", linear())
"""

_ATTRIBUTES = """
net.factor = 2.5
net.factor = -0.0
net.factor = 2
net.factor = draw(6)
net.factor = torch.tensor(2.0)
net.factor += 1
net.count = 5
net.count = True
net.mode = "sigmoid"
net.flag = False
net.flag = None
net.options["scale"] = 2.0
net.options["inner"]["k"] = 1.5
net.options["inner"] = {"k": 2.5}
net.options.update(scale=0.5)
net.options = {"scale": 3.0, "inner": {"k": 0.0}}
net.options |= {"scale": 0.25}
net.options["unused"] = 1
net.coefficients.append(1.5)
net.coefficients.extend([1.0, 2.0])
net.coefficients[0] = 3.0
net.coefficients.pop()
net.coefficients.clear()
net.coefficients[:] = [2.0]
net.coefficients += [1.0]
net.coefficients = []
net.coefficients = (1.0, 2.0, 3.0)
net.pair = (2.0, 1.0)
net.names.add("two")
net.names = set()
net.constant = draw(6)
net.constant = draw(12)[::2]
net.constant.mul_(2)
net.constant[0] = 5.0
net.constant[1:].fill_(2.0)
net.constant.data = draw(6)
net.constant.data = draw(12)[::2]
net.constant = net.constant.double()
net.constant = nn.Parameter(draw(6))
net.constant.requires_grad_()
net.tensors.append(draw(6))
net.tensors[0] = draw(6)
net.tensors[0].add_(1)
net.tensors[0].data = draw(6)
net.tensors.pop()
net.tensors.clear()
net.tensors = [draw(6)]
net.tensors.reverse()
net.mapped["t"] = draw(6)
net.mapped["t"].neg_()
net.mapped = {"t": draw(6)}
net.mapped["t"] = 0.5
net.holder.scale = 1.5
net.holder.tensor = draw(6)
net.holder.tensor.add_(1)
net.holder.tensor.data = draw(12)[::2]
net.holder.module = linear()
net.holder.module.weight = nn.Parameter(draw(6, 6))
net.holder.module.weight.data = net.holder.module.weight.data.t()
net.holder.module.bias = None
net.holder.items.append(2.0)
net.holder.items[0] = -1.0
net.holder.items = [0.5, 0.5]
net.holder = Holder(scale=0.1, tensor=draw(6), module=linear(), items=[])
net.holder.__dict__["scale"] = 0.75
vars(net.holder).update(scale=0.375)
net.__dict__["factor"] = 0.5
vars(net).update(factor=0.75)
object.__setattr__(net, "factor", 0.625)
del net.factor; net.factor = 3.5
type(net).factor = 9.0; del net.factor
net.hidden["m"] = linear()
net.hidden["m"].weight.data.mul_(2)
net.hidden["m"].weight.data = net.hidden["m"].weight.data.t()
net.hidden["m"].bias = None
net.hidden = {"m": tanh()}
net.hidden["m"] = lambda h: h * 2
net.layers.append(linear())
net.layers[0] = linear()
net.layers[0].weight = nn.Parameter(draw(6, 6))
net.layers.clear()
net.layers = [linear(), linear()]
net.layers.append(torch.sigmoid)
net.act = torch.sigmoid
net.act = lambda x: torch.tanh(x) * 2
net.act = relu()
net.act = F.relu
type(net).level = 0.5
net.level = 0.75
type(net.blocks[0]).steepness = 0.5
net.blocks[0].steepness = 0.25
net.blocks[0].slope = 2.0
net.blocks[1].slope *= 2
net.drop.p = 1.0
net.batch.momentum = 0.5
net.batch.momentum = None
net.batch.eps = 0.1
net.batch.track_running_stats = False
net.norm.eps = 0.5
net.norm.normalized_shape = [6]
net.conv.padding = (2,); net.conv.dilation = (2,)
net.conv.padding_mode = "circular"
net.conv.padding_mode = "reflect"
module_net.OFFSET = 0.5; later(lambda: setattr(module_net, "OFFSET", 0.125))
module_net.OFFSET = draw(6); later(lambda: setattr(module_net, "OFFSET", 0.125))
module_net.torch = Lookalike(); later(lambda: setattr(module_net, "torch", torch))
"""

# P: the path of a parameter, O its owner, N its name, S its shape.
_PARAMETERS = """
P.data = draw(*S)
P.data = P.data.clone()
P.data = P.data * 2
P.data.mul_(0.5)
P.data[0] = 0.25
P.data.fill_(0.125)
P.data = strided(draw(*S))
P.data = draw(2, *S)[1]
P.data = P.data.flip(0)
P.data = P.data.double()
P.detach().mul_(2)
with torch.no_grad(): P.add_(0.5)
with torch.no_grad(): P.copy_(draw(*S))
with torch.no_grad(): P[0] = 1.0
with torch.no_grad(): P.view(-1)[0] = 1.0
with torch.no_grad(): P.zero_()
with torch.no_grad(): torch.add(draw(*S), 1, out=P)
with torch.inference_mode(): P.mul_(2)
P.requires_grad_(False)
P.requires_grad = False
P.grad = torch.ones(*S)
P.grad = None
P.register_hook(lambda grad: grad * 2)
P.register_hook(lambda grad: None).remove()
later(P.register_hook(lambda grad: grad + 1).remove)
P.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(3))
O.N = nn.Parameter(draw(*S))
O.N = nn.Parameter(draw(*S), requires_grad=False)
O.N = nn.Parameter(strided(draw(*S)))
O.N = nn.Parameter(draw(*S, dtype=torch.float64))
O._parameters["N"] = nn.Parameter(draw(*S))
O._parameters["N"] = draw(*S)
O._parameters.update(N=nn.Parameter(draw(*S)))
O.__dict__["_parameters"]["N"] = nn.Parameter(draw(*S))
O.register_parameter("N", nn.Parameter(draw(*S)))
dict.__setitem__(O._parameters, "N", nn.Parameter(draw(*S)))
O.N.data, O.N.data = draw(*S), strided(draw(*S))
del O.N; O.N = draw(*S)
del O.N; O.register_buffer("N", draw(*S))
nn.init.constant_(P, 0.25)
torch.set_grad_enabled(True); P.data.uniform_(0.1, 0.1)
P.data.set_(draw(*S))
P.untyped_storage().resize_(0)
P.data.resize_(3)
"""

_WEIGHTS = (
    ("net.stem", "weight", (6, 6)),
    ("net.gain", "", (6,)),
    ("net.blocks[0].inner", "bias", (6,)),
)

_MATRICES = """
net.stem.weight.data = net.stem.weight.data.t()
net.square.data = net.square.data.t()
net.square.data = net.square.data.t().contiguous()
net.square.data = draw(12, 12)[::2, ::2]
net.square.data = draw(8, 6)[2:]
net.square.data = net.square.data[torch.tensor([1, 0, 2, 3, 4, 5])]
with torch.no_grad(): net.square.t_()
with torch.no_grad(): net.square.transpose_(0, 1)
with torch.no_grad(): net.square.set_(draw(6, 6).t())
net.square.data.t_()
net.square.data = net.square.data.as_strided((6, 6), (1, 6))
net.conv.weight.data = draw(1, 3, 1).transpose(1, 2)
net.seq[0].weight = net.seq[2].weight
net.seq[0].weight.data = net.seq[2].weight.data
net.blocks[0].inner.weight = net.blocks[1].inner.weight
net.stem.weight = net.square
net.stem.weight.data, net.square.data = net.square.data, net.stem.weight.data
net.stem.weight, net.seq[0].weight = net.seq[0].weight, net.stem.weight
net.stem.bias = None
net.stem.register_parameter("bias", None)
net.stem._parameters["bias"] = None
net.stem._parameters.pop("bias"); net.stem.bias = None
net.seq[2].bias = nn.Parameter(draw(6))
net.seq[2].register_parameter("bias", nn.Parameter(draw(6)))
net.seq[2]._parameters["bias"] = nn.Parameter(draw(6))
net.norm.weight = None
net.norm.bias = None
net.conv.bias = None
net.spare = nn.Parameter(draw(6))
net.register_parameter("spare", nn.Parameter(draw(6)))
net._parameters["spare"] = nn.Parameter(draw(6))
net._parameters["other"] = nn.Parameter(draw(6))
net.weights.append(draw(6))
net.weights.extend([draw(6), draw(6)])
net.weights[0] = nn.Parameter(draw(6))
net.weights[0] = draw(6)
net.weights += [draw(6)]
net.weights = nn.ParameterList([draw(6)])
net.weights[0].data.mul_(2)
net.named["w"] = draw(6)
net.named["u"] = nn.Parameter(draw(6))
net.named.update({"u": draw(6)})
net.named.pop("u")
net.named.clear()
net.named.setdefault("w", draw(6))
del net.named["u"]
nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(net.parameters()) * 0.5, net.parameters())
nn.utils.vector_to_parameters(draw(36), [net.square])
torch.neg(net.square.detach(), out=net.square.data)
nn.utils.clip_grad_norm_(net.parameters(), 0.1)
[p.data.mul_(0.5) for p in net.parameters()]
torch.optim.SGD(net.parameters(), lr=0.1).step()
torch.optim.Adam(net.parameters(), lr=0.01).step()
"""

_BUFFERS = """
net.shift = draw(6)
net.shift = draw(12)[::2]
net.shift = draw(1)
net.shift = draw(4, 6)
net.shift = torch.ones(6, dtype=torch.int64)
net.shift = nn.Buffer(draw(6))
net.shift.add_(1)
net.shift[0] = 2.0
net.shift.data = draw(6)
net.shift.data = draw(12)[::2]
net.shift.data = net.shift.data.expand(6)
net.shift.requires_grad_()
net._buffers["shift"] = draw(6)
net._buffers.update(shift=draw(6))
net._buffers["new"] = draw(6)
dict.__setitem__(net._buffers, "shift", draw(6))
net.register_buffer("shift", draw(6))
net.register_buffer("mask", draw(6))
net.register_buffer("other", draw(6))
del net.shift; net.shift = draw(6)
del net.shift; net.shift = 0.5
del net.shift; net.register_parameter("shift", nn.Parameter(draw(6)))
net.mask.zero_()
net.mask = net.shift
net.shift = net.gain.detach()
net.blocks[0].shift = draw(6)
net.blocks[0].shift.mul_(3)
net.blocks[0]._buffers["shift"] = draw(6)
net.batch.running_mean.fill_(0.5)
net.batch.running_mean = draw(6)
net.batch.running_var = draw(6).abs() + 1
net.batch.running_var.data = draw(12).abs()[::2] + 1
net.batch.running_mean = None; net.batch.running_var = None
net.batch.num_batches_tracked.fill_(7)
net.batch.reset_running_stats()
net.batch.reset_parameters()
"""

_WHOLE = """
net.train()
net.eval()
net.eval(); net.train()
net.training = False
net.batch.eval()
net.batch.training = False
net.drop.train(False)
net.blocks.eval()
net.requires_grad_(False)
net.requires_grad_(False); net.requires_grad_(True)
net.stem.requires_grad_(False)
net.zero_grad()
net.zero_grad(set_to_none=False)
net.double()
net.double(); net.float()
net.half(); net.float()
net.bfloat16(); net.float()
net.to(torch.float64)
net.to("cpu")
net.stem.double(); net.stem.float()
net.share_memory()
net.apply(lambda m: None)
net.apply(lambda m: m.weight.data.mul_(0.5) if isinstance(m, nn.Linear) else None)
net._apply(lambda t: t * 2)
net._apply(lambda t: t.clone())
net.stem.reset_parameters(); filled(net.stem)
net.load_state_dict({k: v * 0.5 for k, v in net.state_dict().items()})
net.load_state_dict({k: v.clone() for k, v in net.state_dict().items()}, assign=True)
net.load_state_dict({k: v.double() for k, v in net.state_dict().items()}, assign=True)
net.load_state_dict({"gain": draw(6)}, strict=False)
net.stem.load_state_dict({"weight": draw(6, 6), "bias": draw(6)})
net.state_dict()["gain"].mul_(2)
net.state_dict(keep_vars=True)["gain"].data = draw(6)
net.stem.__setstate__({"_parameters": {"weight": nn.Parameter(draw(6, 6)), "bias": None}})
net.stem.__dict__.update(linear().__dict__)
net.stem.__class__ = Doubled
net.blocks[0].__class__ = type("Other", (type(net.blocks[0]),), {"forward": lambda self, x: x * 2})
torch.set_default_dtype(torch.float64); later(lambda: torch.set_default_dtype(torch.float32))
torch.manual_seed(5)
torch.set_num_threads(1); later(lambda n=torch.get_num_threads(): torch.set_num_threads(n))
torch.set_grad_enabled(False); later(lambda: torch.set_grad_enabled(True))
gc.collect()
repr(net), list(net.named_modules()), net.state_dict()
copy.deepcopy(net.stem)(draw(4, 6))
net.stem(draw(4, 6))
net.seq(draw(3, 6))
net(draw(4, 6)), net(draw(2, 6))
torch.nn.utils.parameters_to_vector(net.parameters())
"""

# M: the path of a module.
_HOOKS = """
later(M.register_forward_hook(lambda m, args, out: out * 2).remove)
later(M.register_forward_hook(lambda m, args, out: None).remove)
later(M.register_forward_pre_hook(lambda m, args: (args[0] * 2, *args[1:])).remove)
later(M.register_forward_pre_hook(lambda m, args, kw: (args, kw), with_kwargs=True).remove)
later(M.register_forward_hook(lambda m, a, kw, out: out + 1, with_kwargs=True).remove)
later(M.register_forward_hook(lambda m, a, out: out - 1, prepend=True).remove)
later(M.register_forward_hook(lambda m, a, out: out * 3, always_call=True).remove)
later(M.register_full_backward_hook(lambda m, gi, go: tuple(None if g is None else g * 2 for g in gi)).remove)
later(M.register_full_backward_pre_hook(lambda m, go: tuple(g * 2 for g in go)).remove)
M.register_forward_hook(lambda m, args, out: out * 2).remove()
M._forward_hooks[99] = lambda m, args, out: out * 0.5
M._forward_pre_hooks[99] = lambda m, args: (args[0] + 1, *args[1:])
M._forward_hooks.clear()
M._forward_hooks = type(M._forward_hooks)({7: lambda m, args, out: out - 2})
"""
_HOOKED = ("net", "net.stem", "net.blocks[0].inner", "net.hidden['m']")

_CODE = """
net.stem.forward = lambda x: x * 2
net.seq.forward = lambda x: torch.tanh(x)
net.blocks[0].forward = types.MethodType(lambda self, x: self.inner(x), net.blocks[0])
net.hidden["m"].forward = lambda x: x - 1
net.holder.module.forward = lambda x: x + 1
net._plain = lambda h: h * 2
net.stem.__call__ = lambda x: x
type(net)._plain = lambda self, h: h * 3
type(net).forward = replaced(type(net).forward)
type(net.blocks[0]).forward = lambda self, x: x * 3
type(net.blocks[0]).__call__ = lambda self, x: x - 3
later(torch.nn.modules.module.register_module_forward_hook(lambda m, a, out: out * 1.5 if isinstance(m, nn.Linear) else None).remove)
later(torch.nn.modules.module.register_module_forward_pre_hook(lambda m, a: (a[0] * 0.5,) if isinstance(m, nn.LayerNorm) else None).remove)
patch(nn.Linear, "forward", lambda self, x: x * 0.5)
patch(nn.Tanh, "forward", lambda self, x: x)
patch(F, "linear", lambda x, w, b=None: x @ w.t())
patch(F, "layer_norm", lambda x, *rest: x * 2)
patch(torch, "tanh", torch.sigmoid)
"""


def _expanded() -> list[str]:
    """All actions, templates filled in."""
    plain = (_CHILDREN, _ATTRIBUTES, _MATRICES, _BUFFERS, _WHOLE, _CODE)
    found = [line for text in plain for line in text.strip().splitlines()]
    for owner, name, shape in _WEIGHTS:
        if not name:
            owner, _, name = owner.rpartition(".")
        for line in _PARAMETERS.strip().splitlines():
            line = line.replace("O.N", f"{owner}.{name}")
            line = line.replace("*S", "*" + repr(shape))
            line = _word(_word(line, "P", f"{owner}.{name}"), "O", owner)
            found.append(_word(line, "N", name))
    for line in _HOOKS.strip().splitlines():
        found += [_word(line, "M", path) for path in _HOOKED]
    return list(dict.fromkeys(found))


def _word(text: str, word: str, new: str) -> str:
    import re

    return re.sub(rf"\b{word}\b", lambda _: new, text)


#: Every action, in the order above.
ACTIONS = _expanded()

# Arguments of a call; `x(*shape)` is a leaf that requires grad where gradients
# are compared.
CALLS = [
    "(x(4, 6),)",
    "(x(2, 6),)",
    "(x(1, 6).expand(4, 6),)",
    "(x(6, 4).t(),)",
    "(x(8, 6)[::2],)",
    "(x(4, 12)[:, ::2],)",
    "(x(4, 6), x(4, 6))",
    "(x(4, 6), x(6))",
    "(same := x(4, 6), same)",
    "(same := x(4, 6), same[:1])",
    "(same := x(4, 6), same.view(4, 6))",
    "(same := x(4, 6), same.detach())",
    "(x(4, 6), net.shift)",
    "(x(4, 6), net.gain)",
    "(x(4, 6), net.gain.detach())",
    "(net.square[:4],)",
    "(net.square.detach()[:4],)",
    "(net.square.data,)",
    "(x(4, 6), x(4, 6).double())",
    "(x(4, 6), 2)",
    "(x(4, 6), 0.5)",
    "(x(4, 6), None)",
    "(x(4, 6), x(4, 6), dict(power=2))",
    "(x(4, 6), x(4, 6), dict(power=3.0))",
    "(x(4, 6), dict(y=x(4, 6)))",
    "(x(4, 6).detach(),)",
    "(x(4, 6).double(),)",
    "(x(4, 6).half(),)",
    "(x(5, 5),)",
    "(x(0, 6),)",
    "(x(6),)",
    "()",
]
