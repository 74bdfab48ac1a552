"""Single operators; a worker of compare.py, see there.

Sizes are those at which one core works for 10 µs to 5 ms, so that neither the
call nor the main memory decides alone.
"""

from __future__ import annotations

import worker

torch = worker.torch
nn, F = torch.nn, torch.nn.functional


def operands() -> dict:
    """Names that the statements below may use."""
    torch.manual_seed(0)
    rand = torch.randn

    def integers(high, *shape):
        return torch.randint(0, high, shape)

    names = {"torch": torch, "F": F}
    names |= {"f": rand(1000, 1000), "row": rand(1000), "m": rand(500, 500)}
    names |= {"p": names["f"].abs(), "h": names["f"].half(), "b": names["f"].bfloat16()}
    names |= {"half": rand(128, 128).half(), "bfloat": rand(128, 128).bfloat16()}
    names |= {"whole": integers(9, 128, 128), "s": rand(100, 100)}
    names |= {"table": rand(1000, 256), "src": rand(1000, 256)}
    names |= {"i0": integers(1000, 1000, 256), "i1": integers(256, 1000, 256)}
    names |= {"rows": integers(1000, 500), "columns": integers(256, 100)}
    names |= {"edges": integers(1000, 20000, 1).expand(20000, 64)}
    names |= {"messages": rand(20000, 64), "nodes": torch.zeros(1000, 64)}
    names |= {"x": rand(8, 32, 28, 28), "grid": rand(8, 28, 28, 2)}
    names |= {"points": rand(500, 64), "q": rand(4, 8, 128, 32)}
    names |= {"ids": integers(10000, 32, 64), "words": rand(10000, 128)}
    names |= {"sequence": rand(50, 16, 256), "lstm": nn.LSTM(256, 256)}
    names |= {"up": nn.ConvTranspose2d(32, 16, 4, 2, 1)}
    names |= {"conv": nn.Conv2d(32, 64, 3, padding=1)}
    names |= {"y": rand(1, 64, 56, 56), "conv56": nn.Conv2d(64, 64, 3, padding=1)}
    names |= {"g": rand(1000, 1000), "out": torch.empty(1000, 1000)}
    names |= {"n": rand(500, 500), "mm_out": torch.empty(500, 500)}
    names |= {"sums": torch.empty(1000), "ints": names["whole"].int()}
    names |= {"long": integers(9, 500, 500), "i": integers(9, 1000, 1000)}
    names |= {"one": rand(1, 512), "few": rand(8, 512), "wide": rand(512, 512)}
    names |= {"linear": nn.Linear(512, 512), "tokens": rand(64, 512)}
    names |= {"short": rand(1, 32, 64), "song": rand(4, 64, 400)}
    names |= {"bn": nn.BatchNorm2d(32).eval(), "conv1": nn.Conv1d(64, 64, 5)}
    names |= {"ln": nn.LayerNorm(512), "mha": nn.MultiheadAttention(256, 8).eval()}
    names |= {"bmm_a": rand(16, 64, 64), "bmm_b": rand(16, 64, 64)}
    names |= {"depth": nn.Conv2d(32, 32, 3, padding=1, groups=32)}
    names |= {"point": nn.Conv2d(32, 128, 1), "mask": names["f"] > 0}
    names |= {"gn": nn.GroupNorm(8, 32), "scores": rand(1, 50000)}
    names |= {"rms": nn.RMSNorm(512), "target": integers(1000, 1000)}
    return names


# Statements that are measured, one a line.
STATEMENTS = """
f.exp()
p.log()
p.sqrt()
f.sin()
f.cos()
f.tanh()
f.sigmoid()
f.erf()
f.floor()
F.gelu(f)
F.silu(f)
torch.atan2(f, f)
p.pow(2.5)
f + row
torch.lerp(f, f, 0.3)
torch.where(f > 0, f, row)
h + h
F.gelu(h)
h.float()
f.half()
b + b
m @ m
m.double() @ m.double()
half @ half
bfloat @ bfloat
whole @ whole
f @ row
torch.linalg.inv(s)
torch.linalg.qr(s)
table.gather(0, i0)
table.gather(1, i1)
table[rows]
table[:, columns]
table.index_select(0, rows)
nodes.scatter_add(0, edges, messages)
table.scatter_add(1, i1, src)
table.scatter(0, i0, src)
F.embedding(ids, words)
F.embedding_bag(ids, words)
f.sum()
f.sum(0)
f.sum(1)
f.max(0)
f.max(1)
f.std(1)
f.cumsum(1)
f.softmax(1)
f.logsumexp(1)
f.sort(1)
f.topk(5, 1)
f.argmax(1)
f[f > 0]
f.t().contiguous()
torch.cat([f, f])
x.permute(0, 2, 3, 1).contiguous()
conv(x)
up(x)
F.max_pool2d(x, 2)
F.avg_pool2d(x, 2)
F.pad(x, (1, 1, 1, 1))
F.layer_norm(f, (1000,))
F.interpolate(x, scale_factor=2.0, mode='bilinear')
F.grid_sample(x, grid, align_corners=False)
F.scaled_dot_product_attention(q, q, q)
lstm(sequence)
torch.cdist(points, points, 1.0)
torch.cdist(points, points)
torch.randn(1000, 1000)
torch.randperm(100000)
torch.add(f, g, out=out)
torch.exp(f, out=out)
torch.mul(f, row, out=out)
torch.mm(m, n, out=mm_out)
torch.matmul(m, n, out=mm_out)
torch.sum(f, 1, out=sums)
torch.mean(f, 0, out=sums)
torch.cumsum(f, 1, out=out)
torch.softmax(f, 1, out=out)
torch.sigmoid(f, out=out)
torch.add(f.t(), g, out=out)
torch.sub(out, g, out=out)
torch.cat([f[:500], g[:500]], out=out)
torch.clamp(f, 0, 1, out=out)
torch.addmm(n, m, m, out=mm_out)
torch.mv(f, row, out=sums)
conv56(y)
depth(x)
point(x)
conv1(song)
bn(x)
gn(x)
ints @ ints
long @ long
whole @ whole[0]
linear(one)
linear(few)
linear(tokens)
few @ wide
tokens @ wide.t()
bmm_a @ bmm_b
torch.bmm(bmm_a, bmm_b.mT)
torch.einsum('bij,bkj->bik', bmm_a, bmm_b)
ln(tokens)
rms(tokens)
tokens.softmax(-1)
one.softmax(-1)
F.log_softmax(f, 1)
F.cross_entropy(f, target)
mha(sequence, sequence, sequence, need_weights=False)
scores.topk(50)
scores.sort(-1)
scores.argmax(-1)
torch.multinomial(scores.softmax(-1), 1)
F.relu(f)
F.leaky_relu(f)
F.hardswish(f)
F.elu(f)
F.softplus(f)
F.mish(f)
f * g
f / g
f * 0.5
f - g
f > g
f.masked_fill(mask, 0.0)
f.abs()
f.neg()
p.rsqrt()
f.clamp(-1, 1)
f.int()
i.float()
i + i
i // 3
f.mean()
f.mean(1)
f.amax(1)
f.any()
f.norm()
f.var(0)
f.prod(1)
f.min()
f.clone()
torch.stack([f, g])
f.flip(1)
f.roll(3, 1)
f.repeat(2, 1)
x.permute(0, 2, 3, 1).reshape(8, -1)
f.tril()
torch.zeros(1000, 1000)
torch.arange(100000)
f.nonzero()
F.one_hot(rows, 1000)
F.adaptive_avg_pool2d(x, 1)
F.interpolate(x, scale_factor=2.0)
F.normalize(f)
F.cosine_similarity(f, g)
F.mse_loss(f, g)
f.square()
f.pow(2)
f.pow(3)
f.expm1()
p.log1p()
f.round()
f.sign()
torch.maximum(f, g)
torch.addcmul(f, f, g)
torch.outer(row, row)
torch.rand(1000, 1000)
F.dropout(f, 0.1)
F.unfold(x, 3, padding=1)
f.isnan()
f == g
mask & mask
~mask
mask.sum()
f.unique()
torch.searchsorted(row.sort()[0], row)
torch.bincount(target)
f.bfloat16()
b.float()
b * b
F.layer_norm(b, (1000,))
b.softmax(1)
torch.fft.rfft(f)
"""


if __name__ == "__main__":
    worker.statements(operands(), STATEMENTS.split("\n")[1:-1])
