"""Small programs, each with something that exported programs may hold."""

from __future__ import annotations

import collections

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """A linear layer; subclasses use it."""

    def __init__(self, inner=4, outer=4):
        super().__init__()
        self.fc = nn.Linear(inner, outer)


class Mlp(nn.Module):
    """Layers in a row, with whatever dtype."""

    def __init__(self, dtype=torch.float32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3)
        ).to(dtype)

    def forward(self, x):
        return self.net(x)


class BatchNorms(nn.Module):
    """Normalization with statistics that calls change."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3)
        self.bn = nn.BatchNorm1d(4)
        self.plain = nn.BatchNorm1d(4, affine=False)

    def forward(self, x):
        return self.plain(F.gelu(self.bn(self.conv(x)))).mean(-1)


class Dropouts(Net):
    """Dropout of the kinds that there are."""

    def forward(self, x):
        y = F.dropout(self.fc(x), 0.5, self.training)
        y = F.dropout1d(y.unsqueeze(1), 0.25, self.training).squeeze(1)
        return F.alpha_dropout(y, 0.1, self.training)


class Cond(Net):
    """A branch on data."""

    def forward(self, x):
        def hot(x, w):
            return torch.sin(x @ w), x.sum() * 2.0

        def cold(x, w):
            return torch.cos(x @ w) - 1, x.mean() * w.sum()

        a, b = torch.cond(x.sum() > 0, hot, cold, (x, self.fc.weight))
        return self.fc(a) + b


class NestedCond(Net):
    """A branch in a branch, with one result."""

    def forward(self, x):
        def inner(x):
            return torch.cond(x.max() > 1, lambda x: x * 2, lambda x: x + 1, (x,))

        y = torch.cond(x.mean() > 0, inner, lambda x: -x, (self.fc(x),))
        return y.relu()


class WhileLoop(Net):
    """A loop on data."""

    def forward(self, x):
        def test(i, x):
            return (i < 5) & (x.sum() < 50)

        def body(i, x):
            return i + 1, x * 1.5 + 0.1

        i, y = torch.while_loop(test, body, (torch.tensor(0), self.fc(x).abs()))
        return y, i


class Rows(Net):
    """Layers over rows: each by itself, and each after the one before."""

    def forward(self, x):
        from torch._higher_order_ops.map import map as over
        from torch._higher_order_ops.scan import scan

        def alone(row, weight, bias):
            return weight @ row + bias, row.sum()

        def after(carried, row):
            last, count = carried
            return (last * 0.5 + row, count + 1), (last * row, row.max())

        y, sums = over(alone, x, self.fc.weight, self.fc.bias)
        first = (torch.zeros(y.shape[1]), torch.zeros(()))
        carried, stacked = scan(after, first, y)
        return carried, stacked, sums


class Counter(Net):
    """Buffers of several kinds that forward changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("hidden", torch.ones(4), persistent=False)

    def forward(self, x):
        self.count += 1
        y = self.fc(x)
        self.mean.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        self.hidden = self.hidden * 0.5
        return y * self.count.float() + self.hidden


class Writes(Net):
    """An input that forward changes."""

    def forward(self, x, out):
        y = self.fc(x)
        out.add_(y.detach())
        out[:, 0] = 7
        return y + out


class Trees(Net):
    """Containers in and out."""

    def forward(self, inputs, pair, *, scale):
        a, b = pair
        y = self.fc(inputs["x"]) * scale[0]
        z = [t + y for t in inputs["list"]]
        pair = collections.OrderedDict(sum=y + a, product=y * b)
        return {"y": y, "more": (z, a - b)}, pair


class Keywords(Net):
    """Defaults and keywords."""

    def forward(self, x, bias=None, *, gain: float = 2.0, mode="sum"):
        y = self.fc(x) * gain
        if bias is not None:
            y = y + bias
        return y.sum(1) if mode == "sum" else y


class Plain(Net):
    """Numbers, None and strings among inputs and outputs."""

    def forward(self, x, n: int, f: float, flag: bool, none, text: str):
        y = self.fc(x) * f + n
        return (y if flag else -y), n, None, 2.5, text, True


class Constants(Net):
    """Tensors that forward makes of numbers."""

    def __init__(self):
        super().__init__()
        self.table = torch.tensor([1.0, -2.0, 3.0, 0.5])

    def forward(self, x):
        y = self.fc(x) * self.table + torch.tensor([1.0, 2.0, 3.0, 4.0])
        y = y + torch.tensor(float("inf")).neg().exp()
        return torch.where(y > 0, y, torch.tensor(-0.25))


class Sizes(Net):
    """Arithmetic of sizes."""

    def forward(self, x):
        b, t = x.shape[0], x.shape[1]
        y = self.fc(x).reshape(b * t, 4)
        y = y.view(b, t, 2, -1).mean(1)
        n = max(b, t)
        mask = torch.arange(b * 2 + t // 2).float()
        scale = (b / t) ** 0.5
        y = y.flatten(1) * scale + float(n)
        return y, mask.sum() - (t % 2), b + 3


class Numbers(Net):
    """Operators between tensors and numbers in all their overloads."""

    def forward(self, x):
        y = self.fc(x)
        a = (y > 0) & (y <= 1) | (y == 2) ^ (y != 3)
        n = (y * 8).to(torch.int32)
        b = (n // 3) + (n % 3) - (n & 6) + (n | 1) + (n << 1) + (n ^ 5)
        c = 2 - y + 3 / (y.abs() + 1) + y**2 + 2**y + torch.pow(y.abs(), 0.5)
        c = c.clamp(min=-3).clamp(-2, 4).masked_fill(a, 0.5)
        d = torch.fmod(y, 0.7) + torch.remainder(y, 0.3) + torch.rsub(y, 1.5)
        c[:, 1:3] *= 2
        return torch.add(c, d, alpha=0.5), b, (1 + n).float().mean(), ~a


class NoGrad(Net):
    """A part without gradients, and one with autocast."""

    def forward(self, x):
        y = self.fc(x)
        with torch.no_grad():
            z = self.fc(x) * 2
        with torch.autocast("cpu", dtype=torch.bfloat16):
            a = self.fc(y)
        return y + z + a.float()


class Items(Net):
    """Numbers out of tensors, with bounds that are known."""

    def forward(self, x, n):
        k = n.item()
        torch._check(k >= 1)
        torch._check(k <= 4)
        return self.fc(x).narrow(1, 0, k).sum(1) + torch.ones(k).sum()


class Indices(Net):
    """Indexing in its forms."""

    def forward(self, x, i):
        y = self.fc(x)
        a = y[i, :, None] + y[..., [0, 2]].mean()
        b = torch.gather(y, 1, i[:1].expand(y.size(0)).unsqueeze(1))
        c = y.new_zeros(5, 4).index_add(0, i, y[i] * 2)
        c[i] = 1.5
        d = torch.zeros(4, 3).scatter(1, i.clamp(max=2).unsqueeze(1), 2.0)
        return a.sum(2), b, c, d.sum() + F.one_hot(i, 5).sum(), y[-1, ::2]


class Linalg(Net):
    """Products, decompositions, reductions."""

    def forward(self, x):
        y = self.fc(x)
        g = y.t() @ y + 3 * torch.eye(4)
        low = torch.linalg.cholesky(g)
        s = torch.einsum("bi,ij,bj->b", y, torch.linalg.inv(g), y)
        v, i = y.max(1)
        stats = torch.stack([y.var(), y.std(), y.norm(), y.logsumexp((0, 1))])
        return low, s + v, stats, i, torch.cumsum(y, 1), y.unbind(1)[1].prod()


class Shared(nn.Module):
    """One parameter under two names, and one that is not trained."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)
        self.b.weight = self.a.weight
        self.a.bias.requires_grad_(False)
        self.gain = nn.Parameter(torch.ones(4) * 0.5)

    def forward(self, x):
        return self.b(F.relu(self.a(x))) * self.gain


class Loss(Net):
    """Losses of the kinds that there are."""

    def forward(self, x, target):
        y = self.fc(x)
        p = torch.log_softmax(y, 1)
        one = F.one_hot(target, 4).float()
        return (
            F.nll_loss(p, target)
            + F.mse_loss(y, one)
            + F.smooth_l1_loss(y, one)
            + F.binary_cross_entropy_with_logits(y, one)
            + F.kl_div(p, one, reduction="batchmean")
            + F.cross_entropy(y, target, label_smoothing=0.1)
            + F.huber_loss(y, one)
            + F.l1_loss(y, one)
        )
