"""Views, joins and other changes of shape."""

from __future__ import annotations

from .table import row
from .values import NotWritten, Val


def _filled(shape, count: int) -> list[int]:
    """A shape with its -1 resolved."""
    shape = list(shape)
    if -1 in shape:
        known = 1
        for n in shape:
            known *= n if n != -1 else 1
        shape[shape.index(-1)] = count // known if known else 0
    return shape


def _reshaped(w, x: Val, shape) -> Val:
    shape = _filled(shape, x.count)
    return w.view(
        x,
        lambda source: w.reshape(_own(w, source), shape),
        lambda source, new: w.reshape(new, source.shape),
    )


def _own(w, x: Val) -> Val:
    """The value alone, by its name now."""
    return Val(w.use(x), x.shape, x.dtype)


@row("view", "_unsafe_view")
def view(w, self, size):
    if not isinstance(size, (list, tuple)):
        raise NotWritten("a view as another dtype")
    return _reshaped(w, self, size)


@row("view_as")
def view_as(w, self, other):
    return _reshaped(w, self, other.shape)


@row("reshape")
def reshape(w, self, shape):
    out = w.reshape(_own(w, self), _filled(shape, self.count))
    return w.maybe_view(self, _own(w, out))


@row("reshape_as")
def reshape_as(w, self, other):
    return reshape(w, self, other.shape)


@row("contiguous")
def contiguous(w, self, memory_format=None):
    return w.maybe_view(self, _own(w, self))


@row("detach", "alias", "lift_fresh")
def detach(w, self):
    return self


@row("flatten")
def flatten(w, self, start_dim=0, end_dim=-1):
    begin, end = self.axis(start_dim), self.axis(end_dim)
    if not self.shape:
        return reshape(w, self, [1])
    middle = 1
    for n in self.shape[begin : end + 1]:
        middle *= n
    shape = [*self.shape[:begin], middle, *self.shape[end + 1 :]]
    return reshape(w, self, shape)


@row("unflatten")
def unflatten(w, self, dim, sizes):
    dim = self.axis(dim)
    sizes = _filled(sizes, self.shape[dim])
    shape = [*self.shape[:dim], *sizes, *self.shape[dim + 1 :]]
    return _reshaped(w, self, shape)


@row("squeeze")
def squeeze(w, self, dim=None):
    if dim is None:
        dims = range(self.rank)
    else:
        dims = [dim] if isinstance(dim, int) else dim
        dims = [self.axis(d) for d in dims]
    shape = [n for i, n in enumerate(self.shape) if i not in dims or n != 1]
    return _reshaped(w, self, shape)


@row("unsqueeze")
def unsqueeze(w, self, dim):
    dim = dim % (self.rank + 1)
    return _reshaped(w, self, [*self.shape[:dim], 1, *self.shape[dim:]])


@row("permute")
def permute(w, self, dims):
    dims = [self.axis(d) for d in dims]
    back = [dims.index(i) for i in range(len(dims))]
    return w.view(
        self,
        lambda source: w.transpose(_own(w, source), dims),
        lambda source, new: w.transpose(new, back),
    )


@row("transpose", "swapaxes")
def transpose(w, self, dim0, dim1):
    dims = list(range(self.rank))
    if dims:
        a, b = self.axis(dim0), self.axis(dim1)
        dims[a], dims[b] = dims[b], dims[a]
    return permute(w, self, dims)


@row("t", "numpy_T", "mT")
def t(w, self):
    return self if self.rank < 2 else transpose(w, self, -2, -1)


@row("movedim")
def movedim(w, self, source, destination):
    source = [source] if isinstance(source, int) else source
    to = [destination] if isinstance(destination, int) else destination
    source, to = [self.axis(d) for d in source], [self.axis(d) for d in to]
    rest = iter([d for d in range(self.rank) if d not in source])
    dims = [source[to.index(i)] if i in to else next(rest) for i in range(self.rank)]
    return permute(w, self, dims)


@row("expand")
def expand(w, self, size, implicit=False):
    first = len(size) - self.rank
    shape = [self.shape[i - first] if n == -1 else n for i, n in enumerate(size)]
    return w.view(self, lambda source: w.expand(_own(w, source), shape))


@row("expand_as")
def expand_as(w, self, other):
    return expand(w, self, other.shape)


@row("repeat")
def repeat(w, self, repeats):
    first = len(repeats) - self.rank
    shape = (1,) * first + self.shape
    apart, dims = [], []
    for count, n in zip(repeats, shape):
        apart += [count, n]
        dims.append(len(apart) - 1)
    out = w.spread(w.reshape(self, shape), apart, dims)
    return w.reshape(out, [c * n for c, n in zip(repeats, shape)])


def _ranged(w, x: Val, dim: int, begin: int, end: int, step: int) -> Val:
    def put(source, new):
        if step != 1:
            raise NotWritten("it writes every second element or the like")
        parts = []
        if begin > 0:
            parts.append(w.cut(source, dim, 0, begin))
        parts.append(new)
        if end < source.shape[dim]:
            parts.append(w.cut(source, dim, end, source.shape[dim]))
        return w.concatenate(parts, dim)

    return w.view(x, lambda source: w.cut(source, dim, begin, end, step), put)


@row("slice")
def slice_(w, self, dim=0, start=None, end=None, step=1):
    dim = self.axis(dim)
    start, end, step = slice(start, end, step).indices(self.shape[dim])
    return _ranged(w, self, dim, start, max(start, end), step)


@row("narrow")
def narrow(w, self, dim, start, length):
    if isinstance(start, Val):
        raise NotWritten("where it begins is a tensor's value")
    dim = self.axis(dim)
    start = start % self.shape[dim] if start < 0 else start
    return _ranged(w, self, dim, start, start + length, 1)


@row("select")
def select(w, self, dim, index):
    dim = self.axis(dim)
    index = index % self.shape[dim]
    out = _ranged(w, self, dim, index, index + 1, 1)
    return _reshaped(w, out, [*self.shape[:dim], *self.shape[dim + 1 :]])


@row("unbind")
def unbind(w, self, dim=0):
    return [select(w, self, dim, i) for i in range(self.shape[self.axis(dim)])]


@row("chunk")
def chunk(w, self, chunks, dim=0):
    size = self.shape[self.axis(dim)]
    return split(w, self, max(-(-size // chunks), 1), dim)


@row("split", "split_with_sizes")
def split(w, self, split_size=None, dim=0, split_sizes=None):
    dim = self.axis(dim)
    size = self.shape[dim]
    sizes = split_size if split_sizes is None else split_sizes
    if isinstance(sizes, int):
        step = sizes
        sizes = [min(step, size - i) for i in range(0, size, step)]
    out, begin = [], 0
    for n in sizes:
        out.append(_ranged(w, self, dim, begin, begin + n, 1))
        begin += n
    return out


@row("tensor_split")
def tensor_split(w, self, sections=None, indices=None, dim=0):
    size = self.shape[self.axis(dim)]
    if indices is None:
        long = size % sections
        sizes = [size // sections + (i < long) for i in range(sections)]
        return split(w, self, sizes, dim)
    ends = [min(i, size) for i in indices] + [size]
    sizes = [b - a for a, b in zip([0, *ends], ends)]
    return split(w, self, sizes, dim)


@row("cat", "concat", "concatenate")
def cat(w, tensors, dim=0):
    tensors = [x for x in tensors if x.shape != (0,)] or tensors[:1]
    tensors = w.promote(*tensors)
    return w.concatenate(tensors, tensors[0].axis(dim))


@row("stack")
def stack(w, tensors, dim=0):
    dim = dim % (tensors[0].rank + 1)
    apart = [
        w.reshape(x, [*x.shape[:dim], 1, *x.shape[dim:]]) for x in w.promote(*tensors)
    ]
    return w.concatenate(apart, dim)


@row("flip")
def flip(w, self, dims):
    return w.reverse(self, [self.axis(d) for d in dims])


@row("roll")
def roll(w, self, shifts, dims=()):
    shifts = [shifts] if isinstance(shifts, int) else shifts
    dims = [dims] if isinstance(dims, int) else dims
    if not dims:
        flat = w.reshape(self, (self.count,))
        return w.reshape(roll(w, flat, shifts, [0]), self.shape)
    out = self
    for shift, dim in zip(shifts, dims):
        dim = self.axis(dim)
        size = self.shape[dim]
        at = (-shift) % size if size else 0
        parts = [w.cut(out, dim, at, size), w.cut(out, dim, 0, at)]
        out = w.concatenate([p for p in parts if p.shape[dim]], dim)
    return out


@row("constant_pad_nd")
def constant_pad_nd(w, self, pad, value=0):
    low, high = [0] * self.rank, [0] * self.rank
    for i in range(len(pad) // 2):
        low[-1 - i], high[-1 - i] = pad[2 * i], pad[2 * i + 1]
    return w.pad(self, value, low, high)


@row("pad")
def pad(w, self, pad, mode="constant", value=None):
    if mode != "constant":
        raise NotWritten(f"the mode {mode!r}")
    return constant_pad_nd(w, self, pad, value or 0)


@row("pixel_shuffle")
def pixel_shuffle(w, self, upscale_factor):
    *batch, channels, h, width = self.shape
    r, n = upscale_factor, len(batch)
    out = w.reshape(self, [*batch, channels // (r * r), r, r, h, width])
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    out = w.transpose(out, order)
    return w.reshape(out, [*batch, channels // (r * r), h * r, width * r])
