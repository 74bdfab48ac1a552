"""Random numbers. Without a seed they come from the default generator, as in
PyTorch; with one they are a function of the seed, the same at every run."""


# Numbers in [0, 1): a hash of each index, with 53 bits for doubles, else 24.
def _random_hash(count: int, seed: float, dtype: int) -> Tensor:
    start = int(math.fmod(seed, 4294967296.0) * 65536.0)
    x = (torch.arange(count, dtype=torch.int64) + start) * -7046029254386353131
    x = (
        torch.bitwise_xor(x, torch.bitwise_and(x >> 30, 17179869183))
        * -4658895280553007687
    )
    x = (
        torch.bitwise_xor(x, torch.bitwise_and(x >> 27, 137438953471))
        * -7723592293110705685
    )
    x = torch.bitwise_xor(x, torch.bitwise_and(x >> 31, 8589934591))
    if dtype == 7:
        return (
            torch.bitwise_and(x >> 11, 9007199254740991).to(torch.float64)
            * 1.1102230246251565e-16
        )
    return (
        torch.bitwise_and(x >> 40, 16777215).to(torch.float32)
        * 5.9604644775390625e-08
    )


def _random_uniform(
    shape: List[int], dtype: int, seed: Optional[float]
) -> Tensor:
    if seed is None or math.isnan(seed):
        return torch.rand(shape, dtype=dtype)
    count = 1
    for size in shape:
        count *= size
    return torch.reshape(_random_hash(count, seed, dtype), shape)


def _random_normal(
    shape: List[int], dtype: int, seed: Optional[float]
) -> Tensor:
    if seed is None or math.isnan(seed):
        return torch.randn(shape, dtype=dtype)
    # Half a step up: the inverse of the distribution has poles at 0 and 1.
    half = 5.551115123125783e-17 if dtype == 7 else 2.98023223876953125e-08
    uniform = (
        _random_uniform(shape, 7, seed)
        if dtype == 7
        else _random_uniform(shape, 6, seed)
    )
    return torch.special.ndtri(uniform.to(torch.float64) + half)


def RandomUniform(
    *,
    shape: List[int],
    dtype: int = 6,
    low: float = 0.0,
    high: float = 1.0,
    seed: Optional[float] = None,
) -> Tensor:
    return (_random_uniform(shape, dtype, seed) * (high - low) + low).to(dtype)


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
) -> Tensor:
    return (_random_normal(shape, dtype, seed) * scale + mean).to(dtype)


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
    return (_random_uniform(input.size(), 7, seed).to(input.device) < input).to(
        kind
    )


# The inputs are logarithms of probabilities, of any sum.
def Multinomial(
    input: Tensor,
    *,
    dtype: int = 3,
    sample_size: int = 1,
    seed: Optional[float] = None,
) -> Tensor:
    p = torch.softmax(input.to(torch.float32), 1)
    if seed is None or math.isnan(seed):
        return torch.multinomial(p, sample_size, True).to(dtype)
    steps = torch.cumsum(p, 1)
    u = _random_uniform([input.size(0), sample_size], 6, seed).to(input.device)
    drawn = torch.searchsorted(steps, u * steps[:, -1:], right=True)
    return torch.clamp(drawn, max=input.size(1) - 1).to(dtype)
