# ruff: noqa: E501  (a case is one line)
"""Cases of masked functions of sparse tensors, and of sparse MaskedTensors."""

from __future__ import annotations

from core_scope import case

# Names that a case begins with: `s` says the elements, indices and text of a
# result.
_NAMES = """
import warnings; warnings.simplefilter("ignore")  # each says that it is new
masked, masked_tensor, as_masked_tensor = torch.masked, torch.masked.masked_tensor, torch.masked.as_masked_tensor
d = torch.tensor([[1.0, 0.0, -3.0, 0.0], [0.5, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 7.0]])
m = torch.tensor([[True, True, False, False], [False, True, True, False], [True, False, False, True]])
row = torch.tensor([True, False, True, False])
coo, csr = d.to_sparse(), d.to_sparse_csr()
mcoo, mcsr, mhyb = m.to_sparse().coalesce(), m.to_sparse_csr(), m.to_sparse(1)
dims = lambda t: t.indices() if t.layout is torch.sparse_coo else torch.stack([t.crow_indices().new_tensor(t.crow_indices().tolist() + t.col_indices().tolist())])
parts = lambda t: [str(t.layout), list(t.shape), dims(t), t.values()]
raw = lambda t: [t] if t.layout is torch.strided else parts(t.coalesce() if t.layout is torch.sparse_coo else t)
s = lambda t: [raw(t.get_data()), raw(t.get_mask()), repr(t), type(t).__name__, t.is_sparse, t.is_sparse_coo(), t.is_sparse_csr()]
tc, tr = masked_tensor(d.sparse_mask(mcoo), mcoo), masked_tensor(d.sparse_mask(mcsr), mcsr)
"""

_WHERE = """
raw(masked._where(mcoo, coo, torch.tensor(0.0)))
raw(masked._where(mcsr, csr, torch.tensor(0.0)))
raw(masked._where(mhyb, d.to_sparse(1), torch.tensor(9.0)))
raw(masked._where(m[:1].repeat(3, 1).logical_and(torch.tensor([[False], [False], [False]])).to_sparse(), coo, torch.tensor(0.0)))
masked._where(m.to_sparse_csc(), d.to_sparse_csc(), torch.tensor(0.0))
raw(masked._input_mask(coo, mask=m))
raw(masked._input_mask(coo, mask=mcsr))
raw(masked._input_mask(csr, mask=m))
raw(masked._input_mask(csr, mask=mcoo))
raw(masked._input_mask(coo, mask=row))
raw(masked._input_mask(coo, mask=row.to_sparse()))
raw(masked._input_mask(csr, mask=row))
raw(masked._input_mask(coo, mask=torch.tensor([[1], [0], [1]]).to_sparse()))
raw(masked._input_mask(d, mask=mcoo))
raw(masked._input_mask(d.to_sparse(1), mask=m))
masked._input_mask(row.to_sparse(), mask=mcoo)
masked._input_mask(d.to_sparse_csc(), mask=m)
"""

_REDUCTIONS = """
raw(masked.sum(coo))
raw(masked.sum(coo, 0))
raw(masked.sum(coo, 1, keepdim=True))
raw(masked.sum(coo, 1, mask=mcoo))
raw(masked.sum(coo, (0, 1), mask=m))
raw(masked.sum(coo, (0, 1), keepdim=True, mask=m))
raw(masked.sum(coo, 0, mask=row))
raw(masked.sum(coo, 0, dtype=torch.float64, mask=mcsr))
raw(masked.sum((coo * 2).to(torch.int32), 0))
raw(masked.sum(d.to_sparse(1), 1, mask=mhyb))
raw(masked.sum(d.to_sparse(1), 0, mask=mhyb))
raw(masked.prod(coo, 1, mask=mcoo))
raw(masked.amax(coo, 1, mask=mcoo))
raw(masked.amin(coo, 0, keepdim=True, mask=m))
raw(masked.amax(coo, (), mask=mcoo))
raw(masked.sum(csr, 0, keepdim=True))
raw(masked.sum(csr, 1, keepdim=True, mask=mcsr))
raw(masked.sum(csr, (0, 1), keepdim=True, mask=m))
raw(masked.prod(csr, 1, keepdim=True, mask=mcsr))
raw(masked.amax(csr, 0, keepdim=True, mask=mcsr))
raw(masked.amin(csr, 1, keepdim=True, mask=mcoo))
raw(masked.amin(csr, (0, 1), keepdim=True, mask=mcsr))
raw(masked.mean(csr, 1, keepdim=True, mask=mcsr))
raw(masked.mean(csr, 0, keepdim=True, mask=mcsr))
masked.prod(coo, 1)
masked.amax(coo, 1)
masked.prod(csr, 1, keepdim=True)
masked.mean(csr, 1, keepdim=True)
masked.mean(coo, 1, mask=mcoo)
masked.amax(csr, 1, mask=mcsr)
masked.sum(d.to_sparse_csc(), 1)
masked.sum(d, 1, mask=mcoo), masked.softmax(d, 1, mask=mcsr), masked.mean(d, 0, mask=mcoo)
"""

_TENSORS = """
s(tc), s(tr)
s(masked_tensor(coo, coo.bool())), s(masked_tensor(csr, mcsr))
masked_tensor(coo, mcoo)
s(masked_tensor(torch.tensor(2.0).to_sparse(), torch.tensor(True).to_sparse()))
s(torch.exp(tc)), s(torch.exp(tr))
s(-tc), s(tr.neg())
s(tc.clamp(max=1)), s(tr.clamp(max=1))
s(tc.to(torch.float64))
s(tc.clone()), s(tr.clone()), s(tc.detach())
s(tc + 1), s(tr + 1)
s(tc * tc), s(tr * tr)
s(2 * tc)
s(tr / 4)
s(torch.maximum(tc, tc))
s(tc - tc)
[s(f(t)) for t in (tc, tr) for f in (torch.sum, torch.amax, torch.amin, torch.mean, torch.prod, torch.var, torch.std)]
s(tc.argmax()), s(tc.argmin())
[s(t.to_dense()) for t in (tc, tr)]
s(masked_tensor(d, m).to_sparse()), s(masked_tensor(d, m).to_sparse_csr()), s(masked_tensor(d, m).to_sparse_coo())
s(tr.sin_())
tc.is_contiguous()
tc.contiguous()
tc.any()
masked_tensor(coo, m)
masked_tensor(d, mcoo)
masked_tensor(coo, mcsr)
masked_tensor(d.to_sparse_csc(), m.to_sparse_csc())
masked_tensor(d.sparse_mask(mcoo), mcoo.float())
masked_tensor(torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)), torch.sparse_coo_tensor([[0, 2]], [True, True], (3,)))
masked_tensor(torch.tensor([[1.0, 0], [0, 1]]).to_sparse_csr(), torch.tensor([[True, False], [True, False]]).to_sparse_csr())
leaf = masked_tensor(d.sparse_mask(mcoo), mcoo, requires_grad=True); leaf.to_dense().sum().backward(); s(leaf.grad)
leaf = masked_tensor(d, m, requires_grad=True); leaf.to_sparse().to_dense().pow(2).sum().backward(); s(leaf.grad)
leaf = masked_tensor(d, m, requires_grad=True); leaf.to_sparse_csr().to_dense().pow(2).sum().backward(); s(leaf.grad)
"""

_ALL = _WHERE + _REDUCTIONS + _TENSORS
CASES = {line: case(_NAMES + line) for line in _ALL.split("\n") if line}
