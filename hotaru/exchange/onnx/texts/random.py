"""Random numbers. Without a seed they come from the default generator, as in
PyTorch; with one they are a function of the seed, the same at every run."""


# x with its bits from `count` on mixed into its first ones.
def _random_mix(x: Tensor, count: int) -> Tensor:
    mask = (1 << (64 - count)) - 1
    high = torch.bitwise_and(torch.bitwise_right_shift(x, count), mask)
    return torch.bitwise_xor(x, high)


# Numbers in [0, 1), of as many bits as the dtype holds without rounding to 1:
# the mixing function of SplitMix64 of each index.
def _random_hash(count: int, seed: float, dtype: int) -> Tensor:
    start = int(math.fmod(seed, 4294967296.0) * 65536.0) + 1
    x = torch.arange(count, dtype=torch.int64) + start
    x = x * -7046029254386353131
    x = _random_mix(x, 30) * -4658895280553007687
    x = _random_mix(x, 27) * -7723592293110705685
    x = _random_mix(x, 31)
    bits = 24
    if dtype == 7:
        bits = 53
    elif dtype == 5:
        bits = 11
    elif dtype == 15:
        bits = 8
    number = torch.bitwise_right_shift(x, 64 - bits)
    number = torch.bitwise_and(number, (1 << bits) - 1).to(torch.float64)
    return number * (0.5**bits)


def _random_uniform(shape: List[int], dtype: int, seed: Optional[float]) -> Tensor:
    if seed is None or math.isnan(seed):
        return torch.rand(shape, dtype=dtype)
    count = 1
    for size in shape:
        count *= size
    return torch.reshape(_random_hash(count, seed, dtype), shape)


def _random_normal(shape: List[int], dtype: int, seed: Optional[float]) -> Tensor:
    if seed is None or math.isnan(seed):
        return torch.randn(shape, dtype=dtype)
    # The inverse of the distribution has poles at 0 and 1.
    uniform = _random_uniform(shape, 7, seed)
    return torch.special.ndtri(torch.clamp(uniform, 1e-16, 1 - 1.2e-16))


def RandomUniform(
    *,
    shape: List[int],
    dtype: int = 6,
    low: float = 0.0,
    high: float = 1.0,
    seed: Optional[float] = None,
    on_device: torch.device,
) -> Tensor:
    return (_random_uniform(shape, dtype, seed) * (high - low) + low).to(
        on_device, dtype
    )


def RandomUniformLike(
    input: Tensor,
    *,
    dtype: Optional[int] = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: Optional[float] = None,
) -> Tensor:
    kind = input.dtype if dtype is None else dtype
    return (_random_uniform(input.size(), kind, seed) * (high - low) + low).to(
        input.device, kind
    )


def RandomNormal(
    *,
    shape: List[int],
    dtype: int = 6,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: Optional[float] = None,
    on_device: torch.device,
) -> Tensor:
    return (_random_normal(shape, dtype, seed) * scale + mean).to(on_device, dtype)


def RandomNormalLike(
    input: Tensor,
    *,
    dtype: Optional[int] = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: Optional[float] = None,
) -> Tensor:
    kind = input.dtype if dtype is None else dtype
    return (_random_normal(input.size(), kind, seed) * scale + mean).to(
        input.device, kind
    )


def Bernoulli(
    input: Tensor, *, dtype: Optional[int] = None, seed: Optional[float] = None
) -> Tensor:
    kind = input.dtype if dtype is None else dtype
    if seed is None or math.isnan(seed):
        return torch.bernoulli(input).to(kind)
    return (_random_uniform(input.size(), 7, seed).to(input.device) < input).to(kind)


# The inputs are logarithms of probabilities, of any sum.
def Multinomial(
    input: Tensor, *, dtype: int = 3, sample_size: int = 1, seed: Optional[float] = None
) -> Tensor:
    p = torch.softmax(input.to(torch.float32), 1)
    if seed is None or math.isnan(seed):
        return torch.multinomial(p, sample_size, True).to(dtype)
    steps = torch.cumsum(p, 1)
    u = _random_uniform([input.size(0), sample_size], 6, seed).to(input.device)
    drawn = torch.searchsorted(steps, u * steps[:, -1:], right=True)
    return torch.clamp(drawn, max=input.size(1) - 1).to(dtype)
