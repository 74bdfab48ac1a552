"""Products of matrices, and decompositions of which something is taken."""

from __future__ import annotations

from math import prod

from ... import _C, finfo
from ..._C import Tensor
from ..._late import lent
from .pieces import empty, number
from .shapes import adjoint, common_shape, reshape
from .table import changed, end, given, o, part, refused, whole

# --- products ---


def _folds(x: Tensor, y: Tensor, out: bool) -> bool:
    larger = x.dim() >= y.dim()
    big, small = (x, y) if larger else (y, x)
    if big.dim() < 3 or small.dim() > 2:
        return False
    if small.requires_grad and not out:
        return True
    if x.dim() == 2:
        return False
    if big.numel() == 0:
        return True
    sizes, strides = list(big.shape), list(big.stride())
    if not larger:
        sizes[-2:], strides[-2:] = sizes[:-3:-1], strides[:-3:-1]
    return all(
        strides[i] == strides[i + 1] * sizes[i + 1] for i in range(len(sizes) - 2)
    )


@part("matmul", "linalg_matmul")
def matmul(self, other, *, out=None):
    """The product of two tensors, of matrices in batches."""
    dims = self.dim(), other.dim()
    if 0 in dims or self.shape[-1] != other.shape[max(-2, -dims[1])]:
        return refused("matmul", self, other)
    if dims == (1, 1):
        return end("dot", self, other, out=out)
    if dims == (2, 1):
        return end("mv", self, other, out=out)
    if dims == (1, 2):
        row = end("mm", o.unsqueeze(self, 0), other, out=out)
        return changed("squeeze_.dim", row, 0)
    if dims == (2, 2):
        return end("mm", self, other, out=out)
    if _folds(self, other, out is not None):
        return given(out, _folded(self, other))
    return given(out, _batched(self, other))


def _folded(x: Tensor, y: Tensor) -> Tensor:
    larger = x.dim() >= y.dim()
    if larger:
        big, small = x, y
    else:
        big = o("transpose.int", y, -2, -1)
        small = o.t(x) if x.dim() == 2 else x
    shape = list(big.shape[:-1])
    flat = reshape(big, [prod(shape), big.shape[-1]])
    if small.dim() == 2:
        shape.append(small.shape[1])
        product = o._unsafe_view(o.mm(flat, small), shape)
        if larger:
            return product
        turned = o("transpose.int", product, -2, -1)
        return o.clone(turned, memory_format=_C.contiguous_format)
    return o._unsafe_view(o.mv(flat, small), shape)


def _batched(x: Tensor, y: Tensor) -> Tensor:
    lines = x.dim(), y.dim()
    if lines == (3, 3) and x.shape[0] != y.shape[0]:
        if x.shape[0] == 1:
            return matmul(o("squeeze.dim", x, 0), y)
        if y.shape[0] == 1:
            return matmul(x, o("squeeze.dim", y, 0))
    n = x.shape[-2] if lines[0] > 1 else 1
    m, p = x.shape[-1], y.shape[-1] if lines[1] > 1 else 1
    batch = common_shape(x.shape[:-2], y.shape[:-2])
    if lines[1] == 1:
        y = o.unsqueeze(y, 1)
    count = prod(batch)
    a = reshape(o.expand(x, [*batch, n, m]), [count, n, m])
    b = reshape(o.expand(y, [*batch, m, p]), [count, m, p])
    shape = batch + ([n] if lines[0] > 1 else []) + ([p] if lines[1] > 1 else [])
    return o._unsafe_view(o.bmm(a, b), shape)


@part("linear")
def _linear(input, weight, bias=None):
    if input.dim() == 2 and bias is not None:
        return o.addmm(bias, input, o.t(weight))
    if bias is not None and bias.dim() == 1 and input.is_contiguous():
        shape = [*input.shape[:-1], weight.shape[0]]
        flat = o.view(input, [prod(shape[:-1]), input.shape[-1]])
        return o.view(o.addmm(bias, flat, o.t(weight)), shape)
    product = matmul(input, o.t(weight))
    return product if bias is None else o("add_.Tensor", product, bias)


@part("outer")
def _outer(self, vec2, *, out=None):
    column = reshape(self, [self.shape[0], 1])
    return end("mul.Tensor", column, vec2, out=out)


@part("inner")
def _inner(self, other, *, out=None):
    if self.dim() == 0 or other.dim() == 0:
        return end("mul.Tensor", self, other, out=out)
    return given(out, tensordot(self, other, [-1], [-1]))


@part("tensordot")
def tensordot(self, other, dims_self, dims_other):
    """The sum of products over pairs of dimensions."""
    x, y = self, other
    left = [d % x.dim() for d in dims_self]
    right = [d % y.dim() for d in dims_other]
    for a, b in zip(left, right):
        if y.shape[b] == 1 and x.shape[a] != 1:
            x = o("sum.dim_IntList", x, [a], True)
        elif x.shape[a] == 1 and y.shape[b] != 1:
            y = o("sum.dim_IntList", y, [b], True)
    kept = [i for i in range(x.dim()) if i not in left]
    others = [i for i in range(y.dim()) if i not in right]
    shape = [x.shape[i] for i in kept] + [y.shape[i] for i in others]
    n, p = prod(x.shape[i] for i in kept), prod(y.shape[i] for i in others)
    m = prod(x.shape[i] for i in left)
    single = n == 1 and p == 1
    a = o.permute(x, kept + left)
    a = a if single else reshape(a, [n, m])
    b = o.permute(y, right + others)
    b = b if single else reshape(b, [m, p])
    if single:
        if a.dim() == 1 and b.dim() == 1:
            product = o.dot(a, b)
        else:
            product = o("mul.Tensor", o.squeeze(a), o.squeeze(b))
            product = o.sum(product, dtype=product.dtype)
        return o.view(product, shape)
    return o.view(o.mm(a, b), shape)


@part("kron")
def _kron(self, other, *, out=None):
    count = max(self.dim(), other.dim())
    a = [1] * (count - self.dim()) + list(self.shape)
    b = [1] * (count - other.dim()) + list(other.shape)
    left = [n for size in a for n in (size, 1)]
    right = [n for size in b for n in (1, size)]
    shape = [m * n for m, n in zip(a, b)]
    x, y = o._unsafe_view(self, left), o._unsafe_view(other, right)
    if out is None:
        return o._unsafe_view(o("mul.Tensor", x, y), shape)
    if list(out.shape) != shape:
        out.resize_(shape)
    wide = o._unsafe_view(out, [m * n for m, n in zip(left, right)])
    end("mul.Tensor", x, y, out=wide)
    return out


@part("linalg_vecdot")
def _vecdot(x, y, *, dim=-1, out=None):
    if x.dim() == 1 and y.dim() == 1:
        return end("vdot", x, y, out=out)
    x = o._conj(x) if x.is_complex() else x
    return end("sum.dim_IntList", o("mul.Tensor", x, y), [dim], out=out)


@part("linalg_multi_dot")
def _multi_dot(tensors, *, out=None):
    chain = list(tensors)
    shape = []
    if chain[0].dim() == 1:
        chain[0] = o.view(chain[0], [1, -1])
    else:
        shape.append(chain[0].shape[0])
    if chain[-1].dim() == 1:
        chain[-1] = o.view(chain[-1], [-1, 1])
    else:
        shape.append(chain[-1].shape[1])
    if out is not None:
        if list(out.shape) != shape:
            out.resize_(shape)
        wide = [chain[0].shape[0], chain[-1].shape[1]]
        _chain(chain, o.view(out, wide))
        return out
    return o.view(_chain(chain, None), shape)


def _chain(chain: list, out):
    sizes = [chain[0].shape[0], *(t.shape[1] for t in chain)]
    count = len(chain)
    if count == 2:
        return end("mm", chain[0], chain[1], out=out)
    if count == 3:
        a, b, c, d = sizes
        if b * d * (a + c) < a * c * (b + d):
            return end("mm", chain[0], o.mm(chain[1], chain[2]), out=out)
        return end("mm", o.mm(chain[0], chain[1]), chain[2], out=out)
    costs = [[0] * count for _ in range(count)]
    cuts = [[0] * count for _ in range(count)]
    for span in range(1, count):
        for i in range(count - span):
            j = i + span
            costs[i][j], cuts[i][j] = min(
                (
                    costs[i][k]
                    + costs[k + 1][j]
                    + sizes[i] * sizes[k + 1] * sizes[j + 1],
                    k,
                )
                for k in range(i, j)
            )

    def product(i: int, j: int, out=None):
        if i == j:
            return chain[i]
        k = cuts[i][j]
        return end("mm", product(i, k), product(k + 1, j), out=out)

    return product(0, count - 1, out)


# --- decompositions ---


def _checked(info, name: str, is_matrix: bool) -> None:
    o._linalg_check_errors(info, name, is_matrix=is_matrix)


@part("linalg_cholesky")
def _cholesky(self, *, upper=False, out=None):
    matrix = self.dim() == 2
    if out is None:
        found, info = o.linalg_cholesky_ex(self, upper=upper)
    else:
        found, info = o(
            "linalg_cholesky_ex.L",
            self,
            upper=upper,
            L=out,
            info=empty(self, [0], _C.int32),
        )
    _checked(info, "linalg.cholesky", matrix)
    return found


@part("linalg_inv")
def _inv(A, *, out=None):
    if out is None:
        found, info = o.linalg_inv_ex(A)
    else:
        found, info = o(
            "linalg_inv_ex.inverse", A, inverse=out, info=empty(A, [0], _C.int32)
        )
    _checked(info, "linalg.inv", A.dim() == 2)
    return found


def _factored(name: str, first: str):
    text = f"torch.{name.replace('_', '.', 1)}"

    def factor(A, *args, LD=None, LU=None, pivots=None, **kwargs):
        if pivots is None:
            *found, info = o(f"{name}_ex", A, *args, **kwargs)
        else:
            outs = {first: LD if LU is None else LU, "pivots": pivots}
            *found, info = o(
                f"{name}_ex.out",
                A,
                *args,
                **kwargs,
                **outs,
                info=empty(A, [0], _C.int32),
            )
        _checked(info, text, A.dim() == 2)
        return _named(name, found)

    return factor


def _named(name: str, found):
    """Results under the names that those of the operator have."""
    kind = getattr(lent("return_types"), name, None)
    return tuple(found) if kind is None else kind(tuple(found))


part("linalg_lu_factor")(_factored("linalg_lu_factor", "LU"))
part("linalg_ldl_factor")(_factored("linalg_ldl_factor", "LD"))


@part("linalg_eigvals.default")
def _eigvals(self):
    return o.linalg_eig(self)[0]


@part("linalg_eigh")
def _eigh(self, UPLO="L"):
    return _named("linalg_eigh", o._linalg_eigh(self, UPLO))


@part("linalg_eigvalsh")
def _eigvalsh(self, UPLO="L"):
    return o._linalg_eigh(self, UPLO)[0]


@part("linalg_svd")
def _svd(A, full_matrices=True, *, driver=None):
    how = {} if driver is None else {"driver": driver}
    return _named("linalg_svd", o._linalg_svd(A, full_matrices, **how))


@part("linalg_svdvals")
def _svdvals(A, *, driver=None):
    how = {} if driver is None else {"driver": driver}
    return o._linalg_svd(A, **how)[1]


@part("svd")
def _old_svd(self, some=True, compute_uv=True):
    if not compute_uv:
        return whole("svd", self, some, compute_uv)
    U, S, Vh = o._linalg_svd(self, not some)
    return _named("svd", (U, S, adjoint(Vh)))


@part("qr.default")
def _old_qr(self, some=True):
    mode = () if some else ("complete",)
    return _named("qr", o.linalg_qr(self, *mode))


@part("qr.Q")
def _old_qr_out(self, some=True, *, Q, R):
    mode = () if some else ("complete",)
    o("linalg_qr.out", self, *mode, Q=Q, R=R)
    return _named("qr", (Q, R))


@part("linalg_det")
def _det(A):
    return o._linalg_det(A)[0]


@part("linalg_slogdet", "slogdet")
def _slogdet(A):
    return _named("linalg_slogdet", tuple(o._linalg_slogdet(A))[:2])


@part("logdet")
def _logdet(self):
    sign, size = tuple(o._linalg_slogdet(self))[:2]
    if self.is_complex():
        return o("add.Tensor", size, o.log(sign))
    negative = o("eq.Scalar", sign, -1.0)
    nan = number(float("nan"), self, self.dtype)
    return o("where.self", negative, nan, size)


@part("linalg_solve_ex")
def _solve_ex(A, B, *, left=True, check_errors=False):
    found = tuple(o._linalg_solve_ex(A, B, left=left, check_errors=check_errors))
    return _named("linalg_solve_ex", (found[0], found[3]))


@part("linalg_solve")
def _solve(A, B, *, left=True):
    found = tuple(o._linalg_solve_ex(A, B, left=left))
    _checked(found[3], "torch.linalg.solve", A.dim() == 2)
    return found[0]


@part("linalg_tensorsolve")
def _tensorsolve(self, other, dims=None):
    x = self
    if dims is not None:
        rest = [i for i in range(x.dim()) if i not in dims]
        x = o.permute(x, [*rest, *dims])
    shape = list(x.shape[other.dim() :])
    flat = reshape(x, [prod(shape), prod(shape)])
    found = _solve(flat, o.view(other, [prod(other.shape)]))
    return o.view(found, shape)


@part("lu_solve")
def _lu_solve(self, LU_data, LU_pivots, *, out=None):
    return end("linalg_lu_solve", LU_data, LU_pivots, self, out=out)


@part("cross")
def _cross(self, other, dim=None, *, out=None):
    if dim is None:
        dim = next((i for i, n in enumerate(self.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return end("linalg_cross", self, other, dim=dim, out=out)


@part("pinverse")
def _pinverse(self, rcond=1e-15):
    return _pinv(self, atol=None, rtol=rcond)


@part("linalg_pinv.atol_rtol_float")
def _pinv(self, *, atol=None, rtol=None, hermitian=False):
    first = 0.0 if atol is None else atol
    if rtol is None:
        eps = finfo(self.dtype).eps
        rtol = 0.0 if atol else max(self.shape[-2:]) * eps
    how = {"dtype": _C.float64, "layout": _C.strided, "device": self.device}
    a, r = o.full([], first, **how), o.full([], rtol, **how)
    return o("linalg_pinv.atol_rtol_tensor", self, atol=a, rtol=r, hermitian=hermitian)


@part("linalg_vander")
def _vander(x, *, N=None):
    if x.dim() == 0:
        x = o.unsqueeze(x, -1)
    count = x.shape[-1] if N is None else N
    wide = o.expand(o.unsqueeze(x, -1), [*x.shape, count - 1])
    powers = o.cumprod(wide, -1)
    ones = o.new_ones(x, [*x.shape, 1])
    return o.cat([ones, powers], -1)


@part("linalg_norm.default", "linalg_norm.out")
def _norm(self, ord=None, dim=None, keepdim=False, *, dtype=None):
    how = {} if dtype is None else {"dtype": dtype}
    several = [dim] if isinstance(dim, int) else dim
    if ord is not None and (
        len(several) == 2 if several is not None else self.dim() == 2
    ):
        pair = [0, 1] if several is None else several
        return o.linalg_matrix_norm(self, ord, pair, keepdim, **how)
    order = 2.0 if ord is None else ord
    return o.linalg_vector_norm(self, order, several, keepdim, **how)


@part("linalg_matrix_norm.str_ord")
def _matrix_norm_of(self, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    how = {} if dtype is None else {"dtype": dtype}
    if ord == "fro":
        return o.linalg_vector_norm(self, 2, list(dim), keepdim, **how)
    if ord == "nuc" and dtype is None:
        return _nuclear(self, [d % self.dim() for d in dim], keepdim)
    return whole("linalg_matrix_norm.str_ord", self, ord, dim, keepdim, **how)


def _nuclear(x: Tensor, dims: list[int], keepdim: bool) -> Tensor:
    """The sum of singular values of matrices in two dimensions."""
    order = [d for d in range(x.dim()) if d not in dims] + dims
    values = o._linalg_svd(o.permute(x, order))[1]
    found = o("sum.dim_IntList", values, [-1], keepdim)
    if not keepdim:
        return found
    found = o.unsqueeze(found, -1)
    return o.permute(found, [order.index(d) for d in range(x.dim())])


@part("linalg_matrix_power")
def _matrix_power(self, n, *, out=None):
    x = self
    if n == 0:
        one = o.eye(x.shape[-1], dtype=x.dtype, layout=_C.strided, device=x.device)
        if out is None:
            out = o.clone(x, memory_format=_C.contiguous_format)
        elif out.shape != x.shape:
            out.resize_(x.shape)
        return o.copy_(out, one)
    if n == 1:
        return given(out, o.clone(x, memory_format=_C.contiguous_format))
    if n < 0:
        x, n = _inv(x), -n
    if n == 1:
        return given(out, x)
    if n <= 3:
        squared = matmul(x, x, out=out if n == 2 else None)
        return squared if n == 2 else matmul(squared, x, out=out)
    found = power = None
    while n:
        n, odd = divmod(n, 2)
        power = x if power is None else matmul(power, power)
        if odd:
            found = power if found is None else matmul(found, power)
    return given(out, found)


@part("linalg_cond")
def _cond(self, p=None):
    if p is not None:
        return whole("linalg_cond", self, p)
    values = o._linalg_svd(self)[1]
    first = o("slice.Tensor", values, -1, 0, 1)
    last = o("slice.Tensor", values, -1, values.shape[-1] - 1, values.shape[-1])
    return o("squeeze.dim", o("div.Tensor", first, last), -1)
