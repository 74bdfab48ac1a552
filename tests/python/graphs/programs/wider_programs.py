"""Random programs as in view_programs.py, of what else users do to tensors in
place: masks, parts that are written, complex numbers, members of records,
lists and modules, hooks, gradients.

    python tests/python/graphs/programs/wider_programs.py SEED
"""

from __future__ import annotations

import dataclasses
import sys

from view_checks import run
from view_programs import LAYOUTS, MORE, PURE, VIEWS, WRITES, Program

import hotaru as torch

WIDE_LAYOUTS = {
    **LAYOUTS,
    "square": lambda new, x: new(4, 4),
    "integers": lambda new, x: (new(3, 4) * 7).long(),
    "bools": lambda new, x: new(3, 4) > 1.2,
    "complex": lambda new, x: torch.complex(new(3, 4), -new(3, 4)),
    "real part": lambda new, x: torch.complex(new(3, 4), new(3, 4)).real,
    "imaginary part": lambda new, x: torch.complex(new(4), new(4)).imag,
    "conjugate": lambda new, x: torch.complex(new(4), new(4)).conj(),
    "double": lambda new, x: new(3, 4).double(),
}

WIDE_VIEWS = [
    "n = a.T if a.dim() == 2 else a",
    "n = a.mT",
    "n = a.swapaxes(0, -1)",
    "n = a.unflatten(-1, (2, 2))",
    "n = a.tensor_split(2)[0]",
    "n = a.split([1, a.shape[-1] - 1], -1)[1]",
    "n = a.real",
    "n = a.imag",
    "n = torch.view_as_real(a)",
    "n = torch.view_as_complex(a[..., :2])",
    "n = a.conj()",
    "n = a.resolve_conj()",
    "n = a.hsplit(2)[1]",
    "n = a.select(0, -1)",
    "n = a.broadcast_to((2, *a.shape))",
    "n = a.H",
    "n = a.permute(*range(a.dim())[::-1])",
    "n = a[:, None]",
    "n = a.ravel()",
    "n = a.unbind(-1)[1]",
    "n = torch.atleast_2d(a)",
    "n = a.reshape(2, -1)",
    "n = a.to(a.dtype)",
    "n = a.float()",
    "n = a.type_as(b)",
    "n = a.cpu()",
    "n = a.expand_as(a)",
    "n = a.reshape(a.shape)",
    "n = a.squeeze(0)",
    "n = a.flatten(0, 1)",
    "n = a.narrow(0, 1, a.shape[0] - 1)",
    "with torch.no_grad(): n = a.chunk(2)[0]",
    "n = a.view(a.shape)",
    "with torch.inference_mode(): n = a[1:]",
    "n = torch.movedim(a, -1, 0)",
    "n = a.flatten(0, 1) if a.dim() > 1 else a[None]",
    "n = a.mH",
    "n = torch.broadcast_tensors(a, b)[0]",
    "n = a.diagonal(1)",
    "n = torch.real(a)",
    "n = a.view(torch.uint8) if a.is_floating_point() else a",
    "n = a.adjoint()",
]
WIDE_PURE = [
    "n = torch.complex(a, a)",
    "n = a[[0]]",
    "n = a[a > 1]",
    "n = -a",
    "n = a.abs()",
    "n = a.new_zeros(a.shape)",
    "n = torch.full_like(a, 2)",
    "n = torch.empty_like(a).copy_(b)",
    "n = a.to(torch.float64)",
    "n = a.clone().detach().requires_grad_()",
    "n = a > b",
    "n = a.long()",
    "with torch.inference_mode(): n = a * 2",
    "n = torch.tensor(2.0)",
    "with torch.no_grad(): n = a * 2",
    "n = a @ b.mT",
    "n = a.softmax(-1)",
    "n = a.sort(0)[0]",
    "n = a.max(0)[1]",
    "n = a.unique()",
    "n = a.neg()",
    "n = torch.nn.functional.layer_norm(a, a.shape[-1:])",
    "n = a.cumsum(0)",
    "n, = torch.autograd.grad((a * a).sum(), a)",
    "n = a.index_select(0, b)",
    "n = torch.nn.functional.linear(a, state.w)",
    "n = state.w * a",
    "n = torch.utils.checkpoint.checkpoint(torch.sin, a, use_reentrant=False)",
    "with torch.autocast('cpu'): n = a @ b.mT",
    "n = torch.func.grad(torch.sum)(a)",
    "n = torch.vmap(torch.sum)(a)",
    "n = a if a.numel() > 3 else b",
]
WIDE_WRITES = [
    "a.index_put_((a > 1,), torch.tensor(0.0))",
    "a[a > 2] = 0",
    "a[b > 1] = 7",
    "a.masked_fill_(a > 1, -1)",
    "a.masked_scatter_(a > 1, torch.zeros(99))",
    "a.exp_()",
    "torch.where(a > 1, a, b, out=c)",
    "a.index_fill_(0, torch.tensor([0]), 3)",
    "a.index_add_(0, torch.tensor([0]), a[:1])",
    "a.fill_diagonal_(2)",
    "a.index_copy_(0, torch.tensor([0]), b[:1])",
    "a.diagonal().fill_(4)",
    "a.scatter_(0, torch.zeros_like(a, dtype=torch.int64), 2)",
    "a.triu_()",
    "a.narrow(0, 0, 1).mul_(3)",
    "a.split(1)[0].add_(1)",
    "a.chunk(2)[-1].zero_()",
    "a.unbind()[0].mul_(2)",
    "for t in a.unbind(): t.add_(1)",
    "a.T.mul_(2)",
    "a[1:].copy_(a[:-1])",
    "a[:-1].copy_(a[1:])",
    "a.copy_(a.flip(0))",
    "a[:-1].copy_(b[1:])",
    "a[1:].copy_(b[:-1])",
    "a.t().copy_(a)",
    "a.real.mul_(2)",
    "a.imag.zero_()",
    "torch.view_as_real(a).mul_(2)",
    "a.mT.add_(1)",
    "a.flatten()[0] = 9",
    "a.lerp_(b, 0.5)",
    "a.conj().mul_(2j)",
    "a.addcmul_(a, b)",
    "torch.cumsum(a, 0, out=c)",
    "torch.sum(a, 0, out=c)",
    "torch.cat([a, b], out=c)",
    "torch.stack([a, b], out=c)",
    "a.sub_(a)",
    "torch.clamp(a, -1, 1, out=b)",
    "torch.sort(a, 0, out=(b, c))",
    "torch._foreach_add_([a, b], 1)",
    "torch.nn.functional.relu_(a)",
    "torch.nn.functional.relu(a, inplace=True)",
    "a.unsqueeze(0).neg_()",
    "torch.mul(a, a, out=a[:1])",
    "torch.add(a[1:], 1, out=a[:-1])",
    "a[[0, 0]] += 1",
    "a[0], a[1] = a[1], a[0]",
    "a[:, 1] = a[:, 0]",
    "a[torch.tensor([0])] = b[:1]",
    "a[None].mul_(2)",
    "a **= 2",
    "a /= 2",
    "with torch.no_grad(): a.copy_(b)",
    "with torch.no_grad(): a[0] = 1",
    "with torch.no_grad(): a.clamp_(min=0)",
    "a.data.copy_(b)",
    "a @= b",
    "a.data.clamp_(0, 1)",
    "n = a.mul_(2).add_(1)",
    "n = a.unsqueeze(0).add_(1)",
    "n = a[1:].zero_()",
    "a.detach().copy_(b)",
    "a.detach()[0] = 4",
]
MEMBERS = [
    "state.buf = a * 1",
    "state.buf += 1",
    "state.buf.mul_(2)",
    "n = state.buf",
    "setattr(state, 'buf', state.buf + 1)",
    "state.buf[0] = 2",
    "state.register_buffer('buf', a * 1)",
    "n = state.buf[1:]",
    "n = state.w[1:]",
    "n = state.w.detach()",
    "n = state.w",
    "with torch.no_grad(): state.w.add_(1)",
    "n = state.parts[0]",
    "with torch.no_grad(): state.w.copy_(a)",
    "state.w.data = a.detach() * 1",
    "state.parts[0] = a * 1",
    "state.parts[0].add_(1)",
    "state.parts[0] += a",
    "state.parts.append(a * 1)",
    "state.table['k'] = a * 1",
    "n = state.table['k']",
    "state.table['k'] += 1",
    "state.h, state.buf = state.buf, state.h",
    "state.buf = state.h",
    "state.h = state.buf.clone()",
    "state.buf = state.buf.mul_(2)",
    "state.h = state.h.add_(a)",
    "state.h = state.parts[0]",
    "del state.table['k']",
    "state.buf.copy_(state.h)",
    "state.count += 1",
    "n = a * state.count",
    "state.w = torch.nn.Parameter(a.detach() * 1)",
    "state.eval()",
    "n = a * 2 if state.training else a",
    "state.new = a * 1",
    "box[0] += a",
    "box[-1] *= 2",
    "box[:] = [a]",
    "box.insert(0, a)",
    "n = box.pop()",
    "box.reverse()",
    "box.extend([a, b])",
    "box[0] = box[0] * 2",
    "pair.left += 1",
    "pair.left = a",
    "n = pair.left",
    "pair.right.mul_(2)",
    "pair.left, pair.right = pair.right, pair.left",
    "n = pair.left[1:]",
    "setattr(pair, 'left', pair.right)",
    "pair.extra = a",
    "pair.left[0] = 1",
    "pair.items[0] += 1",
    "pair.items.append(a)",
    "n = pair.items[0]",
    "pair.items[0] = a",
    "pair.right = pair.right * 2",
    "n = pair.items[-1] * a",
    "a += pair.right",
    "pair.right.copy_(a)",
    "n = (a, b)[1]",
]
HISTORIES = [
    "a.register_hook(lambda g: g * 2)",
    "a.retain_grad()",
    "a.requires_grad_(False)",
    "(a * a).sum().backward()",
    "a.grad = None",
    "a.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(3))",
    "a.sum().backward(inputs=[state.w])",
    "(state.w * a).sum().backward()",
    "if b.nbytes > 31: a.set_(b.untyped_storage(), 0, (2,), (1,))",
    "a.set_()",
    "a.set_(b.detach())",
    "torch.Tensor.set_(a, b)",
    "a.transpose_(0, 1)",
    "a.swapdims_(0, 1)",
    "a.as_strided_((2,), (1,))",
    "n = a * 2 if a.requires_grad else a",
    "n = a * 2 if a._is_view() else a",
    "n = a * 2 if a.grad_fn is None else a",
    "n = a * 2 if a._base is b else a",
    "n = a.resize(2, 2)",
    "a.unsqueeze_(-1)",
    "n = a * len(a)",
    "n = a * 2 if a.is_inference() else a",
    "a.apply_(abs)",
    "n = a.view_as(b)",
    "assert a.sum() < 1e9",
    "a.name = 'one'",
    "a.requires_grad = True",
    "n = a.clone().share_memory_()",
    "n = a.is_set_to(b) * 1 + a",
    "a.data = a.data * 2",
    "try: a.view(-1, 7).add_(1)\n    except RuntimeError: a.add_(2)",
    "if state.training: a.add_(1)",
    "with torch.no_grad(): a.detach_()",
    "with torch.enable_grad(): n = a * 3",
    "n = torch.stack(list(a.unbind())).add_(1)",
    "n = sum(t.clone() for t in a.split(1))",
]


class Wide(torch.nn.Module):
    """Parts that programs rebind, write and train."""

    def __init__(self) -> None:
        super().__init__()
        self.h = torch.zeros(3, 4)
        self.w = torch.nn.Parameter(torch.ones(3, 4) / 2)
        self.register_buffer("buf", torch.ones(3, 4))
        self.parts = [torch.ones(3, 4)]
        self.table = {"k": torch.ones(4)}
        self.count = 1

    def seen(self) -> tuple:
        """Values that a caller sees of it."""
        found = [
            (
                t.shape,
                t.requires_grad,
                t.tolist(),
                None if t.grad is None else t.grad.tolist(),
            )
            for t in self.tensors()
            if not t.requires_grad or t.is_leaf
        ]
        lengths = len(self.parts), len(self.table), self.count, self.training
        return found, lengths, hasattr(self, "new")

    def tensors(self) -> list:
        return [self.h, self.w, self.buf, *self.parts, *self.table.values()]


@dataclasses.dataclass
class Pair:
    """An argument with tensors in it."""

    left: torch.Tensor
    right: torch.Tensor
    items: list


class WideProgram(Program):
    """A function of random lines of all kinds."""

    layouts_by_name = WIDE_LAYOUTS
    kinds = (
        (
            VIEWS + WIDE_VIEWS,
            PURE + WIDE_PURE,
            WRITES + WIDE_WRITES,
            MORE + HISTORIES,
            MEMBERS,
        ),
        (6, 4, 7, 2, 3),
    )
    more_arguments = ("pair", "box")

    def more(self, new) -> list:
        whole = new(3, 4)
        pair = Pair(whole, whole[1:] if self.seed % 2 else new(3, 4), [new(4)])
        return [pair, [new(3, 4)]]

    def scope(self) -> dict:
        return {"torch": torch, "state": Wide()}


if __name__ == "__main__":
    run(sys.argv[1:], WideProgram)
