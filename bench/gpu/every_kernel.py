"""Calls each family of CUDA kernels on small odd shapes, for a checker of
memory accesses to watch.
"""

from __future__ import annotations

import hotaru as torch

F = torch.nn.functional

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
    images = torch.randn(2, 9, 12, 11, device="cuda").to(dtype)
    weight = torch.randn(7, 9, 3, 3, device="cuda").to(dtype)
    images.requires_grad_(), weight.requires_grad_()
    y = F.conv2d(images, weight, padding=1)
    y = F.max_pool2d(F.group_norm(y, 7), 2) + F.avg_pool2d(y, 2)
    y = F.interpolate(y, scale_factor=2, mode="bilinear")
    places = torch.rand(2, 5, 7, 2, device="cuda").to(dtype)
    picked = F.grid_sample(images, places, align_corners=False)
    (y.sum() + picked.sum()).backward()
    q = torch.randn(2, 3, 70, 32, device="cuda").to(dtype).requires_grad_()
    if dtype != torch.float64:
        attend = F.scaled_dot_product_attention
        attend(q, q, q, is_causal=True).sum().backward()
    target = torch.randint(0, 13, (10,), device="cuda")
    (
        F.cross_entropy(a, target),
        F.embedding(target.clamp(max=9), a),
        a.sort(1),
        a.topk(3),
    )
    a.kthvalue(2), a.median(1), a.mode(1), a.unique(), a[a > 50], a.nonzero()
    torch.zeros_like(a).scatter_add_(1, target[:, None], a)
    torch.zeros_like(a).index_add_(0, target.clamp(max=9), a)
    torch.cdist(a.float(), a.float()), torch.bincount(target)
for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
    a = torch.randn(3, 40, 40, device="cuda").to(dtype)
    a = a @ a.mH + 40 * torch.eye(40, device="cuda").to(dtype)
    for f in (
        torch.linalg.inv,
        torch.linalg.cholesky,
        torch.linalg.qr,
        torch.linalg.eigh,
        torch.linalg.svd,
        torch.linalg.eig,
        torch.linalg.lu_factor,
        torch.linalg.matrix_exp,
        torch.fft.fft2,
    ):
        f(a / 40)
torch.cuda.synchronize()
print("done")
