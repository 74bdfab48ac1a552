# ruff: noqa: E501  (a case is one line)
"""Cases of tensors in coordinates: what makes, changes, joins and multiplies
them, their text, gradients and errors.
"""

from __future__ import annotations

from core_scope import case

# Names that a case begins with: `s` says what a sparse tensor consists of, `g`
# what the gradient of a function's sum is.
_NAMES = """
import warnings; warnings.simplefilter("ignore")
sct = torch.sparse_coo_tensor
i = torch.tensor([[0, 1, 1, 0], [2, 0, 0, 1]])
v = torch.tensor([1.0, 2.0, -3.0, 0.5])
u = sct(i, v, (2, 3))
c = u.coalesce()
h = sct(torch.tensor([[3, 0, 3]]), torch.arange(6.0).reshape(3, 2) - 2, (4, 2))
b = sct(torch.tensor([[0, 1, 1], [0, 0, 2]]), torch.tensor([4.0, 5.0, 6.0]), (2, 3)).coalesce()
d = torch.arange(6.0).reshape(2, 3) - 1.5
e = torch.arange(12.0).reshape(3, 4) / 4 - 1
s = lambda t: [str(t.layout), list(t.shape), t._indices(), t._values(), t.is_coalesced(), t.sparse_dim(), t.dense_dim()] if t.is_sparse else ["strided", t]
dense = lambda t: t.to_dense() if t.is_sparse else t
def g(f, *ts):
    ls = [t.detach().clone().requires_grad_() for t in ts]
    (dense(f(*ls)) * torch.arange(1.0, dense(f(*ls)).numel() + 1).reshape(dense(f(*ls)).shape)).sum().backward()
    return [[str(l.grad.layout), dense(l.grad)] for l in ls]
"""

_MADE = """
s(sct(i, v))
s(sct(i, v, (3, 4), dtype=torch.float64))
s(sct([[0, 2]], [1, 2], (4,)))
s(sct([[1]], 2.5, (3,)))
s(sct((2, 3)))
s(sct(size=(2, 0), dtype=torch.int32))
s(sct(torch.zeros(2, 0), torch.zeros(0, 4)))
s(sct(i.int(), v, (2, 3)))
s(sct([[0]], [1.0], (1,)))
sct(i, v, (2, 3), requires_grad=True).requires_grad
s(u), s(c), s(h.coalesce())
s(sct(i, v > 0, (2, 3)).coalesce())
sct(torch.tensor([0, 1]), v, (2, 3))
sct(i, v[:2], (2, 3))
sct(i, v, (2,))
sct(i, v.reshape(4, 1), (2, 3, 2))
sct(-i, v)
sct(i, v, (2, 2), check_invariants=True)
sct(-i, v, (2, 3), check_invariants=True)
sct(i, v, (2, 3), is_coalesced=True, check_invariants=True)
sct(i, v.long(), (2, 3), requires_grad=True)
sct(torch.zeros(4, 1).long(), v[:1], (100001,) * 4)
torch._validate_sparse_coo_tensor_args(i, v, (2, 2))
t = torch.sparse.check_sparse_tensor_invariants; x = t(True); r = [t.is_enabled(), x.__enter__(), t.is_enabled(), x.__exit__(None, None, None), t.is_enabled()]
s(d.to_sparse()), s(d.to_sparse(1)), s(torch.tensor(3.0).to_sparse())
d.to_sparse(3)
u.to_sparse(1)
s(torch.zeros(2, 3, layout=torch.sparse_coo)), s(torch.empty(2, layout=torch.sparse_coo, dtype=torch.int8))
s(torch.zeros_like(h)), s(torch.empty_like(h, dtype=torch.int64)), torch.ones_like(u, layout=torch.strided)
torch.ones(2, layout=torch.sparse_coo)
s(u.new(2, 3)), s(u.new(i, v)), s(u.new_zeros(2)), s(u.new_empty((2, 1)))
u.new([6])
u.type(), u.double().type(), u.is_sparse, u.layout, u._nnz()
u.indices()
u.values()
d.coalesce()
d.values()
"""

_TEXTS = """
str(u), str(c), str(h)
str(sct((2, 3))), str(sct((2, 3), dtype=torch.float64)), str(u.long())
str(sct(i, v, (2, 3), requires_grad=True))
str(sct(i, v, (2, 3), requires_grad=True) + u)
str(sct(torch.zeros(2, 3).long(), torch.arange(60.0).reshape(3, 20) / 7, (1, 1, 20)))
str(sct(torch.arange(2000).reshape(1, 2000), torch.arange(2000.0)))
str(torch.rand(0, 3).to_sparse(1))
"""

_SHAPES = """
s(u.t()), s(c.T), s(c.transpose(0, 1)), s(u.permute(1, 0)), s(c.mT)
s(h.unsqueeze(0)), s(h.unsqueeze(1)), s(h.unsqueeze(2)), s(h.unsqueeze(-1))
s(torch.cat([u, c])), s(torch.cat([u, c], 1)), s(torch.cat([h, h], 1)), s(torch.stack([u, c], 2))
s(c[:, 1]), s(c[0, :])[:4], s(c[..., -1]), s(c[:, None])[:4], s(c[torch.tensor(1)])[:4], c[..., 1, 0], s(h[:, 1])
s(u[0]), s(c[1]), u[1, 0], s(h[3]), s(h.select(1, 0)), s(c[None])[:4], [s(r)[:4] for r in c]
s(c.index_select(0, torch.tensor([1, 1, 0]))), s(u.index_select(1, torch.tensor([0, -1, 0]))), s(h.index_select(1, torch.tensor([1])))
s(c.narrow_copy(1, 1, 2)), s(h.narrow_copy(1, 1, 1)), s(u.narrow_copy(0, 1, 1))
s(torch._sparse_broadcast_to(c, (2, 2, 3)).coalesce()), s(torch._sparse_broadcast_to(h.unsqueeze(0), (3, 4, 2)).coalesce())
t = u.clone(); t.transpose_(0, 1); s(t)
t = u.clone(); s(t.sparse_resize_((3, 3), 2, 0)), s(t.sparse_resize_and_clear_((4, 2), 1, 1)), s(t.resize_as_(u))
u.clone().sparse_resize_((1, 3), 2, 0)
u.clone().sparse_resize_((2, 3), 1, 1)
h.clone().sparse_resize_((4, 1), 1, 1)
u.permute(0)
u.permute(0, 0)
h.permute(1, 0)
h.transpose(0, 1)
sct((2, 3, 4)).t()
u.unsqueeze(7)
u.select(0, 9)
u.index_select(0, torch.tensor([7]))
u.index_select(0, torch.tensor([[1]]))
u.narrow_copy(0, 0, 10)
u.narrow_copy(5, 0, 1)
torch.cat([u, d])
torch.cat([u, sct((2, 4))])
torch.cat([u, sct(torch.zeros(1, 0).long(), torch.zeros(0, 3), (2, 3))])
u.reshape(3, 2)
u.expand(2, 2, 3)
u[0] = 1
len(u), u.stride(), u.is_contiguous()
"""

_POINTWISE = """
dense(u + c), s(c + b), s(c - b), s(torch.add(c, b, alpha=-2)), s(u + u), s(c + c.long())
d + u, torch.add(d, u, alpha=2), d - u, d.clone().add_(u), d.long() + u
s(c * b), dense(u * b), s(c * d), s(d * u), s(u * 2), s(2 * c), s(c * torch.tensor(2)), dense(h * h), (c * b).dtype
s(c * torch.ones(3)), s(c * torch.ones(2, 1)), s((c * torch.ones(2, 2, 3)).coalesce())
s(u / 2), s(c // 2), s(u.div(2, rounding_mode="floor")), s(c.long() / 2), s(c ** 2), s(c.pow(3))
s(-u), s(abs(u)), s(u.sin()), s(c.sqrt()), s(u.sign()), s(u.floor()), s(c.log1p()), s(u.isnan()), s(u.relu()), s(c.tanh())
s(u.to(torch.float64)), s(u.long()), s(u.bool()), s(u.half())
t = c.clone(); t.add_(b); t.mul_(2); t.sub_(c); s(t)[:4]
t = c.clone(); t.sin_(); s(t)
t = c.clone(); t.zero_(); s(t)
t = sct((2, 3)); t.copy_(u); s(t)
t = sct((2, 3)); torch.add(c, b, out=t); s(t)
t = sct((2, 3)); torch.sqrt(c, out=t); s(t)
u.clone().sin_()
u.clone().arcsin_()
c.long().sin_()
u + 1
u + d
1 - u
u / u
u // d
u + sct((2, 2))
d + sct((2, 2))
u * sct((2, 2))
u + sct(torch.zeros(1, 1).long(), torch.zeros(1, 3), (2, 3))
u ** 0
u.clone().copy_(d)
s(d.sparse_mask(c)), s(d.sparse_mask(u)), s(b.sparse_mask(c)), s(u.sparse_mask(b))
torch.where(torch.tensor([[1, 0], [0, 2]])), torch.where(torch.tensor(3.0)), torch.where(d > 0, d, -d)
"""

_REDUCED = """
u.sum(), s(u.sum(0)), s(c.sum(1)), s(c.sum(0, keepdim=True))[:4], c.sum(dtype=torch.float64), c.long().sum()
torch.sparse.sum(u), s(torch.sparse.sum(u, 0)), s(torch.sparse.sum(c, [1])), torch.sparse.sum(c, [0, 1]), torch.sparse.sum(h, 0), s(torch.sparse.sum(h, 1))
torch.sparse.sum(u, 5)
torch.sparse.sum(u, [0, 0])
u.norm(), c.norm(), h.norm(3)
u.norm(dim=0)
u.norm(keepdim=True)
u.norm(2, dim=5)
u.norm(2, dim=[0, 0])
torch.norm(u, 2, 0, True, dtype=torch.float64)
torch.norm(u, 2, keepdim=True, dtype=torch.float64)
torch.native_norm(u, 2, [0, 5], True, torch.float64)
torch.sparse_csr_tensor(torch.zeros(1).long(), torch.zeros(0).long(), torch.zeros(0), (2**40, 2**40))
u.any(), sct((2, 3)).any()
s(torch.sparse.softmax(c, 0)), s(torch.sparse.softmax(u, 1)), s(torch.sparse.log_softmax(c, 1)), s(torch.sparse.softmax(h, 0)), s(torch.sparse.softmax(h, 1))
torch.sparse.softmax(c, 2)
sct([[0]], [2.5], (1,)).item(), float(sct([[0, 0]], [2.5, 1.0], (1,))), bool(sct((1,)))
bool(u)
u.numpy()
u.tolist()
"""

_PRODUCTS = """
torch.mm(u, e), u @ e, torch.mv(c, e[:, 0]), c @ e[:, 1], e.t() @ c.t(), torch.mm(c, e[:, :0])
torch.sparse.mm(u, e), s(torch.sparse.mm(c, b.t())), s(c @ u.t())
torch.addmm(torch.ones(2, 4), c, e, beta=2, alpha=3), torch.sparse.addmm(torch.ones(2, 4), u, e)
torch.bmm(torch.stack([c, b]), torch.stack([e, e * 2]))
[s(t)[:4] for t in (torch.hspmm(u, e), torch.smm(c, e), torch.sspaddmm(sct((2, 4)), u, e, beta=2, alpha=3))]
dense(torch.sspaddmm(e[:2].to_sparse(), u, e, beta=-1))
torch.mm(u.double(), e.double()), torch.mm(u.long(), e.long()), torch.mm(u.bfloat16(), e.bfloat16())
torch.mm(u, d)
torch.sparse.mm(u, u)
torch.sparse.mm(u.double(), b.t())
torch.mv(u, e[0])
torch.addmm(sct((2, 4)), u, e)
torch.bmm(torch.ones(2, 1, 2), torch.stack([c, b]))
s(torch.sparse.spdiags(torch.arange(9.0).reshape(3, 3), torch.tensor([0, -1, 2]), (3, 4)).coalesce())
torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0]), (3, 3))
torch.sparse.spdiags(torch.ones(2, 3), torch.tensor([0, 0]), (3, 3))
"""

_GRADIENTS = """
g(lambda t: t.to_dense(), u), g(lambda t: t.to_dense(masked_grad=False), u)
g(lambda t: t.coalesce().values(), c), g(lambda t: t.sum(), u), g(lambda t: torch.sparse.sum(t), u), g(lambda t: torch.sparse.sum(t, 0), c)
g(torch.mm, u, e), g(torch.sparse.mm, u, e), g(torch.mv, c, e[:, 0])
g(torch.sparse.mm, c, b.t().coalesce())
g(lambda t, x, y: torch.addmm(t, x, y, beta=2, alpha=3), torch.ones(2, 4), c, e), g(torch.sparse.addmm, torch.ones(2, 4), c, e)
g(lambda x, y: x + y, c, b), g(lambda x, y: x + y, d, c), g(lambda x, y: x - 2 * y, c, c)
g(lambda x: x * 3, u), g(lambda x, y: x * y, c, d)[0], g(lambda x: -x / 2, u), g(lambda x: x ** 2, c)
g(lambda x: x.t(), u), g(lambda x: x.double(), c), g(lambda x: x.clone(), u)
g(lambda x: x.sparse_mask(b), c), g(lambda x: x.sparse_mask(u), d), g(lambda x: x.to_sparse(), d)
g(lambda x: torch.sparse.softmax(x, 1), c), g(lambda x: torch.sparse.log_softmax(x, 0), c)
x = v.clone().requires_grad_(); y = sct(i, x, (2, 3)) @ e; y.sum().backward(); x.grad
t = sct((2, 3)); x = c.clone().requires_grad_(); t.copy_(x * 2); t.to_dense().sum().backward(); dense(x.grad)
torch.autograd.gradcheck(lambda x: x.to_dense(masked_grad=False).sin(), c.double().requires_grad_())
torch.autograd.gradcheck(lambda x: x.to_dense(masked_grad=True).sin(), u.double().requires_grad_(), masked=True)
torch.autograd.gradcheck(torch.sparse.mm, (c.double().requires_grad_(), e.double().requires_grad_()), masked=True)
torch.autograd.gradcheck(torch.mm, (c.double().requires_grad_(), e.double().requires_grad_()), fast_mode=True)
torch.autograd.gradcheck(lambda x: x * 2, c.double().requires_grad_())
torch.sparse.as_sparse_gradcheck(torch.autograd.gradcheck)(lambda x: x * 2, c.double().requires_grad_(), masked=True)
sct(i, v, (2, 3), requires_grad=True).add_(u)
"""

_COPIES = """
import pickle; [s(pickle.loads(pickle.dumps(t))) for t in (u, c, h)]
import copy; t = copy.deepcopy(c.requires_grad_()); t.requires_grad, s(t.detach())
import io; f = io.BytesIO(); torch.save([u, c], f); f.seek(0); [s(t) for t in torch.load(f)]
t = u.clone(); t._values().zero_(); s(u), s(t)
t = u.detach(); t._values().mul_(2); s(u)
"""

_ALL = (_MADE, _TEXTS, _SHAPES, _POINTWISE, _REDUCED, _PRODUCTS, _GRADIENTS, _COPIES)
CASES = {
    line: case(_NAMES + line) for group in _ALL for line in group.strip().splitlines()
}
