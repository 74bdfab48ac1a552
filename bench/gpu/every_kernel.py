"""Calls each family of CUDA kernels on small odd shapes, for a checker of
memory accesses to watch.
"""

from __future__ import annotations

import hotaru as torch

x = torch.arange(1.0, 131.0, device="cuda").reshape(10, 13)
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    a = x.to(dtype)
    b = a.t()[::2, ::3]
    for f in (torch.exp, torch.log, torch.sin, torch.tanh, torch.sigmoid):
        f(a), f(b)
    a + a, b * 2.5, a / (a + 1), torch.where(a > 3, a, b.new_zeros(()))
    for dim in (0, 1):
        a.sum(dim), b.mean(dim), a.max(dim), a.var(dim), b.cumsum(dim)
        a.softmax(dim)
    a.sum(), b.prod(), a.argmax(), b.norm()
    a @ a.t(), torch.nn.functional.layer_norm(a, (13,))
    torch.cat([a, b.t()[:2]] if b.shape[0] == 13 else [a, a])
    a[torch.tensor([0, 3, 3], device="cuda")]
    a.gather(1, torch.zeros(10, 2, dtype=torch.int64, device="cuda"))
    torch.rand_like(a), torch.randn_like(a), torch.bernoulli(a.sigmoid())
torch.cuda.synchronize()
print("done")
