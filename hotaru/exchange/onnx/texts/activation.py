"""Activations."""


def Relu(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.relu(X)


def LeakyRelu(
    X: Tensor, *, alpha: float = 0.01, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    return torch.leaky_relu(X, alpha)


# Before version 7 a slope of more than one number is one per channel.
def PRelu(
    X: Tensor, slope: Tensor, *, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    return torch.prelu(X, slope.reshape([-1]))


def PRelu_v7(X: Tensor, slope: Tensor) -> Tensor:
    if torch.is_floating_point(X):
        if slope.numel() == 1 and slope.dim() <= X.dim():
            return torch.prelu(X, slope.reshape([-1]))
        # Slopes of the shape [C, 1, 1] are what exporters write.
        if X.dim() >= 2 and slope.dim() == X.dim() - 1:
            if slope.size(0) == X.size(1) and slope.numel() == X.size(1):
                return torch.prelu(X, slope.reshape([-1]))
    elif int(X.dtype) == 28 or int(X.dtype) == 29:
        # Numbers of uint32 and uint64 are never below zero.
        return X
    return torch.where(X < 0, X * slope, X)


def Elu(
    X: Tensor, *, alpha: float = 1.0, consumed_inputs: Optional[List[int]] = None
) -> Tensor:
    return torch.elu(X, alpha)


def Selu(
    X: Tensor,
    *,
    alpha: float = 1.6732,
    gamma: float = 1.0507,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    return torch.elu(X, alpha, gamma)


def Selu_v6(
    X: Tensor,
    *,
    alpha: float = 1.67326319217681884765625,
    gamma: float = 1.05070102214813232421875,
) -> Tensor:
    return torch.elu(X, alpha, gamma)


def Celu(X: Tensor, *, alpha: float = 1.0) -> Tensor:
    return torch.celu(X, alpha)


def Sigmoid(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.sigmoid(X)


def Tanh(X: Tensor, *, consumed_inputs: Optional[List[int]] = None) -> Tensor:
    return torch.tanh(X)


def HardSigmoid(
    X: Tensor,
    *,
    alpha: float = 0.2,
    beta: float = 0.5,
    consumed_inputs: Optional[List[int]] = None,
) -> Tensor:
    # The sixth that PyTorch's export writes, as a float.
    if beta == 0.5 and abs(alpha * 6.0 - 1.0) < 1e-6:
        return torch.hardsigmoid(X)
    return torch.clamp(X * alpha + beta, 0, 1)


def HardSwish(X: Tensor) -> Tensor:
    return torch.hardswish(X)


def Softplus(X: Tensor) -> Tensor:
    # PyTorch's threshold of 20 leaves an error that doubles show.
    return torch.softplus(X, 1, 50)


def Softsign(X: Tensor) -> Tensor:
    return X / (torch.abs(X) + 1)


def ThresholdedRelu(X: Tensor, *, alpha: float = 1.0) -> Tensor:
    return torch.threshold(X, alpha, 0)


def Shrink(X: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    if torch.is_floating_point(X) and lambd >= 0.0:
        if bias == lambd:
            return torch.softshrink(X, lambd)
        if bias == 0.0:
            return torch.hardshrink(X, lambd)
    low = torch.where(X < -lambd, X + bias, torch.zeros_like(X))
    return torch.where(X > lambd, X - bias, low).to(X.dtype)


def Gelu(X: Tensor, *, approximate: str = "none") -> Tensor:
    return torch.gelu(X, approximate=approximate)


def Mish(X: Tensor) -> Tensor:
    return torch.mish(X)


def Swish(X: Tensor, *, alpha: float = 1.0) -> Tensor:
    if alpha == 1.0:
        return torch.silu(X)
    return X * torch.sigmoid(X * alpha)


def SwiGLU(A: Tensor, B: Tensor, *, alpha: float = 1.0) -> Tensor:
    if alpha == 1.0:
        return torch.silu(A) * B
    return A * torch.sigmoid(A * alpha) * B
