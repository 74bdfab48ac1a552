# ruff: noqa: E501  (a case is one line)
"""Cases of autograd: graphs, in-place writes, views, hooks, errors."""

from __future__ import annotations

from core_scope import case, cases

_TEXTS = """
a = leaf(3); (a * a).sum().backward(); a.grad
a = leaf(3); b = a * 2; (b.is_leaf, a.is_leaf, b.requires_grad, b.grad_fn.name(), a.grad_fn, b.grad)
a = leaf(3); a.sum().backward(); a.sum().backward(); a.grad
a = leaf(3); b = (a * a).sum(); b.backward(); b.backward()
a = leaf(3); b = a.exp().sum(); b.backward(retain_graph=True); b.backward(); a.grad
a = leaf(3); b = a.sum(); b.backward(); b.backward(); a.grad
a = leaf(3); (a * 2).backward()
a = leaf(3); (a * 2).backward(x(2).double())
a = leaf(3); (a * 2).backward(x(3)); a.grad.dtype
a = leaf(3); (a * 2).backward(torch.ones(3, dtype=torch.float64)); a.grad
x(3).sum().backward()
tensor([1]).backward()
a = leaf(3); b = a * a; c = b.exp().sum(); b.add_(1); c.backward()
a = leaf(3); b = a.exp(); c = b.sum(); b.add_(1); c.backward()
a = leaf(3); b = a * 2; c = (b * b).sum(); b.mul_(2); c.backward()
a = leaf(3); b = a * 2; c = (b * b).sum(); b[0] = 1; c.backward()
a = leaf(3); b = a * 2; c = b.sigmoid(); c.zero_(); c.sum().backward()
a = leaf(3); b = torch.ones(3).double(); c = (a * b).sum(); b.add_(1); c.backward()
a = leaf(3); b = (a * 2).detach(); c = (a * b).sum(); b.add_(1); c.backward()
a = leaf(2, 2); b = a.t() @ a; a.data.add_(1); b.sum().backward(); a.grad
a = leaf(3); a.add_(1)
a = leaf(3); a[0] = 1
a = leaf(3); a.view(3).add_(1)
a = leaf(3); a[:2].zero_()
a = leaf(3); a += 1
a = leaf(3); a.zero_()
a = leaf(3); a.copy_(x(3).double())
a = leaf(3); a.fill_(1)
a = leaf(3); a.normal_()
a = leaf(3); a.requires_grad_(False); a.add_(1); a
a = leaf(3); r = None; torch.no_grad().__enter__(); a.add_(1); torch.set_grad_enabled(True); (a, a.requires_grad, a._version)
a = x(3); a.add_(1); a.mul_(2); a[0] = 1; v = a.view(3); v.add_(1); (a._version, v._version, a.detach()._version, a.data._version)
a = leaf(3); b = a * 2; b.add_(1); b.mul_(3); b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a * 1; b[0] = 5; b.sum().backward(); (a.grad, b.grad_fn.name(), b)
a = leaf(3); b = a * 1; b[1:].mul_(2); b.sum().backward(); a.grad
a = leaf(3); b = a * 1; b[1:] *= 2; b[0] *= 3; b.sum().backward(); a.grad
a = leaf(3); v = leaf(1, start=5); b = a * 1; b[1:2] = v; (b * b).sum().backward(); (a.grad, v.grad)
a = leaf(2, 3); v = leaf(3, start=5); b = a * 1; b[0] = v; b[:, 1] = v[:2]; (b * b).sum().backward(); (a.grad, v.grad)
v = leaf(3); b = torch.zeros(2, 3, dtype=torch.float64); b[1] = v; (b * b).sum().backward(); (v.grad, b.requires_grad, b.grad_fn.name())
v = leaf(3); b = torch.zeros(2, 3, dtype=torch.float64); c = b[1]; c.copy_(v); (b.requires_grad, c.requires_grad, b.grad_fn.name(), c.grad_fn.name())
v = leaf(3); b = torch.zeros(2, 3, dtype=torch.float64); w = b.view(6); b[1] = v; (w * w).sum().backward(); (v.grad, w.grad_fn.name())
a = leaf(4); b = a * 1; c = b.view(2, 2); d = c[0]; d.mul_(2); c.mul_(3); b.mul_(b.detach()); c.sum().backward(); (a.grad, c.grad_fn.name(), d.grad_fn.name())
a = leaf(4); b = a * 1; c = b.view(2, 2).t(); c.mul_(torch.arange(4.).view(2, 2)); b.sum().backward(); a.grad
a = leaf(4); b = a * 1; c = b[::2]; c.exp_(); (b * b).sum().backward(); a.grad
a = leaf(3); b = a * 1; c = b.view(3); b.add_(1); (c.grad_fn.name(), c._version, c._base is b)
a = leaf(3); b = a * 1; c = b.expand(2, 3); c.sum().backward(); a.grad
a = leaf(3); b = a.unbind(); b[0].add_(1)
a = leaf(3); b = (a * 1).unbind(); b[0].add_(1)
a = leaf(4); b = (a * 1).split(2); b[0].mul_(2)
a = leaf(4); b = (a * 1).chunk(2); (b[0] * b[1]).sum().backward(); a.grad
a = leaf(4); b = a * 1; c = b.split(2); b.mul_(2); c[0].sum().backward(); a.grad
a = leaf(3); b = a.detach(); b.add_(1); (a, b.requires_grad, a._version)
a = leaf(3); b = a * 1; b.detach_(); (b.requires_grad, b.is_leaf, b.grad_fn)
a = leaf(3); b = (a * 1).view(3); b.detach_()
torch.ones(2, 2).t().detach_()
a = leaf(3); a.requires_grad = False; a.requires_grad
a = leaf(3); b = a * 1; b.requires_grad = False
a = leaf(3); b = a * 1; b.requires_grad_(True).requires_grad
tensor([1, 2]).requires_grad_()
a = tensor([1]); a.requires_grad = True
a = x(2); a.requires_grad = 1
a = leaf(2); a.grad = x(2).double(); a.grad
a = leaf(2); a.grad = x(3).double()
a = leaf(2); a.grad = x(2)
a = leaf(2); a.grad = 3
a = leaf(2); a.grad = a
a = leaf(2); a.grad = x(2).double(); a.grad = None; a.grad
a = leaf(2); a.sum().backward(); g = a.grad; a.sum().backward(); (g is a.grad, g)
a = leaf(2); b = a * 2; b.retain_grad(); b.sum().backward(); (b.grad, b.retains_grad, a.retains_grad)
a = leaf(2); a.retain_grad(); a.sum().backward(); a.grad
x(2).retain_grad()
a = leaf(2); b = a * 2; b.retain_grad(); b.mul_(2); b.sum().backward(); b.grad
a = leaf(2); b = a * 2; b.sum().backward(); b.grad
a, b = leaf(2), leaf(2); torch.autograd.grad((a * b).sum(), [a, b])
a, b = leaf(2), leaf(2); torch.autograd.grad((a * 2).sum(), [a, b])
a, b = leaf(2), leaf(2); torch.autograd.grad((a * 2).sum(), [a, b], allow_unused=True)
a, b = leaf(2), leaf(2); torch.autograd.grad((a * 2).sum(), [a, b], allow_unused=True, materialize_grads=True)
a = leaf(2); torch.autograd.grad(a * 2, a, torch.ones(2).double())
a = leaf(2); torch.autograd.grad(a * 2, a)
a = leaf(2); torch.autograd.grad((a * 2).sum(), x(2))
a = leaf(2); torch.autograd.grad((a * 2).sum(), 3)
a = leaf(2); torch.autograd.grad((a * a).sum(), a)[0], a.grad
a = leaf(2); b = a * 2; torch.autograd.grad((b * b).sum(), [b, a])
a = leaf(2); torch.autograd.grad([a.sum(), (a * a).sum()], a)
a = leaf(2); g = torch.autograd.grad((a ** 3).sum(), a, create_graph=True)[0]; torch.autograd.grad(g.sum(), a)
a = leaf(2); g = torch.autograd.grad((a ** 3).sum(), a, create_graph=True)[0]; h = torch.autograd.grad(g.sum(), a, create_graph=True)[0]; torch.autograd.grad(h.sum(), a)
a = leaf(2); (a ** 3).sum().backward(create_graph=True); a.grad.requires_grad
a = leaf(2); b = a.exp().sum(); torch.autograd.grad(b, a); torch.autograd.grad(b, a)
a = leaf(2); b = a.exp().sum(); torch.autograd.grad(b, a, retain_graph=True); torch.autograd.grad(b, a)
a, b = leaf(2), leaf(2); torch.autograd.backward([(a * b).sum(), a.sum()]); (a.grad, b.grad)
a, b = leaf(2), leaf(2); torch.autograd.backward((a * b).sum(), inputs=[a]); (a.grad, b.grad)
a = leaf(2); torch.autograd.backward([a * 2], [None])
a = leaf(2); torch.autograd.backward([a * 2], [torch.ones(2).double(), None])
a, b = leaf(2), leaf(2); (a * b).sum().backward(inputs=a); (a.grad, b.grad)
a = leaf(2); (a * 2).sum().backward(inputs=[])
a = leaf(2); seen = []; a.register_hook(lambda g: seen.append(g.clone())); (a * 2).sum().backward(); (seen, a.grad)
a = leaf(2); a.register_hook(lambda g: g * 3); (a * 2).sum().backward(); a.grad
a = leaf(2); b = a * 2; b.register_hook(lambda g: g * 3); b.register_hook(lambda g: g + 1); b.sum().backward(); a.grad
a = leaf(2); h = a.register_hook(lambda g: g * 3); h.remove(); (a * 2).sum().backward(); a.grad
a = leaf(2); b = a * 2; h = b.register_hook(lambda g: g * 3); h.remove(); b.sum().backward(); a.grad
a = leaf(2); a.register_hook(lambda g: 3); (a * 2).sum().backward()
a = leaf(2); a.register_hook(lambda g: 1 / 0); (a * 2).sum().backward()
x(2).register_hook(print)
a = leaf(2); seen = []; b = a * 2; b.grad_fn.register_hook(lambda i, o: seen.append((i, o))); b.sum().backward(); seen
a = leaf(2); seen = []; b = a * 2; b.grad_fn.register_prehook(lambda g: seen.append(g)); b.sum().backward(); seen
a = leaf(2); b = a * 2; b.grad_fn.register_prehook(lambda g: (g[0] * 5,)); b.sum().backward(); a.grad
a = leaf(2); b = a * 2; b.grad_fn.register_hook(lambda i, o: (i[0] * 5,) + i[1:]); b.sum().backward(); a.grad
a = leaf(2); seen = []; a.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.clone())); (a * 2).sum().backward(); seen
a = leaf(2); h = a.register_post_accumulate_grad_hook(lambda t: setattr(t, 'grad', None)); (a * 2).sum().backward(); g = a.grad; h.remove(); (a * 2).sum().backward(); (g, a.grad)
a = leaf(2); (a * 1).register_post_accumulate_grad_hook(print)
x(2).register_post_accumulate_grad_hook(print)
a = leaf(2); b = a * 2 + 1; (b.grad_fn.next_functions[0][0].name(), b.grad_fn.next_functions[0][1], len(b.grad_fn.next_functions), b.grad_fn.next_functions[0][0].next_functions[0][0].name())
a = leaf(2); b = a * a; [(f.name(), i) for f, i in b.grad_fn.next_functions]
a = leaf(2); b = a * x(2).double(); [(f and f.name(), i) for f, i in b.grad_fn.next_functions]
a = leaf(2); b = a * a; b.grad_fn.next_functions[0][0].variable is a
a = leaf(2); (a * 2).grad_fn == (a * 2).grad_fn
a = leaf(2); b = a * 2; b.grad_fn == b.grad_fn, hash(b.grad_fn) == hash(b.grad_fn)
a = leaf(4); b = a.split(2); [(t.grad_fn.name(), t.output_nr) for t in b]
a = leaf(2); (a.output_nr, (a * 2).output_nr)
a = leaf(2); b = a.max(); b.backward(); a.grad
a = leaf(2); b = a[0] + a[1]; b.backward(); a.grad
a = leaf(2); r = []; ctx = torch.no_grad(); ctx.__enter__(); r.append((a * 2).requires_grad); ctx.__exit__(None, None, None); r.append((a * 2).requires_grad)
f = torch.no_grad()(lambda a: a * 2); f(leaf(2)).requires_grad
f = torch.enable_grad()(lambda a: a * 2); c = torch.no_grad(); c.__enter__(); r = f(leaf(2)).requires_grad; c.__exit__(None, None, None)
torch.set_grad_enabled(False); r = [torch.is_grad_enabled(), (leaf(2) * 2).requires_grad]; torch.set_grad_enabled(True); r.append(torch.is_grad_enabled())
c = torch.set_grad_enabled(False); c.__enter__(); r = [torch.is_grad_enabled()]; c.__exit__(None, None, None); r.append(torch.is_grad_enabled())
c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); b = leaf(2) * 2; r = [torch.is_inference_mode_enabled(), torch.is_grad_enabled(), b.requires_grad]; c.__exit__(None, None, None); r += [torch.is_inference_mode_enabled(), a.is_inference()]; r
c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); (a * leaf(2)).sum()
c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); a.add_(1)
c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); a.requires_grad_()
c = torch.inference_mode(); c.__enter__(); a = torch.ones(2); c.__exit__(None, None, None); a._version
torch.inference_mode(False)(lambda: torch.is_inference_mode_enabled())()
a = leaf(2); b = torch.where(tensor([True, False]), a, 0.); b.sum().backward(); a.grad
a = leaf(2); b = a.to(torch.float32); b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(2); b = a.clone(); b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(2, 1); b = a + leaf(3); b.sum().backward(); a.grad
a = leaf(2); b = a.float().half().double(); b.sum().backward(); a.grad
a = leaf(2); b = torch.cat([a, a * 2]); b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a[tensor([0, 0, 2])]; b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a[a > 0]; b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a * 1; b[tensor([0, 2])] = 7.; b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a * 1; b[b > 0] = 0.; b.sum().backward(); (a.grad, b.grad_fn.name())
a = leaf(3); b = a * 1; b.masked_fill_(b > 0, 3.); b.sum().backward(); a.grad
a = leaf(()) if False else tensor(2., requires_grad=True); (a * a * a).backward(); a.grad
a = tensor([1+2j], requires_grad=True); (a * a.conj()).real.sum().backward(); a.grad
a = tensor([1+2j], requires_grad=True); a.abs().sum().backward(); a.grad
a = tensor([1+2j], requires_grad=True); (a * a).sum().backward()
a = tensor([1.], requires_grad=True); (a * (1+2j)).real.sum().backward(); a.grad
a = tensor([1.], requires_grad=True); (a * (1+2j)).imag.sum().backward(); a.grad
a = tensor([1.], requires_grad=True, dtype=torch.float32); b = a.double() * 2; b.backward(); a.grad
a = leaf(2); a.grad_fn is None, a.detach().is_leaf, a.data.requires_grad
a = leaf(2); a.numpy()
a = leaf(2); a.detach().numpy().shape, a.tolist() == a.detach().tolist(), a.numpy(force=True).shape
a = leaf(2); np.asarray(a)
a = tensor(1., requires_grad=True); float(a * 2), int(a), bool(a), (a * 2).item()
a = leaf(2); copy.deepcopy(a).requires_grad, copy.deepcopy(a).is_leaf, copy.copy(a).requires_grad
a = leaf(2); copy.deepcopy(a * 2)
a = leaf(2); b = pickle.loads(pickle.dumps(a)); (b, b.requires_grad)
a = leaf(2); pickle.loads(pickle.dumps(a.detach()))
a = leaf(2); print_ = str(a * 2); print_
a = leaf(2); b = a * 2; b.sum().backward(); a.grad.zero_(); a.grad
a = leaf(2); out = torch.empty(2, dtype=torch.float64); torch.add(a, 1, out=out)
out = leaf(2); torch.add(x(2).double(), 1, out=out)
a = leaf(2); a.backward(torch.ones(2).double()); a.grad
a = leaf(2); a.sum().backward(gradient=tensor(3.).double()); a.grad
a = leaf(2); a.sum().backward(tensor([3.]).double()); a.grad
a = leaf(2); a.sum().backward(3)
a = leaf(2); b = a.expand(3, 2); b.retain_grad(); b.sum().backward(); (b.grad, a.grad)
a = leaf(2); b = a * 2; c = b.view(1, 2); d = c.squeeze(0); d.add_(b.detach()); d.sum().backward(); a.grad
a = leaf(2, 2); torch.nn.functional.relu(a, inplace=True)
a = leaf(2, 2); b = torch.nn.functional.relu(a * 1, inplace=True); b.sum().backward(); a.grad
a = leaf(2); b = a.sqrt(); c = b.tanh_(); c.sum().backward()
a = leaf(2); b = a * 1; b.sigmoid_(); b.sum().backward(); a.grad
a = leaf(2); b = a * 1; b.exp_(); b.mul_(2); b.sum().backward()
a = leaf(2); b = a * 1; b.clamp_(0, 0.5); b.sum().backward(); a.grad
a = leaf(2); b = a * 1; b.div_(2); b.sub_(a); b.neg_(); b.abs_(); b.sum().backward(); a.grad
a = leaf(2); b = a * 1; b.pow_(2); b.sum().backward(); a.grad
a = leaf(2); b = a * 1; b.addcmul_(a, a); b.lerp_(a, 0.5); b.sum().backward(); a.grad
a = leaf(2, 2); b = a * 1; b.t_(); b[0].mul_(2); b.sum().backward(); a.grad
a = leaf(4); b = (a * 1).view(2, 2); b.diagonal().mul_(3); b.sum().backward(); a.grad
a = leaf(4); b = a.as_strided((2, 2), (1, 1)); b.sum().backward(); a.grad
a = leaf(4); b = a.unfold(0, 2, 1); (b * b).sum().backward(); a.grad
a = leaf(2, 3); (a.movedim(0, 1) * a.permute(1, 0) * a.transpose(0, 1) * a.t()).sum().backward(); a.grad
a = leaf(1, 2); (a.squeeze(0) * a.unsqueeze(1).flatten() * a.reshape(2) * a.expand(1, 2).view(2)).sum().backward(); a.grad
a = leaf(6); (a.narrow(0, 1, 3) * a.select(0, 2) * a[::2]).sum().backward(); a.grad
a = leaf(2, 3); (a.repeat(2, 1).flip(0).roll(1, 1) * torch.arange(12.).view(4, 3)).sum().backward(); a.grad
a = leaf(2, 3); a.resize_(6)
a = leaf(2); b = a * 2; b.data = x(2).double(); b.requires_grad
""".strip().splitlines()

_FUNCTION = """
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, power):
        ctx.save_for_backward(a)
        ctx.power = power
        return a ** power
    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors
        return g * ctx.power * a ** (ctx.power - 1), None
a = leaf(3)
b = Square.apply(a, 3)
b.sum().backward()
r = [a.grad, b.grad_fn.name(), b]
"""
_DOUBLE = (
    _FUNCTION
    + """
g, = torch.autograd.grad(Square.apply(a, 3).sum(), a, create_graph=True)
r = torch.autograd.grad(g.sum(), a)
"""
)
_WRONG_COUNT = """
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g
Wrong.apply(leaf(2), leaf(2)).sum().backward()
r = 0
"""
_DEEP = """
a = leaf(1)
b = a
for i in range(100000):
    b = b + 1
b.backward()
r = a.grad
del b
"""
_DEEP_VIEW = """
a = leaf(4)
b = a * 1
for i in range(3000):
    b = b.view(4)
b.mul_(2)
b.sum().backward()
r = a.grad
"""
_DEEP_IN_PLACE = """
a = leaf(4)
b = a * 1
for i in range(3000):
    b[i % 4] = 0.5 * b[(i + 1) % 4]
b.sum().backward()
r = a.grad
"""
_DIAMOND = """
a = leaf(2)
b = a * 2
for i in range(60):
    b = b * 0.5 + b * 0.5
b.sum().backward()
r = a.grad
"""
_ONCE = """
from importlib import import_module
f = import_module(torch.__name__ + ".autograd.function")
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    @f.once_differentiable
    def backward(ctx, g):
        return g * 2
a = leaf(2)
g, = torch.autograd.grad(Once.apply(a).sum(), a, create_graph=True)
g.sum().backward()
r = 0
"""
_WITH = """
a = leaf(2)
with torch.no_grad():
    b = a * 2
    with torch.enable_grad():
        c = a * 2
r = [b.requires_grad, c.requires_grad]
try:
    with torch.no_grad():
        raise KeyError
except KeyError:
    r.append(torch.is_grad_enabled())
"""
_CLASS = """
@torch.no_grad()
def f(a):
    return a * 2
@torch.no_grad
def g(a):
    return a * 2
@torch.inference_mode()
def h(a):
    return a * 2
r = [f(leaf(2)).requires_grad, g(leaf(2)).requires_grad, h(leaf(2)).requires_grad, f.__name__]
"""

# Gradients of every differentiable operator: f(a, b) with a, b of (2, 3).
_GRADIENTS = """
a + b
a - b
a * b
a / b
a ** 2
a ** 3
a ** 0.5
a ** -1
(a + 2) ** b
2 ** a
a % 0.7
a % b
torch.fmod(a, b)
torch.fmod(a, 0.7)
a // b
(a * 1).floor_divide_(b)
3 - a
3 / a
-a
a.sign()
a.sqrt()
a.rsqrt()
a.square()
a.exp()
a.exp2()
a.expm1()
a.log()
a.log2()
a.log10()
a.log1p()
a.sin()
a.cos()
a.tan()
(a * 0.9).asin()
(a * 0.9).acos()
a.atan()
a.sinh()
a.cosh()
a.tanh()
a.asinh()
(a + 2).acosh()
(a * 0.9).atanh()
a.erf()
a.erfc()
a.sigmoid()
a.floor()
a.ceil()
a.round()
a.trunc()
a.frac()
a.reciprocal()
torch.maximum(a, b)
torch.minimum(a, b)
torch.maximum(a, a.detach())
torch.fmax(a, b)
torch.fmin(a, b)
torch.atan2(a, b)
torch.hypot(a, b)
torch.xlogy(a, b)
torch.logaddexp(a, b)
torch.lerp(a, b, 0.3)
torch.lerp(a, b, a)
torch.addcmul(a, a, b, value=2)
torch.addcdiv(a, a, b, value=2)
torch.where(a > 0.5, a, b)
a.clamp(0.3, 0.7)
a.clamp(min=0.5)
a.clamp(max=0.5)
a.clamp(0.5)
torch.clamp(a, min=b)
torch.clamp(a, min=b, max=b + 1)
a.masked_fill(a > 0.5, 2.)
torch.add(a, b, alpha=3)
torch.sub(a, b, alpha=3)
torch.rsub(a, b, alpha=2)
torch.div(a, b, rounding_mode='floor')
torch.div(a, b, rounding_mode='trunc')
a.float_power(2)
torch.true_divide(a, b)
a.lgamma()
a.nan_to_num()
a.deg2rad()
a.remainder(b)
a.view(3, 2)
a.t().reshape(6)
a.permute(1, 0)
a.select(1, 1)
a[:, 1:]
a[..., None]
a.narrow(1, 0, 2)
a[:1].squeeze(0)
a.unsqueeze(1)
a[:1].expand(3, 3)
a.unfold(1, 2, 1)
a.diagonal()
a.diagonal(1)
a.movedim(0, 1)
a.split(2, 1)[0]
a.chunk(2)[1]
a.unbind(1)[2]
a.as_strided((2, 2), (1, 2))
a.flatten()
a.unflatten(1, (3, 1))
a.clone()
a.contiguous()
a.float()
a.repeat(2, 2)
a.flip(1)
a.roll(1)
a[[1, 0, 1]]
a[tensor([True, False])]
a[:, tensor([0, 2])]
a.view_as(b) * b
a.sum_to_size(1, 3) if hasattr(a, 'sum_to_size') else a
""".strip().splitlines()


def gradient(expression: str):
    """Value, gradients and second derivatives of an expression."""
    text = (
        "a = (leaf(2, 3).detach().abs() + 0.1).requires_grad_()\n"
        "b = (leaf(2, 3, start=9).detach().abs() + 0.2).requires_grad_()\n"
        f"y = {expression}\n"
        "w = torch.cos(torch.arange(float(y.numel()))).view(y.shape)\n"
        "r = [y, y.grad_fn and y.grad_fn.name()]\n"
        "g = torch.autograd.grad((y * w).sum(), [a, b], create_graph=True,\n"
        "                        allow_unused=True)\n"
        "s = sum(((t * t).sum() for t in g if t is not None and\n"
        "         t.requires_grad), tensor(0.))\n"
        "r += list(g)\n"
        "if s.requires_grad:\n"
        "    r += list(torch.autograd.grad(s, [a, b], allow_unused=True))\n"
    )
    return case(text + "r = r")


def first(expression: str):
    """Value and gradients of an expression."""
    return case(
        "a = leaf(2, 3)\nb = leaf(2, 3, start=9)\n"
        f"y = {expression}\n"
        "w = torch.cos(torch.arange(float(y.numel()))).view(y.shape)\n"
        "(y * w).sum().backward()\n"
        "r = [y, y.grad_fn.name(), a.grad, b.grad]\n"
        "r = r"
    )


def checked(expression: str):
    """Gradcheck of an expression."""
    return case(
        "a = (leaf(2, 3).detach().abs() + 0.1).requires_grad_()\n"
        "b = (leaf(2, 3, start=9).detach().abs() + 0.2).requires_grad_()\n"
        f"r = torch.autograd.gradcheck(lambda a, b: {expression}, (a, b))\n"
        "r = r"
    )


CASES = cases(_TEXTS)
for _name in [
    "function",
    "double",
    "wrong_count",
    "deep",
    "deep_view",
    "deep_in_place",
    "diamond",
    "once",
    "with",
    "class",
]:
    CASES[_name] = case(globals()["_" + _name.upper()])
for _text in _GRADIENTS:
    CASES[f"gradient of {_text}"] = gradient(_text)
for _text in ("a.abs()", "a.relu()", "torch.copysign(a, b)", "a.sgn()"):
    CASES[f"first gradient of {_text}"] = first(_text)
for _text in (
    "a * b",
    "a / b + a ** b",
    "torch.lerp(a, b, a)",
    "a[:, 1:] * b.t()[1:].t()",
):
    CASES[f"gradcheck of {_text}"] = checked(_text)
