# ruff: noqa: E501  (a case is one line)
"""Cases of MaskedTensor: its text, what takes it, gradients, errors."""

from __future__ import annotations

from core_scope import case

# Names that a case begins with: `s` says data, mask and text of its result.
_NAMES = """
import warnings; warnings.simplefilter("ignore")  # each says that it is new
masked_tensor, as_masked_tensor = torch.masked.masked_tensor, torch.masked.as_masked_tensor
d = torch.tensor([[1.0, 2.0, -3.0], [0.5, 5.0, 6.0]])
m = torch.tensor([[True, False, True], [False, True, True]])
mt = masked_tensor(d, m)
leaf = masked_tensor(d, m, requires_grad=True)
s = lambda t: [torch.where(t.get_mask(), t.get_data(), torch.zeros_like(t.get_data())), t.get_mask(), repr(t), type(t).__name__]
"""

_TEXTS = """
s(mt)
s(masked_tensor(torch.tensor(1.5), torch.tensor(True)))
s(masked_tensor(torch.tensor(7), torch.tensor(False)))
s(masked_tensor(torch.tensor([1, 20, 300]), torch.tensor([False, True, True])))
s(masked_tensor(torch.tensor([True, False]), torch.tensor([False, True])))
s(masked_tensor(torch.tensor([12345678.0, -0.00001]), torch.tensor([False, True])))
s(masked_tensor(torch.arange(8).reshape(2, 2, 2), torch.arange(8).reshape(2, 2, 2) % 3 > 0))
str(mt), f"{mt}"
"""

_OPERATORS = """
s(torch.exp(mt))
s(mt.sin())
s(-mt)
s(abs(mt))
s(mt**2)
s(mt.clamp(min=0.7, max=5))
s(mt.nan_to_num(0.0))
s(mt.isnan())
s(mt + 1)
s(2 * mt)
s(mt / 4)
s(mt // 2)
s(mt % 2)
s(mt + mt)
s(mt + torch.ones(2, 3))
s(torch.ones(2, 3) * mt)
s(mt + torch.ones(3))
s(mt == mt)
s(mt < 2)
s(mt >= torch.ones(2, 3))
s(torch.maximum(mt, torch.ones(2, 3)))
s(mt.add_(1))
t = mt.clone(); t *= 2; s(t)
t = mt.clone(); t.exp_(); s(t)
t = mt.clone(); t.square_(); s(t)
s(mt.softmax(1))
s(mt.softmax(0))
s(torch.where(d > 1, mt, torch.zeros(2, 3)))
s(torch.where(d > 1, mt, masked_tensor(d * 10, ~m)))
s(mt.to(torch.float64))
s(mt.int())
s(mt.detach())
s(torch.ones_like(mt))
t = mt.clone(); t.copy_(mt * 2); s(t)
"""

_SHAPES = """
s(mt[0])
s(mt[:, 1:])
s(mt[mt.get_data() > 1])
s(mt.t())
s(mt.mT)
s(mt.transpose(0, 1))
s(mt.view(6))
s(mt.reshape(3, 2))
s(mt.flatten())
s(mt.unsqueeze(0))
s(mt.expand(2, 2, 3))
s(mt.unfold(1, 2, 1))
s(mt.select(1, 0))
s(mt.narrow(1, 1, 2))
s(torch.stack([mt, mt], 1))
s(torch.cat([mt, mt], 1))
[s(t) for t in mt.split(2, dim=1)]
[s(t) for t in mt.chunk(2)]
s(torch.nn.functional.unfold(mt.view(1, 1, 2, 3), (2, 2)))
t = mt.t(); (t.is_contiguous(), t.contiguous().is_contiguous(), s(t.contiguous()))
mt.shape, mt.dim(), mt.numel(), mt.dtype, mt.stride(), len(mt), mt.layout, mt.is_sparse, mt.is_sparse_coo(), mt.is_sparse_csr()
mt[0, 0].item(), bool(mt[0, 0]), float(mt[1, 1])
mt.to_tensor(9)
mt.get_data(), mt.get_mask()
torch.masked.is_masked_tensor(mt), torch.masked.is_masked_tensor(d), isinstance(mt, torch.Tensor)
"""

_REDUCTIONS = """
s(mt.sum())
s(mt.sum(0))
s(mt.sum(dim=1, keepdim=True))
s(torch.sum(mt, (0, 1)))
s(mt.mean())
s(mt.mean(1))
s(mt.amax(0))
s(mt.amin())
s(mt.argmax())
s(mt.argmin(1))
s(mt.prod(0))
s(mt.std())
s(mt.var(1))
s((mt > 0).all())
s((mt > 0).all(0))
s(masked_tensor(torch.ones(2, 2), torch.zeros(2, 2).bool()).sum(0))
torch.masked.sum(mt)
torch.masked.amax(mt, 1)
torch.masked.softmax(mt, 1)
"""

_GRADIENTS = """
leaf.sum().backward(); s(leaf.grad)
leaf.exp().mean().backward(); s(leaf.grad)
(leaf * leaf).sum(0).sum().backward(); s(leaf.grad)
leaf.softmax(1).square().sum().backward(); s(leaf.grad)
leaf[0].prod().backward(); leaf.grad.to_tensor(0)
torch.stack([leaf, leaf * 2]).sum().backward(); s(leaf.grad)
leaf.amax().backward(); leaf.grad.to_tensor(0)
leaf.requires_grad, leaf.is_leaf, leaf.exp().requires_grad, leaf.exp().is_leaf, leaf.grad
v = d.clone().requires_grad_(); as_masked_tensor(v, m).mean().backward(); v.grad.to_tensor(0) if hasattr(v.grad, "to_tensor") else v.grad
v = d.clone().requires_grad_(); t = masked_tensor(v, m, requires_grad=True); t.sum().backward(); (v.grad, s(t.grad))
mt.sum().backward()
leaf.get_data().requires_grad
"""

_ERRORS = """
masked_tensor(1, m)
masked_tensor(d, 1)
masked_tensor(mt, m)
masked_tensor(d, mt)
masked_tensor(d, d)
masked_tensor(d, m[0])
masked_tensor(d, m[:, :2])
masked_tensor(d.bfloat16(), m)
masked_tensor(d.int(), m, requires_grad=True)
mt + masked_tensor(d, ~m)
mt.add(mt, alpha=2)
mt.div(mt, rounding_mode="floor")
mt.round(decimals=1)
mt.clamp(torch.ones(2, 3))
mt.max()
mt.cumsum(0)
mt.zero_()
torch.zeros_like(mt)
torch.equal(mt, mt)
mt[0, 1].item()
mt.tolist()
mt.numpy()
torch.cat([mt, d])
"""

_ALL = _TEXTS + _OPERATORS + _SHAPES + _REDUCTIONS + _GRADIENTS + _ERRORS
CASES = {line: case(_NAMES + line) for line in _ALL.split("\n") if line}
