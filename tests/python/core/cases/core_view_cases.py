# ruff: noqa: E501  (a case is one line)
"""Cases of views, layouts, broadcasting, factories and indexing."""

from __future__ import annotations

import random

from core_scope import case, cases

_VIEWS = """
laid(x(2, 3).view(6))
laid(x(2, 3).view(3, -1))
laid(x(2, 3).view(-1, 1, 2))
laid(x(2, 3, 4).transpose(0, 1).view(3, 2, 2, 2))
x(2, 3, 4).transpose(0, 1).view(6, 4)
x(2, 3).view(4)
x(2, 3).view(-1, -1)
x(2, 3).view(-1, 4)
x(2, 3).view(-2, 3)
x(2, 3).view()
x(2, 3).view([6])
x(2, 3).view((3, 2))
x(2, 3).view(torch.Size([3, 2]))
x(2, 3).view(2.5)
x(2, 3).view('a')
x(2, 3).view(torch.int32)
x(2, 4).view(torch.float64)
x(2, 3).view(torch.float64)
x(2, 3).view(torch.complex64)
tensor([1, 2], dtype=torch.int32).view(torch.uint8)
torch.empty(0, 3).view(-1, 3)
torch.empty(0, 3).view(-1, 0)
torch.empty(0, 3).view(3, 0).shape
laid(x(2, 3).reshape(3, 2))
laid(x(2, 3).t().reshape(6))
laid(x(2, 3).t().reshape(3, 2))
torch.reshape(x(2, 3), (6,))
torch.reshape(x(2, 3), (5,))
x(2, 3).reshape(-1)
x(()).reshape(1, 1) if False else tensor(3.).reshape(1, 1)
tensor(3.).reshape(())
tensor([3.]).reshape(())
tensor([3., 4.]).reshape(())
x(2, 3).reshape_as(x(3, 2)), x(2, 3).view_as(x(6))
laid(x(2, 3, 4).permute(2, 0, 1))
laid(torch.permute(x(2, 3, 4), (-1, 0, 1)))
x(2, 3).permute(0)
x(2, 3).permute(0, 0)
x(2, 3).permute(0, 2)
laid(x(2, 3, 4).transpose(0, 2))
laid(x(2, 3, 4).transpose(-1, 0))
x(2, 3).transpose(0, 2)
x(2, 3).transpose(0)
laid(x(2, 3).swapaxes(0, 1)), laid(x(2, 3).swapdims(0, 1))
laid(x(2, 3).t()), laid(x(3).t()), tensor(1.).t()
x(2, 3, 4).t()
laid(x(2, 3).T), laid(x(2, 3).mT), laid(x(2, 3).H)
x(2, 3, 4).T
x(3).mT
tensor(1.).mT
laid(x(2, 3, 4).mT)
laid(x(2, 3).select(0, 1)), laid(x(2, 3).select(1, -1))
x(2, 3).select(0, 2)
x(2, 3).select(2, 0)
x(2, 3).select(0, -3)
tensor(1.).select(0, 0)
laid(x(4, 3).narrow(0, 1, 2))
x(4, 3).narrow(0, 3, 2)
x(4, 3).narrow(0, -1, 1)
x(4, 3).narrow(0, -5, 1)
x(4, 3).narrow(0, 0, -1)
x(4, 3).narrow(2, 0, 1)
x(4, 3).narrow(0, tensor(1), 2)
laid(x(1, 2, 1).squeeze()), laid(x(1, 2, 1).squeeze(0)), laid(x(1, 2, 1).squeeze(1))
laid(x(1, 2, 1).squeeze((0, 2)))
x(1, 2, 1).squeeze(3)
tensor(1.).squeeze(0), tensor(1.).squeeze(-1)
tensor(1.).squeeze(1)
laid(x(2, 3).unsqueeze(0)), laid(x(2, 3).unsqueeze(1)), laid(x(2, 3).unsqueeze(-1)), laid(x(2, 3).unsqueeze(-3))
x(2, 3).unsqueeze(3)
x(2, 3).unsqueeze(-4)
laid(x(2, 3).t().unsqueeze(1))
laid(tensor(1.).unsqueeze(0))
laid(x(1, 3).expand(2, 3)), laid(x(3).expand(2, -1)), laid(x(1, 3).expand(4, 2, 3))
x(2, 3).expand(3, 3)
x(2, 3).expand(3)
x(2, 3).expand(-1, 2, 3)
x(2, 3).expand(2, -2)
laid(tensor(1.).expand(2, 2)), laid(tensor(1.).expand(()))
laid(x(1, 3).expand(0, 3))
laid(x(3).expand_as(x(2, 3)))
laid(torch.broadcast_to(x(3), (2, 3)))
[laid(t) for t in torch.broadcast_tensors(x(3, 1), x(1, 2))]
torch.broadcast_shapes((3, 1), (2,), (1, 1, 1))
torch.broadcast_shapes((3, 2), (3,))
torch.broadcast_tensors(x(3), x(2))
laid(x(7).unfold(0, 3, 2)), laid(x(2, 4).unfold(1, 2, 1))
x(4).unfold(0, 5, 1)
x(4).unfold(0, 2, 0)
x(4).unfold(0, -1, 1)
x(4).unfold(1, 1, 1)
laid(tensor(1.).unfold(0, 1, 1))
laid(x(3, 4).diagonal()), laid(x(3, 4).diagonal(1)), laid(x(3, 4).diagonal(-2)), laid(x(3, 4).diagonal(9))
laid(x(2, 3, 4).diagonal(0, 1, 2)), laid(x(2, 3, 4).diagonal(dim1=0, dim2=-1))
x(3, 4).diagonal(0, 0, 0)
x(3).diagonal()
x(3, 4).diagonal(0, 0, 2)
laid(x(2, 3, 4).movedim(0, 2)), laid(x(2, 3, 4).movedim((0, 1), (1, 2))), laid(x(2, 3, 4).moveaxis(-1, 0))
x(2, 3).movedim((0, 0), (0, 1))
x(2, 3).movedim((0,), (0, 1))
x(2, 3).movedim(0, 2)
[laid(t) for t in x(5, 2).split(2)]
[laid(t) for t in x(5, 2).split([1, 4])]
[laid(t) for t in torch.split(x(2, 5), 3, dim=1)]
x(5, 2).split([1, 3])
x(5, 2).split(0)
x(5, 2).split(-1)
x(5, 2).split(2, 2)
x(0, 2).split(0)
[t.shape for t in x(0, 2).split(3)]
tensor(1.).split(1)
[laid(t) for t in x(5, 2).chunk(2)], [t.shape for t in x(5, 2).chunk(9)]
x(5, 2).chunk(0)
[t.shape for t in torch.chunk(x(4, 6), 3, 1)]
[laid(t) for t in x(2, 3).unbind()], [laid(t) for t in x(2, 3).unbind(1)]
tensor(1.).unbind()
x(2, 3).unbind(2)
[t.shape for t in torch.tensor_split(x(7, 2), 3)]
[t.shape for t in torch.tensor_split(x(7, 2), (1, 4))]
[t.shape for t in torch.hsplit(x(4, 6), 3)], [t.shape for t in torch.vsplit(x(4, 6), 2)]
laid(x(6).as_strided((2, 2), (3, 1))), laid(x(6).as_strided((2, 2), (1, 1), 2))
laid(torch.as_strided(x(6), (3,), (0,)))
x(6).as_strided((2, 4), (3, 1))
x(6).as_strided((2, 2), (3,))
x(6).as_strided((2, -2), (3, 1))
x(6).as_strided((2, 2), (-1, 1))
x(6).as_strided((2,), (1,), -1)
x(6).as_strided((2,), (1,), 5)
x(6).as_strided((0,), (1,), 5).shape
laid(x(2, 3, 4).flatten()), laid(x(2, 3, 4).flatten(1)), laid(x(2, 3, 4).flatten(0, 1)), laid(tensor(1.).flatten())
x(2, 3, 4).flatten(2, 1)
x(2, 3, 4).flatten(0, 3)
laid(x(2, 3, 4).transpose(0, 1).flatten(0, 1))
laid(x(6).unflatten(0, (2, 3))), laid(x(2, 6).unflatten(1, (-1, 2))), laid(x(2, 6).unflatten(-1, (3, 2)))
x(6).unflatten(0, (4, 2))
x(6).unflatten(0, ())
laid(x(2, 3).ravel()), laid(x(2, 3).t().ravel())
x(2, 3).numel(), x(2, 3).nelement(), x(2, 3).dim(), x(2, 3).ndim, x(2, 3).ndimension()
x(2, 3).size(), x(2, 3).size(0), x(2, 3).size(-1), x(2, 3).size(dim=1), x(2, 3).shape
x(2, 3).size(2)
x(2, 3).size('a')
x(2, 3).stride(), x(2, 3).stride(0), x(2, 3).stride(-1), x(2, 3).t().stride()
x(2, 3).stride(5)
x(2, 3).is_contiguous(), x(2, 3).t().is_contiguous(), x(1, 3).t().is_contiguous(), torch.empty(0, 2).t().is_contiguous()
x(2, 3).storage_offset(), x(4, 3)[2:].storage_offset(), x(2, 3).element_size(), x(2, 3).nbytes, x(2, 3).itemsize
a = x(2, 3); (a.contiguous() is a, a.t().contiguous().stride())
laid(x(2, 3).t().clone()), laid(x(2, 3, 4).permute(2, 0, 1).clone()), laid(x(1, 3).expand(2, 3).clone()), laid(x(4, 4)[::2, ::2].clone())
laid(x(2, 3).t().clone(memory_format=torch.contiguous_format))
laid(x(2, 3).t() + 1), laid(x(2, 3).t() + x(3, 2)), laid(x(2, 3).t() + x(2, 3).t()), laid(x(3, 2) + x(2, 3).t())
laid(x(2, 3, 4).permute(2, 0, 1) * 2), laid(x(2, 3, 4).permute(2, 0, 1) * x(4, 1, 1)), laid(-x(2, 3, 4).permute(1, 2, 0))
laid(x(4, 4)[::2, ::2] + 1), laid(x(4, 4).t()[::2, ::2] + 1), laid(x(1, 3).expand(2, 3) + 1), laid(x(3, 1).expand(3, 2) + 1)
laid(x(2, 3).t().exp()), laid(x(2, 3).t() > 0), laid(x(2, 3).t().to(torch.float64)), laid(x(2, 3).t().int())
laid(x(2, 3, 4, 5).permute(0, 2, 3, 1) + x(2, 4, 5, 3)), laid(x(2, 3, 4, 5).permute(0, 2, 3, 1) + x(3))
laid(x(3) + x(2, 3).t().t()), laid(x(3, 1) + x(1, 2)), laid(x(3, 2).t() + x(3)), laid(x(3) + x(3, 2).t())
laid(torch.where(x(2, 3).t() > 0, x(2, 3).t(), 0.)), laid(x(2, 3).t().clamp(0)), laid(torch.lerp(x(2, 3).t(), x(2, 3).t(), 0.5))
laid(torch.zeros_like(x(2, 3).t())), torch.empty_like(x(2, 3, 4).permute(2, 0, 1)).stride(), laid(torch.ones_like(x(3, 1).expand(3, 2)))
laid(torch.ones_like(torch.ones(9).as_strided((3, 3), (2, 2)))), laid(torch.ones(9).as_strided((3, 3), (2, 2)) + 1)
laid(torch.zeros_like(x(4, 4)[:, ::2])), laid(torch.zeros_like(x(2, 3).t(), memory_format=torch.contiguous_format))
x(2, 3) + x(2)
x(2, 3) + x(3, 2)
x(2, 3) * torch.ones(2, 1, 3), x(2, 1) - x(3)
(x(0, 3) + x(1, 3)).shape, (x(0, 1) + x(3)).shape, (x(2, 0) * 2).shape
x(0, 3) + x(2, 3)
x(2, 3)[:, 0] + x(4)[::2]
torch.atleast_1d(tensor(1.)), torch.atleast_2d(x(2)), torch.atleast_3d(x(2, 2)).shape
a = x(2, 3); b = a.view(6); b[0] = 7; a
a = x(2, 3); b = a.t(); b.mul_(2); a
a = x(2, 3); a[:, 1].fill_(5); a
a = x(3, 3); a.diagonal().zero_(); a
a = x(4); a[1:] = a[:-1].clone(); a
a = torch.arange(6); a[1:].copy_(a[:-1]); a
a = torch.arange(6); a[1:] += a[:-1]; a
a = torch.arange(4.).view(2, 2); a += a.t(); a
a = x(2, 3); a.t_(); laid(a)
a = x(2, 1, 3); a.squeeze_(); laid(a)
a = x(2, 3); a.unsqueeze_(0); laid(a)
a = x(2, 3); a.transpose_(0, 1); laid(a)
a = x(2, 3); a.squeeze_(1); laid(a)
a = x(2, 3); a.resize_(3, 2); laid(a)
a = x(2, 3); a.resize_(1, 2); laid(a)
a = x(2, 3).requires_grad_(); a.resize_(3)
x(2, 3).resize_(-1)
a = x(2, 3); a.set_(x(4)); laid(a)
a = x(2, 3); b = a.data; b.zero_(); (a, a.data_ptr() == b.data_ptr(), b is a.data)
a = x(2, 3); a.data = x(4); laid(a)
a = x(2, 3); a.data = 3
a = x(2, 3); (a.data_ptr() == a.view(6).data_ptr(), a[1].data_ptr() - a.data_ptr())
a = x(2, 3); b = a.view(3, 2); (b._base is a, a._base is None, a[0][1:]._base is a, b._is_view() if hasattr(b, '_is_view') else True)
a = x(2); a.copy_(x(3))
x(2).copy_(tensor(1.))
x(2, 3).copy_(x(3)), x(2).copy_(tensor([1, 2])), tensor([1, 2]).copy_(tensor([1.9, -2.9]))
x(2).copy_('a')
x(3).repeat(2), x(3).repeat(2, 2), x(3).repeat((2, 1)), x(2, 1).repeat(1, 0).shape
x(2, 3).repeat(2)
x(2).tile(2), x(2, 2).tile((2,))
x(2, 3).flip(0), x(2, 3).flip(0, 1), torch.flip(x(2, 3), (-1,)), x(2, 3).fliplr(), x(2, 3).flipud(), x(2, 3).rot90()
x(2, 3).flip(0, 0)
x(2, 3).roll(1), x(2, 3).roll(1, 0), x(2, 3).roll((1, -1), (0, 1))
x(2, 3).view_as(3)
torch.real(tensor([1.])), torch.view_as_real(tensor([1+2j])), torch.view_as_complex(tensor([[1., 2.]]))
torch.view_as_real(tensor([1.]))
torch.view_as_complex(tensor([[1., 2., 3.]]))
tensor([1+2j, 3j]).conj(), tensor([1.]).conj(), tensor([1+2j]).conj().imag
a = tensor([1+2j]); a.real = 5; a
a = tensor([1+2j]); a.imag.zero_(); a
torch.imag(tensor([1.]))
torch.squeeze(x(1, 2), 0), torch.unsqueeze(x(2), 1), torch.transpose(x(2, 3), 0, 1), torch.t(x(2, 3)), torch.select(x(2, 3), 1, 1), torch.narrow(x(4), 0, 1, 2), torch.flatten(x(2, 3)), torch.movedim(x(2, 3), 0, 1), torch.ravel(x(2, 3)), torch.unbind(x(2, 3)), torch.diagonal(x(2, 2)), torch.swapaxes(x(2, 3), 0, 1)
""".strip().splitlines()

_FACTORIES = """
laid(torch.zeros(2, 3)), torch.zeros(()), torch.zeros([2]), torch.zeros((2, 1)), torch.zeros(0, 2).shape, torch.zeros(size=(2,))
torch.zeros(torch.Size([2])), torch.zeros(tensor(2)), torch.zeros((tensor(1), 2))
torch.zeros(2, dtype=torch.int64), torch.ones(2, dtype=torch.bool), torch.ones(1, dtype=torch.complex64), torch.zeros(1, dtype=torch.float16)
torch.zeros()
torch.zeros(-1)
torch.zeros(2, -3)
torch.zeros(2.5)
torch.zeros('a')
torch.zeros(2, dtype='float32')
torch.zeros(2, dtype=float), torch.zeros(2, dtype=int), torch.zeros(2, dtype=bool), torch.zeros(2, dtype=complex)
torch.zeros(2, foo=1)
torch.zeros(2, device='foo')
torch.zeros(2, device=3.5)
torch.zeros(2, requires_grad=True).requires_grad
torch.zeros(2, dtype=torch.int64, requires_grad=True)
torch.zeros(2**62, 4)
torch.ones(2, 3), torch.ones(2).dtype
torch.full((2, 2), 3), torch.full((2,), 1.5), torch.full((2,), True), torch.full((2,), 1j), torch.full((), 7)
torch.full((2,), 3, dtype=torch.float32), torch.full((2,), 1.9, dtype=torch.int32), torch.full((1,), 300, dtype=torch.int64)
torch.full((2,), 300, dtype=torch.uint8)
torch.full((2,), 1j, dtype=torch.float32)
torch.full(2, 3)
torch.full((2,))
torch.full((2,), 'a')
torch.full((2,), tensor(3.))
torch.full(fill_value=3, size=(2,))
torch.empty(2, 3).shape, torch.empty((2, 3)).stride(), torch.empty(0).shape, torch.empty(2, 3, dtype=torch.int8).dtype
laid(torch.empty_strided((2, 3), (1, 2)).zero_())
torch.empty_strided((2, 3), (1,))
torch.empty_strided((2, 3), (-1, 2))
torch.arange(5), torch.arange(5.), torch.arange(1, 4), torch.arange(1, 2, 0.25), torch.arange(5, 1, -2), torch.arange(0), torch.arange(1, 1)
torch.arange(2.5), torch.arange(-2.5, 2), torch.arange(0, 1, 0.1), torch.arange(0, 5, 2), torch.arange(end=3), torch.arange(start=1, end=3)
torch.arange(3, dtype=torch.float32), torch.arange(3, dtype=torch.int32), torch.arange(3, dtype=torch.float16), torch.arange(2.7, dtype=torch.int64)
torch.arange(True), torch.arange(1, 4, dtype=torch.uint8), torch.arange(0.5, 4)
torch.arange(5, 1)
torch.arange(1, 5, -1)
torch.arange(1, 5, 0)
torch.arange(float('nan'))
torch.arange(0, inf)
torch.arange()
torch.arange('a')
torch.arange(1, 2, 3, 4)
torch.arange(2**53, 2**53 + 3), torch.arange(2**62, 2**62 + 2)
torch.arange(tensor(3)), torch.arange(tensor(1), tensor(3.))
torch.arange(0, 1e6, 1e5), torch.arange(1, 3, dtype=torch.complex64)
torch.range(1, 3)
torch.linspace(0, 1, 5), torch.linspace(1, 0, 3), torch.linspace(0, 10, 1), torch.linspace(0, 1, 0), torch.linspace(-1, 1, steps=4)
torch.linspace(0, 10, 5, dtype=torch.int64), torch.linspace(0, 1, 3, dtype=torch.float64), torch.linspace(0, 7, 4, dtype=torch.int32)
torch.linspace(0, 1, -1)
torch.linspace(0, 1)
torch.linspace(0, 1, 7, dtype=torch.float16), torch.linspace(0, 1j, 3)
torch.linspace(tensor(0.), tensor(2.), 3), torch.linspace(0.1, 0.9, 10), torch.linspace(-5, 5, 11)
torch.logspace(0, 2, 3), torch.logspace(0, 3, 4, base=2)
torch.eye(3), torch.eye(2, 3), torch.eye(0).shape, torch.eye(2, dtype=torch.int64), torch.eye(3, 2, dtype=torch.bool)
torch.eye(-1)
torch.eye(2.5)
torch.eye(n=2, m=1)
torch.zeros_like(x(2)), torch.ones_like(tensor([1])), torch.full_like(x(2), 3), torch.full_like(tensor([1]), 2.7), torch.zeros_like(x(2), dtype=torch.int32), torch.ones_like(x(1), dtype=torch.bool)
torch.full_like(tensor([True]), 3)
torch.zeros_like(3)
torch.zeros_like([1, 2])
torch.ones_like(x(2), requires_grad=True).requires_grad
torch.empty_like(x(2, 3), dtype=torch.float64).dtype, torch.rand_like(x(2)).shape
x(2).new_zeros(3), x(2).new_zeros((2, 1), dtype=torch.int64), tensor([1]).new_ones(2), x(2).new_full((2,), 3), tensor([1]).new_full((2,), 3.5), x(2).new_empty(2, 3).shape
x(2).new_tensor([1, 2]), tensor([1]).new_tensor([1.5]), x(2).new_tensor(3), x(2).double().new_tensor([1], dtype=torch.int32)
tensor(1), tensor(1.5), tensor(True), tensor(1j), tensor([1, 2.5]), tensor([True, 2]), tensor([1, 2j]), tensor([True, 1.5]), tensor([])
tensor([[1, 2], [3, 4]]), tensor([[[1.]]]), tensor([[], []]), tensor([[[]]]), tensor(((1, 2), (3, 4))), tensor([(1, 2), [3, 4]])
tensor([1, 2], dtype=torch.float64), tensor([1.5, 2.7], dtype=torch.int32), tensor([0, 2], dtype=torch.bool), tensor(3, dtype=torch.complex64), tensor([1.5], dtype=torch.bfloat16)
tensor([[1, 2], [3]])
tensor([[1, 2], 3])
tensor([1, [2]])
tensor([[1, 2], [3, 'a']])
tensor('abc')
tensor(['a', 'b'])
tensor(None)
tensor([None])
tensor({})
tensor(object)
tensor([object()])
tensor()
tensor(1, 2)
tensor([1], foo=2)
tensor([1], dtype='a')
tensor([1j], dtype=torch.float32)
tensor(1e400), tensor(-1e400), tensor([1e39])
tensor([300], dtype=torch.uint8)
tensor([-1], dtype=torch.uint8)
tensor([128], dtype=torch.int8)
tensor([2**31], dtype=torch.int32)
tensor([2**63])
tensor([2**63 - 1]), tensor(-2**63)
tensor([1e10], dtype=torch.int32)
tensor(range(3)), tensor(list(range(3)))
tensor([tensor(1), tensor(2)]), tensor([tensor(1.5), 2]), tensor((tensor([1]), tensor([2])))
tensor([tensor([1, 2]), tensor([3, 4])])
tensor([tensor([1, 2]), tensor([3])])
tensor(tensor([1, 2]))
tensor(tensor([1., 2.], requires_grad=True))
tensor([1., 2.], requires_grad=True).requires_grad
tensor([1, 2], requires_grad=True)
tensor(np.array([1, 2])), tensor(np.float32(1.5)), tensor(np.int8(3)), tensor(np.array(2.5)), tensor([np.float32(1.5), 2]), tensor([np.array([1, 2]), np.array([3, 4])])
tensor(np.array([[1.5]], dtype=np.float32)), tensor(np.array([True])), tensor(np.array([1j])), tensor(np.array([1], dtype=np.uint8)), tensor(np.array([1.], dtype=np.float16))
tensor(np.array([1], dtype=np.uint16)).tolist()
tensor(np.array(['a']))
tensor(np.array([object()]))
tensor(np.arange(6).reshape(2, 3)[:, ::-1])
tensor(np.arange(4)[::-1])
tensor(np.arange(4, dtype='>i4'))
tensor([np.bool_(True)]), tensor(np.bool_(True)), tensor(np.complex64(1j))
tensor(bytearray(b'ab'))
a = tensor([1, 2]); b = torch.as_tensor(a); b is a
a = np.array([1., 2.]); b = torch.as_tensor(a); a[0] = 5; b
torch.as_tensor([1, 2]), torch.as_tensor(3), torch.as_tensor([1, 2], dtype=torch.float32), torch.as_tensor(np.float64(2))
torch.asarray([1, 2]), torch.asarray(np.array([1.])), torch.asarray(3.5)
torch.scalar_tensor(3), torch.scalar_tensor(3, dtype=torch.int64)
torch.Tensor([1, 2]), torch.Tensor(2, 3).shape, torch.Tensor().shape, torch.Tensor([[1, 2]]).dtype
torch.Tensor([1, 'a'])
torch.FloatTensor([1, 2]), torch.LongTensor([1, 2]), torch.BoolTensor([1, 0]), torch.ByteTensor(2).shape
torch.tril_indices(3, 3), torch.triu_indices(2, 3)
torch.complex(x(2), x(2)), torch.polar(tensor([1.]), tensor([0.]))
torch.complex(x(2), tensor([1, 2]))
torch.frombuffer(bytearray(b'\\x01\\x02\\x03\\x04'), dtype=torch.int16)
torch.frombuffer(bytearray(b'\\x01\\x02\\x03'), dtype=torch.int16)
torch.frombuffer(bytearray(8), dtype=torch.float32, count=1, offset=4)
torch.frombuffer(bytearray(8), dtype=torch.float32, count=3)
torch.frombuffer(bytearray(0), dtype=torch.float32)
torch.meshgrid(tensor([1, 2]), tensor([3, 4]), indexing='ij'), torch.meshgrid(tensor([1, 2]), tensor([3]), indexing='xy')
torch.meshgrid(tensor([1]), tensor([[3]]), indexing='ij')
torch.cartesian_prod(tensor([1, 2]), tensor([3, 4])), torch.combinations(tensor([1, 2, 3]))
torch.vander(tensor([1, 2, 3])), torch.heaviside(tensor([-1., 0., 1.]), tensor(0.5))
torch.is_tensor(x(1)), torch.numel(x(2, 3)), torch.is_nonzero(tensor(1.)), torch.equal(x(2), x(2)), torch.equal(x(2), x(3)), torch.typename(x(2))
torch.is_nonzero(x(2))
torch.allclose(x(2), x(2)), torch.isclose(x(2), x(2) + 1e-9), torch.allclose(x(2), x(2) + 1), torch.allclose(tensor([nan]), tensor([nan]), equal_nan=True)
torch.clone(x(2)), torch.numel(input=x(2)), torch.empty(2).fill_(3), torch.empty(2).fill_(tensor(4)), torch.ones(2).zero_()
x(2).fill_(tensor([1., 2.]))
x(2).fill_('a')
x(2).fill_(1j)
tensor([1]).fill_(2.7), tensor([True]).fill_(3)
""".strip().splitlines()

_INDEXING = """
x(3, 4)[1], x(3, 4)[-1], x(3, 4)[1, 2], x(3, 4)[1][2], x(3, 4)[:, 1], x(3, 4)[..., 1], x(3, 4)[1, ...], x(3, 4)[()]
x(3, 4)[3]
x(3, 4)[-4]
x(3, 4)[0, 4]
x(3, 4)[0, 0, 0]
x(3, 4)[0, 0, ..., 0]
tensor(1.)[0]
tensor(1.)[...], tensor(1.)[None], tensor(1.)[()], tensor(1.)[None, ...]
tensor(1.)[:]
x(3)[1.5]
x(3)['a']
x(3)[{}]
x(3)[None], x(3)[None, :, None], x(3, 4)[:, None].shape, x(3, 4)[..., None].shape, x(3, 4)[None, ..., None].shape
laid(x(5)[1:4]), laid(x(5)[::2]), laid(x(5)[-3:]), laid(x(5)[:-1]), laid(x(5)[4:1]), laid(x(5)[10:]), laid(x(5)[-10:2]), laid(x(5)[1:10:3])
x(5)[::-1]
x(5)[::0]
x(5)['a':]
x(5)[1.5:]
x(5)[tensor(1):tensor(3)], x(5)[tensor(2)], x(5)[np.int64(2)], x(5)[tensor(1, dtype=torch.uint8)].shape
x(3, 4)[True], x(3, 4)[False].shape, x(3, 4)[True, 1].shape, x(3, 4)[None, True].shape, tensor(1.)[True], tensor(1.)[False].shape
x(3, 4)[[0, 2]], x(3, 4)[[0, 2], [1, 3]], x(3, 4)[:, [0, 2]], x(3, 4)[[[0, 1], [1, 2]]].shape, x(3, 4)[(0, 2)], x(3, 4)[[0]]
x(3, 4)[tensor([0, 2])], x(3, 4)[tensor([0, 2]), tensor([1, 3])], x(3, 4)[tensor([[0], [2]]), tensor([1, 3])], x(3, 4)[tensor([-1, -3])]
x(3, 4)[tensor([0, 3])]
x(3, 4)[tensor([-4])]
x(3, 4)[tensor([0, 1]), tensor([0, 1, 2])]
x(3, 4)[tensor([0.5])]
x(3, 4)[tensor([], dtype=torch.int64)].shape, x(3, 4)[[]].shape, x(3, 4)[:, []].shape
x(3, 4)[tensor([True, False, True])], x(3, 4)[:, tensor([True, False, True, False])], x(3, 4)[x(3, 4) > 0], x(3, 4)[[True, False, True]]
x(3, 4)[tensor([True, False])]
x(3, 4)[tensor([[True, False]])]
x(3, 4)[torch.ones(3, 4, 1, dtype=torch.bool)]
x(2, 3, 4)[torch.ones(2, 3, dtype=torch.bool)].shape, x(2, 3, 4)[:, torch.ones(3, 4, dtype=torch.bool)].shape, x(2, 3, 4)[torch.ones(2, 3, dtype=torch.bool), 0].shape
x(2, 3, 4)[0, :, tensor([0, 1])].shape, x(2, 3, 4)[:, 0, tensor([0, 1])].shape, x(2, 3, 4)[tensor([0, 1]), :, tensor([0, 1])].shape, x(2, 3, 4)[:, tensor([0, 1]), tensor([0, 1])].shape
x(2, 3, 4)[0, tensor([0, 1])].shape, x(2, 3, 4)[..., tensor([0, 1])].shape, x(2, 3, 4)[tensor([0, 1]), ..., tensor([0, 1])].shape, x(2, 3, 4)[:, None, tensor([0, 1])].shape, x(2, 3, 4)[None, tensor([0, 1])].shape
x(2, 3, 4)[tensor([[0, 1]]), None, tensor([0])].shape, x(2, 3, 4)[1, None, tensor([0])].shape
x(3, 4)[np.array([0, 2])], x(3, 4)[np.array([True, False, True])], x(3, 4)[np.array(1)], x(3, 4)[(np.array([0]), slice(1, 3))]
x(3, 4)[tensor(1), tensor([0, 2])], x(3, 4)[tensor(1), 2], x(3, 4)[tensor([1]), 2], x(3)[tensor(True)].shape, x(3)[tensor(False)].shape
x(3, 4)[range(2)], x(3, 4)[[slice(0, 1), 2]]
x(3, 4)[tensor([1, 0], dtype=torch.int32)], x(3, 4)[tensor([1, 0], dtype=torch.int8)]
x(3)[tensor([1, 0, 1], dtype=torch.uint8)]
x(3, 4)[2**70]
a = x(3, 4); a[0] = 5; a[:, 1] = -1; a[2, 3] = 9; a
a = x(3, 4); a[1:, ::2] = tensor([1., 2.]); a
a = x(3, 4); a[...] = 2; a
a = x(3, 4); a[0] = tensor([1, 2, 3, 4]); a
a = x(3, 4); a[0] = [1, 2, 3, 4]; a
a = x(3, 4); a[:, 0] = np.array([1., 2., 3.]); a
a = x(3, 4); a[0] = tensor([1., 2.])
a = x(3, 4); a[0] = 'a'
a = x(3, 4); a[0] = None
a = x(3, 4); a[3] = 1
a = x(3, 4); a[0, 0] = tensor([1., 2.])
a = x(3, 4); a[0, 0] = tensor([[7.]]); a
a = x(3, 4); a[[0, 2]] = 1; a
a = x(3, 4); a[[0, 2], [1, 3]] = tensor([5., 6.]); a
a = x(3, 4); a[tensor([0, 0]), tensor([1, 1])] = tensor([5., 6.]); a
a = x(3, 4); a[a > 0] = 0; a
a = x(3, 4); a[a > 0] = torch.arange(float((a > 0).sum())); a
a = x(3, 4); a[tensor([True, False, True])] = tensor([1., 2., 3., 4.]); a
a = x(3, 4); a[tensor([0, 1])] = x(3)
a = x(3, 4); a[:, tensor([0, 1])] = tensor([[1.], [2.], [3.]]); a
a = x(3, 4); a[tensor([5])] = 1
a = x(3, 4); a[None, 0] = 3; a
a = x(3, 4); a[True] = 3; a
a = x(3, 4); a[False] = 3; a
a = x(3, 4); a[1, tensor([0, 1])] = 7; a
a = x(3, 4); a[tensor([0, 1])] = tensor([[1]]); a
a = tensor([1, 2, 3]); a[0] = 2.7; a
a = tensor([1, 2, 3]); a[[0, 1]] = 2.7; a
a = tensor([1, 2, 3]); a[0] = 1j
a = tensor([True, False]); a[0] = 5; a
a = tensor(1.); a[...] = 3; a[()] = 4; a
a = tensor(1.); a[None] = 3; a
a = tensor(1.); a[0] = 3
a = x(3); del a[0]
a = x(3); a[::2] += 1; a
a = x(3); a[tensor([0, 0])] += 1; a
a = x(3, 3); a[0], a[1] = a[1].clone(), a[0].clone(); a
a = torch.zeros(2, 3); a[:, :] = torch.ones(3); a[1:1] = 5; a
a = torch.zeros(3); a[tensor([], dtype=torch.int64)] = 1; a
a = torch.zeros(2, 2); a[tensor([[True, False], [False, True]])] = tensor([3., 4.]); a
a = torch.zeros(2, 2); a[tensor([[True, False], [False, True]])] = tensor([3., 4., 5.])
a = torch.zeros(2); a[0] = tensor(3, dtype=torch.int64); a[1] = tensor(2.5, dtype=torch.float64); a
a = torch.zeros(2); a[tensor([0])] = tensor([1], dtype=torch.int64); a
a = torch.arange(24).view(2, 3, 4); a[0, :, tensor([0, 1])] = 7; a
a = torch.arange(24).view(2, 3, 4); a[:, tensor([0, 1]), 1:3] = tensor([1, 2]); a
""".strip().splitlines()


def _index_text(r: random.Random, shape) -> str:
    """A random index expression for a tensor of the shape, mostly valid."""
    parts, used = [], 0
    ellipsis = False
    common = r.choice((1, 2, 3))

    def integer(size):
        return r.randrange(-size, size) if size else 0

    while used < len(shape) and len(parts) < 5:
        size = shape[used]
        kind = r.randrange(11)
        if kind < 3:
            parts.append(str(integer(size)))
            used += 1
        elif kind < 6:
            bounds = [r.choice(("", str(r.randrange(-5, 6)))) for _ in "ab"]
            step = r.choice(("", "", ":2", ":3"))
            parts.append(f"{bounds[0]}:{bounds[1]}{step}")
            used += 1
        elif kind == 6:
            parts.append("None")
        elif kind == 7 and not ellipsis:
            parts.append("...")
            ellipsis = True
            used += r.randrange(len(shape) - used + 1)
        elif kind == 8:
            mask = [r.random() < 0.5 for _ in range(size)]
            parts.append(f"tensor({mask}, dtype=torch.bool)")
            used += 1
        else:
            values = [integer(size) for _ in range(r.choice((1, common)))]
            text = f"tensor({values})" if r.randrange(2) else str(values)
            parts.append(text)
            used += 1
        if r.randrange(6) == 0:
            break
    if r.randrange(25) == 0:
        parts.append(r.choice(("7", "True", "None", "-9", "...")))
    return ", ".join(parts) or "..."


def _random_indexing(count: int) -> dict:
    r = random.Random(7)
    found = {}
    while len(found) < count:
        shape = [r.choice((0, 1, 2, 3, 4)) for _ in range(r.randrange(1, 5))]
        if r.randrange(8):
            shape = [max(n, 1) for n in shape]
        total = 1
        for n in shape:
            total *= n
        make = f"torch.arange({total}).view({shape})"
        if len(shape) > 1 and r.randrange(3) == 0:
            make += ".transpose(0, -1)"
            shape = [shape[-1], *shape[1:-1], shape[0]]
        written = r.randrange(2) == 1
        index = _index_text(r, shape)
        if written:
            value = r.choice(("-1", "tensor(-2)", f"-a[{index}]", "tensor([-3])"))
            text = f"a = {make}; a[{index}] = {value}; a"
        else:
            text = f"{make}[{index}]"
        found[text] = case(text)
    return found


CASES = {
    **cases(_VIEWS),
    **cases(_FACTORIES),
    **cases(_INDEXING),
    **_random_indexing(300),
}
