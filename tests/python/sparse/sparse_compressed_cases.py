# ruff: noqa: E501  (a case is one line)
"""Cases of the compressed layouts: parts, conversions, operators, errors."""

from __future__ import annotations

from core_scope import case

# Names that a case begins with: `d` has 5 elements, none in row 2; `p` says
# all of a tensor; `of` makes one in a layout, in blocks of (2, 3) where it has
# some.
_NAMES = """
import warnings; warnings.simplefilter("ignore")  # each layout says that it is in beta
I = lambda *x: torch.tensor(x)
I32 = lambda *x: torch.tensor(x, dtype=torch.int32)
d = torch.tensor([[0.0, 1.5, 0, 0, 0, 2.0], [0, 0, -3.0, 0, 0, 0], [0.0] * 6, [4.0, 0, 0, 0, 0.5, 0]])
e = torch.tensor([[1.0, -1.0, 0, 0, 0, 0], [0, 0, 2.0, 0, 7.0, 0], [0.0, 0, 0, 3.0, 0, 0], [0.0] * 6])
names = {"csr": ("crow_indices", "col_indices"), "csc": ("ccol_indices", "row_indices"), "bsr": ("crow_indices", "col_indices"), "bsc": ("ccol_indices", "row_indices")}
lay = lambda k: getattr(torch, "sparse_" + k)
of = lambda x, k, block=(2, 3): x.to_sparse(layout=lay(k), blocksize=block if k[0] == "b" else None)
idx = lambda t: [getattr(t, n)() for n in names[str(t.layout)[-3:]]]
p = lambda t: [t] if t.layout is torch.strided else [str(t.layout), list(t.shape), t.dtype, [t.indices(), t.values()] if t.layout is torch.sparse_coo else [*idx(t), t.values(), t._nnz()]]
make = lambda i, j, v, size, k: torch.sparse_compressed_tensor(i, j, v, size, layout=lay(k), check_invariants=True)
narrow = lambda t: torch.sparse_compressed_tensor(*[x.int() for x in idx(t)], t.values(), t.shape, layout=t.layout)
batch = torch.stack([d, d.flip(0), d + 0])
hybrid = torch.stack([d, e * 0 + d * 2], -1)
w = torch.arange(12.0).reshape(6, 2) / 7 - 0.5
"""

_OF_LAYOUT = """
p(of(d, K))
p(of(batch, K))
p(d.unsqueeze(-1).to_sparse(layout=lay(K), blocksize=(2, 3) if K[0] == "b" else None, dense_dim=1))
of(d, K).to_dense(), of(batch, K).to_dense()
p(narrow(of(d, K)).transpose(0, 1))
p(of(batch, K).transpose(-1, -2))
of(batch, K).transpose(0, 1)
p(of(batch, K)[1])
of(batch, K).select(-1, 0)
repr(of(d, K))
repr(narrow(of(d.double(), K)))
repr(of(batch[:2], K).requires_grad_())
repr(of(torch.zeros(4, 6), K))
p(of(d, K).clone()), p(of(d, K).neg()), p(of(d, K) * 3), p(of(d, K).to(torch.float64))
p(of(d, K).sin())
p(torch.empty_like(of(d, K)).fill_(2.0))
p(torch.zeros_like(narrow(of(d, K))))
p(torch.ones_like(of(d, K), dtype=torch.int64))
torch.empty_like(of(d, K), layout=torch.strided)
p(of(d, K).copy_(of(d * 2, K)))
of(d, K).copy_(d)
of(d, K).copy_(of(d + 1, K))
p(of(d, K).to_sparse().coalesce())
[p(narrow(of(d, K)).to_sparse(layout=lay(other), blocksize=(2, 3))) for other in names if other[0] == "b"]
[p(narrow(of(d, K)).to_sparse(layout=lay(other))) for other in names if other[0] != "b"]
of(d, K).to_sparse(layout=lay(K), dense_dim=1)
of(d, K).to_sparse(1)
d.to_sparse(layout=lay(K), blocksize=(3, 3))
torch.zeros(4, 6, layout=lay(K)).to_dense()
torch.zeros(4, layout=lay(K))
of(d, K).crow_indices()
of(d, K).row_indices()
of(d, K).indices()
of(d, K).stride()
of(d, K).numpy()
of(d, K).storage()
of(d, K).__setitem__((0, 0), 1.0)
of(torch.stack([d, e]), K)
of(torch.ones(0, 4, 6), K)
(lambda v: (make(*idx(of(d, K)), v, (4, 6), K).to_dense().sin().sum().backward(), v.grad))(of(d, K).values().clone().requires_grad_())
(lambda t: (t.sum().backward(), t.grad.to_dense()))(of(d, K).requires_grad_())
of(d, K).sum(), of(d, K).int().sum()
p(__import__("pickle").loads(__import__("pickle").dumps(of(batch, K))))
(lambda f: (torch.save(of(d, K), f), f.seek(0), p(torch.load(f))))(__import__("io").BytesIO())
torch.mv(of(d, K, (2, 2)), w[:, 0]) if K != "bsc" else 0
of(d, K, (2, 2)) @ w if K != "bsc" else 0
w.t() @ of(d, K, (2, 2)).transpose(0, 1) if K != "bsc" else 0
torch.addmm(torch.ones(4, 2), of(d, K, (2, 2)), w, beta=2, alpha=0.5) if K != "bsc" else 0
torch.nn.functional.linear(w.t(), of(d, K, (2, 2))) if K != "bsc" else 0
of(d, K) @ w[:4]
p(d.sparse_mask(of(e, K))), p(e.sparse_mask(of(d, K)))
w.sparse_mask(of(e, K))
"""

_CHECKS = """
make(I(1, 2, 4), I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 5), I(0, 1, 0, 2), V, S, K)
make(I(0, 5, 4), I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 4), I(0, 1, 0, 3), V, S, K)
make(I(0, 2, 4), I(0, -1, 0, 2), V, S, K)
make(I(0, 2, 4), I(1, 0, 0, 2), V, S, K)
make(I(0, 2, 4), I(1, 1, 0, 2), V, S, K)
make(I(0, 2, 3, 4), I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 4), I(0, 1, 0, 1, 2), V, S, K)
make(I32(0, 2, 4), I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 4).short(), I(0, 1, 0, 2).short(), V, S, K)
make(I(0, 0, 2, 2, 4, 4)[::2], I(0, 1, 0, 2), V, S, K)
make(torch.tensor(0), I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 4)[None], I(0, 1, 0, 2), V, S, K)
make(I(0, 2, 4)[None], I(0, 1, 0, 2)[None], V, S, K)
make(I(0, 2, 4)[None], I(0, 1, 0, 2)[None], V[None], (2, *S), K)
make(I(0, 2, 4), I(0, 1, 0, 2), V, (2,), K)
make(I(0, 2, 4), I(0, 1, 0, 2), V.to_sparse(), S, K)
p(torch.sparse_compressed_tensor([0, 2, 4], [0, 1, 0, 2], V, layout=lay(K)))
p(getattr(torch, f"sparse_{K}_tensor")(I32(0, 2, 4), I32(0, 1, 0, 2), V, dtype=torch.float64))
getattr(torch, f"sparse_{K}_tensor")(I(0, 2, 4), I(0, 1, 0, 2), V, S, layout=torch.strided)
getattr(torch, f"_validate_sparse_{K}_tensor_args")(I(1, 2, 4), I(0, 1, 0, 2), V, S)
getattr(torch, f"_validate_sparse_{K}_tensor_args")(I(0, 2, 4), I(0, 1, 0, 2), V, S)
"""

_OTHERS = """
[p(of(d, K)[3]) for K in ("csr", "csc")], [p(of(d, K).select(1, 5)) for K in ("csr", "csc")]
of(d, "csr")[0, 5], of(d, "csc")[3, -2]
of(d, "csr")[0, 6]
of(d, "csr")[7]
of(d, "csr")[0, 1, 2]
of(d, "csr").select(2, 0)
[[of(d, K) + d, d + of(d, K), torch.add(of(d, K), e, alpha=3)] for K in ("csr", "csc")]
(lambda t: ((t * 2).to_dense().mul(e).sum().backward(), p(t.grad)))(of(d, "csr").requires_grad_())
torch.sparse_compressed_tensor(I(0, 1), I(0), torch.ones(1))
torch.sparse_compressed_tensor(I(0, 1), I(0), torch.ones(1), (1, 1), layout=torch.sparse_coo)
torch._validate_sparse_compressed_tensor_args(I(0, 1), I(0), torch.ones(1), (1, 1), torch.strided)
make(I(0, 2, 4), I(0, 1, 0, 2), torch.ones(4, 2, 2), (3, 3), "bsr")
(lambda c: [c.is_enabled(), c(True).__enter__(), c.is_enabled(), c.disable(), c.is_enabled()])(torch.sparse.check_sparse_tensor_invariants)
torch.sparse.check_sparse_tensor_invariants(True)(lambda: torch.sparse_csr_tensor(I(1, 1), I(0), torch.ones(1), (1, 1)))()
torch._convert_indices_from_csr_to_coo(I(0, 2, 2, 3), I(0, 1, 1))
torch._convert_indices_from_csr_to_coo(I32(0, 2, 2, 3), I32(0, 1, 1), out_int32=True, transpose=True)
torch._convert_indices_from_coo_to_csr(I(0, 0, 2), 4), torch._convert_indices_from_coo_to_csr(I(0, 0, 2), 3, out_int32=True)
torch._convert_indices_from_coo_to_csr(I(0, 0, 2)[None], 4)
p(of(d, "csr").resize_(3, 8))
p(of(d, "csr").resize_(6, 6))
of(d, "csr").resize_(4, 5)
of(d, "csr").resize_(4)
[p(of(d, a) @ of(w @ w.t(), b)[:, 0] if 0 else of(d, a) @ of(d.t(), b)) for a in ("csr", "csc") for b in ("csr", "csc")]
p(torch.addmm(of(torch.eye(4), "csr"), of(d, "csr"), of(e.t(), "csr"), beta=3, alpha=0.5))
torch.addmm(torch.ones(4, 4), of(d, "csr"), of(e.t(), "csc"))
of(d, "bsc") @ w
of(d, "csr") @ d.t().to_sparse()
torch.mm(of(d, "csr"), of(d, "csr"))
torch.mv(of(d, "csr"), w[:3, 0])
p(of(d, "csr") + of(e, "csr")), p(torch.add(of(d, "csc"), of(e, "csc"), alpha=-2) if 0 else of(d, "csr").add_(of(e, "csr"), alpha=2))
p(narrow(of(d, "csr")) + narrow(of(e, "csr")))
of(d, "csr") + of(d.t(), "csr")
of(d, "csr") + 1
p(of(d, "csr") * of(d + e, "csr")), p(of(d, "csr") * e), p(e * of(d, "csr"))
p(of(d, "csr")[:, 1]), p(of(d, "csr")[1, :]), p(of(d, "csr")[..., -1])
p(of(d, "csc")[:, 1]), p(of(d, "csc")[1, :]), p(of(d, "csc")[..., -1])
of(d, "csr") * e[0]
e.mul_(of(d, "csr"))
of(d, "csr").exp()
[p(of(d, "csr").sum(k, keepdim=True)) for k in (0, 1, (0, 1))]
of(d, "csr").sum(0)
p(of(d, "csr").int().sum(1, keepdim=True)), p(of(d, "csr").sum(0, keepdim=True, dtype=torch.float64))
p(torch._sparse_csr_prod(of(d, "csr"), (1,), True))
[torch.sparse.mm(of(d, "csr"), w, k) for k in ("sum", "mean", "amax", "amin")]
torch.sparse.mm(of(d, "csr"), w, "prod")
torch.sparse.mm(of(d, "csc"), w, "mean")
(lambda t, v: (torch.sparse.mm(t, v, "amax").sum().backward(), p(t.grad), v.grad))(of(d, "csr").requires_grad_(), w.clone().requires_grad_())
(lambda t, v: (torch.sparse.mm(t, v).sin().sum().backward(), p(t.grad), v.grad))(of(d, "csr").requires_grad_(), w.clone().requires_grad_())
p(torch.sparse.sampled_addmm(of(d, "csr"), d @ w, w.t(), beta=0.5, alpha=2))
(lambda t, a, b: (torch.sparse.sampled_addmm(t, a, b).to_dense().sin().sum().backward(), p(t.grad), a.grad, b.grad))(of(d, "csr").requires_grad_(), (d @ w).requires_grad_(), w.t().clone().requires_grad_())
(lambda a, b: ((a * b).to_dense().sum().backward(), p(a.grad), p(b.grad)))(of(d, "csr").requires_grad_(), of(d * d, "csr").requires_grad_())
list(torch.triangular_solve(torch.ones(4, 1), of(d[:, :4].triu() + torch.eye(4), "csr")))
list(torch.triangular_solve(torch.ones(4, 1), of(torch.zeros(4, 4), "csr")))
of(d, "csr").int().sin_()
of(d, "csr").transpose_(0, 1)
(lambda t: [t._is_view(), t.t()._is_view(), t.t()._base is t])(of(d, "csr"))
of(d, "csr").resize_as_sparse_(of(d, "csc"))
p(of(d, "csr").to("meta").to(torch.float64)._nnz())
"""


def _cases() -> dict:
    found = {}
    for layout in ("csr", "csc", "bsr", "bsc"):
        size = "(2, 3)" if layout[-1] == "r" else "(3, 2)"
        names = _NAMES + f"K = {layout!r}\nS = {size}\n"
        tail = ", 1, 1" if layout[0] == "b" else ""
        names += f"V = torch.arange(1.0, 5.0).reshape(4{tail})\n"
        for code in (_OF_LAYOUT + _CHECKS).strip().split("\n"):
            if code:
                found[f"{layout}: {code}"] = case(names + code)
    for code in _OTHERS.strip().split("\n"):
        found[code] = case(_NAMES + code)
    return found


CASES = _cases()
