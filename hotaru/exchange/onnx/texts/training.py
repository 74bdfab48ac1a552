"""Steps of optimizers, of the domain ai.onnx.preview.training.

The inputs are all parameters, then all gradients, then all of each state; the
outputs the new parameters, then all of each new state.
"""


# A tensor without dimensions leaves the others' dtype and shape alone.
def _training_number(x: Tensor) -> Tensor:
    return torch.select(torch.reshape(x, [-1]), 0, 0)


def _training_groups(tensors: List[Tensor], size: int) -> int:
    if len(tensors) == 0 or len(tensors) % size != 0:
        raise ValueError("the inputs are not as many of each kind")
    return len(tensors) // size


def _training_adam(
    R: Tensor,
    T: Tensor,
    tensors: List[Tensor],
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
    norm_coefficient_post: float,
) -> List[Tensor]:
    count = _training_groups(tensors, 4)
    t = _training_number(T).to(torch.float64)
    rate = _training_number(R).to(torch.float64)
    corrected = rate * torch.sqrt(1.0 - beta**t) / (1.0 - alpha**t)
    rate = torch.where(t > 0, corrected, rate)
    parameters: List[Tensor] = []
    means: List[Tensor] = []
    squares: List[Tensor] = []
    for i in range(count):
        x = tensors[i]
        g = tensors[count + i] + x * norm_coefficient
        v = tensors[2 * count + i] * alpha + g * (1.0 - alpha)
        h = tensors[3 * count + i] * beta + g * g * (1.0 - beta)
        new = x - rate.to(x.dtype) * v / (torch.sqrt(h) + epsilon)
        parameters.append(new * (1.0 - norm_coefficient_post))
        means.append(v)
        squares.append(h)
    return parameters + means + squares


def Adam(
    R: Tensor,
    T: Tensor,
    all_inputs: List[Tensor],
    *,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> List[Tensor]:
    return _training_adam(
        R, T, all_inputs, alpha, beta, epsilon, norm_coefficient, norm_coefficient_post
    )


def _training_adagrad(
    R: Tensor,
    T: Tensor,
    tensors: List[Tensor],
    decay_factor: float,
    epsilon: float,
    norm_coefficient: float,
) -> List[Tensor]:
    count = _training_groups(tensors, 3)
    rate = _training_number(R).to(torch.float64) / (
        _training_number(T).to(torch.float64) * decay_factor + 1.0
    )
    parameters: List[Tensor] = []
    squares: List[Tensor] = []
    for i in range(count):
        x = tensors[i]
        g = tensors[count + i] + x * norm_coefficient
        h = tensors[2 * count + i] + g * g
        parameters.append(x - rate.to(x.dtype) * g / (torch.sqrt(h) + epsilon))
        squares.append(h)
    return parameters + squares


def Adagrad(
    R: Tensor,
    T: Tensor,
    all_inputs: List[Tensor],
    *,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> List[Tensor]:
    return _training_adagrad(R, T, all_inputs, decay_factor, epsilon, norm_coefficient)


def _training_momentum(
    R: Tensor,
    T: Tensor,
    tensors: List[Tensor],
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> List[Tensor]:
    if mode != "nesterov" and mode != "standard":
        raise ValueError("Momentum's mode is standard or nesterov, not " + mode)
    count = _training_groups(tensors, 3)
    rate = _training_number(R)
    first = _training_number(T) <= 0
    parameters: List[Tensor] = []
    momenta: List[Tensor] = []
    for i in range(count):
        x = tensors[i]
        g = tensors[count + i] + x * norm_coefficient
        v = tensors[2 * count + i] * alpha + torch.where(first, g, g * beta)
        step = g + v * alpha if mode == "nesterov" else v
        parameters.append(x - rate.to(x.dtype) * step)
        momenta.append(v)
    return parameters + momenta


def Momentum(
    R: Tensor,
    T: Tensor,
    all_inputs: List[Tensor],
    *,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> List[Tensor]:
    return _training_momentum(R, T, all_inputs, alpha, beta, mode, norm_coefficient)
