"""Single operators; a worker of compare.py, see there.

Sizes are those at which one core works for 10 µs to 5 ms, so that neither the
call nor the main memory decides alone.
"""

from __future__ import annotations

import worker

torch = worker.torch
nn, F = torch.nn, torch.nn.functional


def operands() -> dict:
    """What the statements below may name."""
    torch.manual_seed(0)
    rand = torch.randn

    def integers(high, *shape):
        return torch.randint(0, high, shape)

    names = {"torch": torch, "F": F}
    names |= {"f": rand(1000, 1000), "row": rand(1000), "m": rand(500, 500)}
    names |= {
        "p": names["f"].abs(),
        "h": names["f"].half(),
        "b": names["f"].bfloat16(),
    }
    names |= {
        "half": rand(128, 128).half(),
        "bfloat": rand(128, 128).bfloat16(),
    }
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
    return names


def statements() -> list[str]:
    """What is measured."""
    return [
        "f.exp()", "p.log()", "p.sqrt()", "f.sin()", "f.cos()", "f.tanh()",
        "f.sigmoid()", "f.erf()", "f.floor()",
        "F.gelu(f)", "F.silu(f)", "torch.atan2(f, f)", "p.pow(2.5)",
        "f + row", "torch.lerp(f, f, 0.3)", "torch.where(f > 0, f, row)",
        "h + h", "F.gelu(h)", "h.float()", "f.half()", "b + b",
        "m @ m", "m.double() @ m.double()", "half @ half", "bfloat @ bfloat",
        "whole @ whole", "f @ row", "torch.linalg.inv(s)", "torch.linalg.qr(s)",
        "table.gather(0, i0)", "table.gather(1, i1)", "table[rows]",
        "table[:, columns]", "table.index_select(0, rows)",
        "nodes.scatter_add(0, edges, messages)",
        "table.scatter_add(1, i1, src)", "table.scatter(0, i0, src)",
        "F.embedding(ids, words)", "F.embedding_bag(ids, words)",
        "f.sum()", "f.sum(0)", "f.sum(1)", "f.max(0)", "f.max(1)", "f.std(1)",
        "f.cumsum(1)", "f.softmax(1)", "f.logsumexp(1)", "f.sort(1)",
        "f.topk(5, 1)", "f.argmax(1)", "f[f > 0]", "f.t().contiguous()",
        "torch.cat([f, f])", "x.permute(0, 2, 3, 1).contiguous()",
        "conv(x)", "up(x)", "F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)",
        "F.pad(x, (1, 1, 1, 1))", "F.layer_norm(f, (1000,))",
        "F.interpolate(x, scale_factor=2.0, mode='bilinear')",
        "F.grid_sample(x, grid, align_corners=False)",
        "F.scaled_dot_product_attention(q, q, q)", "lstm(sequence)",
        "torch.cdist(points, points, 1.0)", "torch.cdist(points, points)",
        "torch.randn(1000, 1000)", "torch.randperm(100000)",
    ]  # fmt: skip


if __name__ == "__main__":
    worker.statements(operands(), statements())
