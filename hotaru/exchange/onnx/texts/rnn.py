"""Recurrent networks: LSTM, GRU, RNN.

With the usual activations they are one call of PyTorch's operator of the same
name, for which gates change their order. All else goes step by step.
"""


# Gates in another order, along axis `dim`: `order` has the first and the number
# of each run of gates.
def _rnn_reorder(x: Tensor, dim: int, order: List[int], size: int) -> Tensor:
    if len(order) == 2:
        return x
    parts: List[Tensor] = []
    for i in range(len(order) // 2):
        start = order[2 * i] * size
        parts.append(torch.narrow(x, dim, start, order[2 * i + 1] * size))
    return torch.cat(parts, dim)


# Flat weights of PyTorch: for each direction w_ih, w_hh, b_ih, b_hh.
def _rnn_weights(
    W: Tensor, R: Tensor, B: Optional[Tensor], order: List[int]
) -> List[Tensor]:
    weights: List[Tensor] = []
    hidden = R.size(2)
    for i in range(W.size(0)):
        weights.append(_rnn_reorder(W[i], 0, order, hidden))
        weights.append(_rnn_reorder(R[i], 0, order, hidden))
        if B is not None:
            both = torch.reshape(B[i], [2, -1])
            b_ih, b_hh = torch.unbind(_rnn_reorder(both, 1, order, hidden))
            weights.append(b_ih)
            weights.append(b_hh)
    return weights


def _rnn_is_usual(
    activations: Optional[List[str]], usual: List[str], directions: int
) -> bool:
    if activations is None:
        return True
    if len(activations) < directions * len(usual):
        raise ValueError("too few activations for these directions")
    for i in range(directions * len(usual)):
        if activations[i].lower() != usual[i % len(usual)].lower():
            return False
    return True


def _rnn_directions(direction: str, W: Tensor) -> int:
    count = 2 if direction == "bidirectional" else 1
    # Opset 1 of GRU has this spelling as its default.
    if (
        count == 1
        and direction != "forward"
        and direction != "foward"
        and direction != "reverse"
    ):
        raise ValueError(
            "direction is forward, reverse or bidirectional, not " + direction
        )
    if W.size(0) != count:
        raise ValueError("the weights are not for the direction " + direction)
    return count


# The initial state as [directions, batch, hidden].
def _rnn_state(
    given: Optional[Tensor],
    X: Tensor,
    directions: int,
    batch: int,
    hidden: int,
    layout: int,
) -> Tensor:
    if given is None:
        return torch.zeros([directions, batch, hidden], dtype=X.dtype, device=X.device)
    return torch.transpose(given, 0, 1) if layout == 1 else given


# [time, batch] of which steps there are.
def _rnn_mask(X: Tensor, lengths: Tensor) -> Tensor:
    steps = torch.arange(X.size(0), device=X.device)
    return torch.unsqueeze(steps, 1) < torch.unsqueeze(lengths, 0)


# Each sequence backwards, with what is beyond its end left in place.
def _rnn_flip(X: Tensor, lengths: Optional[Tensor]) -> Tensor:
    if lengths is None:
        return torch.flip(X, [0])
    steps = torch.unsqueeze(torch.arange(X.size(0), device=X.device), 1)
    last = torch.unsqueeze(lengths, 0)
    index = torch.where(steps < last, last - 1 - steps, steps)
    return torch.gather(X, 0, torch.unsqueeze(index, 2).expand(X.size()))


# Sequences of several lengths, longest first, their steps one after another:
# the steps, how many sequences each time has, the mask, the order.
def _rnn_pack(x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    order = torch.argsort(lengths, descending=True)
    mask = _rnn_mask(x, torch.index_select(lengths, 0, order))
    counts = torch.narrow(torch.sum(mask, [1]).cpu(), 0, 0, int(torch.max(lengths)))
    packed = torch.index(torch.index_select(x, 1, order), [mask])
    return packed, counts, mask, order


# Padded steps are zero in Y.
def _rnn_unpack(packed: Tensor, mask: Tensor, back: Tensor) -> Tensor:
    shape = [mask.size(0), mask.size(1), packed.size(1)]
    padded = torch.zeros(shape, dtype=packed.dtype, device=packed.device)
    padded = torch.index_put(padded, [mask], packed)
    return torch.index_select(padded, 1, back)


# [time, batch, directions * hidden] as Y.
def _rnn_sequence(output: Tensor, directions: int, layout: int) -> Tensor:
    if directions == 1:
        return (
            torch.unsqueeze(torch.transpose(output, 0, 1), 2)
            if layout == 1
            else torch.unsqueeze(output, 1)
        )
    split = output.reshape(
        [output.size(0), output.size(1), directions, output.size(2) // directions]
    )
    return (
        torch.permute(split, [1, 0, 2, 3])
        if layout == 1
        else torch.permute(split, [0, 2, 1, 3])
    )


def _rnn_last(state: Tensor, layout: int) -> Tensor:
    return torch.transpose(state, 0, 1) if layout == 1 else state


# Tells whether packing will do: it can't hold sequences without a step.
def _rnn_packs(lengths: Optional[Tensor]) -> bool:
    if lengths is None:
        return True
    return bool(torch.all(lengths > 0))


# Numbers of an activation: the next of the list, which names only those of
# functions that have one.
def _rnn_parameters(
    names: List[str], given: Optional[List[float]], first: bool
) -> List[float]:
    result: List[float] = []
    used = 0
    for name in names:
        low = name.lower()
        needs = False
        value = 1.0
        if low == "affine" or low == "scaledtanh" or low == "hardsigmoid":
            needs = True
            if low == "affine" and not first:
                value = 0.0
            elif low == "hardsigmoid":
                value = 0.2 if first else 0.5
        elif low == "leakyrelu" or low == "thresholdedrelu" or low == "elu":
            needs = first
            if low == "leakyrelu":
                value = 0.01
        if needs and given is not None:
            if used < len(given):
                value = given[used]
                used += 1
        result.append(value)
    return result


def _rnn_activate(x: Tensor, name: str, alpha: float, beta: float) -> Tensor:
    low = name.lower()
    if low == "tanh":
        return torch.tanh(x)
    if low == "sigmoid":
        return torch.sigmoid(x)
    if low == "relu":
        return torch.relu(x)
    if low == "affine":
        return x * alpha + beta
    if low == "leakyrelu":
        return torch.leaky_relu(x, alpha)
    if low == "thresholdedrelu":
        return torch.threshold(x, alpha, 0)
    if low == "scaledtanh":
        return torch.tanh(x * beta) * alpha
    if low == "hardsigmoid":
        return torch.clamp(x * alpha + beta, 0, 1)
    if low == "elu":
        return torch.elu(x, alpha)
    if low == "softsign":
        return x / (torch.abs(x) + 1)
    if low == "softplus":
        return torch.softplus(x, 1, 50)
    raise ValueError("unknown activation " + name)


def _rnn_clip(x: Tensor, clip: Optional[float]) -> Tensor:
    if clip is None:
        return x
    return torch.clamp(x, -clip, clip)


def _rnn_names(
    activations: Optional[List[str]], usual: List[str], directions: int
) -> List[str]:
    if activations is None:
        return usual * directions
    if len(activations) < directions * len(usual):
        raise ValueError("too few activations for these directions")
    return activations


def _rnn_times(count: int, reverse: bool) -> List[int]:
    times = [t for t in range(count)]
    if reverse:
        times.reverse()
    return times


# A step's state where the sequence has that step, else the one before it.
def _rnn_keep(new: Tensor, old: Tensor, there: Optional[Tensor]) -> Tensor:
    if there is None:
        return new
    return torch.where(there, new, old)


def _rnn_outputs(
    outputs: List[Tensor], times: List[int], there: Optional[Tensor]
) -> Tensor:
    ordered = [x for x in outputs]
    for i in range(len(times)):
        ordered[times[i]] = outputs[i]
    Y = torch.stack(ordered, 0)
    if there is None:
        return Y
    return torch.where(there, Y, torch.zeros_like(Y))


def _rnn_steps(
    x: Tensor,
    R: Tensor,
    h: Tensor,
    there: Optional[Tensor],
    reverse: bool,
    clip: Optional[float],
    name: str,
    alpha: float,
    beta: float,
) -> Tuple[Tensor, Tensor]:
    times = _rnn_times(x.size(0), reverse)
    outputs: List[Tensor] = []
    for t in times:
        new = _rnn_activate(
            _rnn_clip(torch.linear(h, R, x[t]), clip), name, alpha, beta
        )
        h = _rnn_keep(new, h, None if there is None else there[t])
        outputs.append(h)
    return _rnn_outputs(outputs, times, there), h


def RNN(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Optional[Tensor],
    sequence_lens: Optional[Tensor],
    initial_h: Optional[Tensor],
    *,
    activation_alpha: Optional[List[float]] = None,
    activation_beta: Optional[List[float]] = None,
    activations: Optional[List[str]] = None,
    clip: Optional[float] = None,
    direction: str = "forward",
    hidden_size: Optional[int] = None,
    layout: int = 0,
    output_sequence: int = 0,
) -> Tuple[Tensor, Tensor]:
    directions = _rnn_directions(direction, W)
    reverse = direction == "reverse"
    x = torch.transpose(X, 0, 1) if layout == 1 else X
    hidden = R.size(2)
    h = _rnn_state(initial_h, x, directions, x.size(1), hidden, layout)
    is_tanh = _rnn_is_usual(activations, ["Tanh"], directions)
    is_relu = activations is not None and _rnn_is_usual(
        activations, ["Relu"], directions
    )
    if clip is None and (is_tanh or is_relu) and _rnn_packs(sequence_lens):
        weights = _rnn_weights(W, R, B, [0, 1])
        both = directions == 2
        if reverse:
            x = _rnn_flip(x, sequence_lens)
        if sequence_lens is None:
            if is_tanh:
                Y, Y_h = torch.rnn_tanh(
                    x, h, weights, B is not None, 1, 0.0, False, both, False
                )
            else:
                Y, Y_h = torch.rnn_relu(
                    x, h, weights, B is not None, 1, 0.0, False, both, False
                )
        else:
            packed, counts, mask, order = _rnn_pack(x, sequence_lens)
            h = torch.index_select(h, 1, order)
            if is_tanh:
                Y, Y_h = torch.rnn_tanh(
                    packed, counts, h, weights, B is not None, 1, 0.0, False, both
                )
            else:
                Y, Y_h = torch.rnn_relu(
                    packed, counts, h, weights, B is not None, 1, 0.0, False, both
                )
            back = torch.argsort(order)
            Y = _rnn_unpack(Y, mask, back)
            Y_h = torch.index_select(Y_h, 1, back)
        if reverse:
            Y = _rnn_flip(Y, sequence_lens)
        return _rnn_sequence(Y, directions, layout), _rnn_last(Y_h, layout)
    names = _rnn_names(activations, ["Tanh"], directions)
    alphas = _rnn_parameters(names, activation_alpha, True)
    betas = _rnn_parameters(names, activation_beta, False)
    there: Optional[Tensor] = None
    if sequence_lens is not None:
        there = torch.unsqueeze(_rnn_mask(x, sequence_lens), 2)
    outputs: List[Tensor] = []
    states: List[Tensor] = []
    for d in range(directions):
        bias: Optional[Tensor] = None
        if B is not None:
            bias = B[d, :hidden] + B[d, hidden:]
        gates = torch.linear(x, W[d], bias)
        Y, Y_h = _rnn_steps(
            gates,
            R[d],
            h[d],
            there,
            reverse or d == 1,
            clip,
            names[d],
            alphas[d],
            betas[d],
        )
        outputs.append(Y)
        states.append(Y_h)
    return _rnn_sequence(torch.cat(outputs, 2), directions, layout), _rnn_last(
        torch.stack(states, 0), layout
    )


def _rnn_gru_steps(
    x: Tensor,
    R: Tensor,
    bias: Optional[Tensor],
    h: Tensor,
    there: Optional[Tensor],
    reverse: bool,
    linear_before_reset: bool,
    clip: Optional[float],
    names: List[str],
    alphas: List[float],
    betas: List[float],
) -> Tuple[Tensor, Tensor]:
    times = _rnn_times(x.size(0), reverse)
    hidden = h.size(1)
    outputs: List[Tensor] = []
    R_zr = R[: 2 * hidden]
    R_h = R[2 * hidden :]
    b_h: Optional[Tensor] = None
    if bias is not None:
        b_h = bias[2 * hidden :]
    for t in times:
        step = x[t]
        gates = _rnn_clip(
            step[:, : 2 * hidden] + torch.matmul(h, torch.transpose(R_zr, 0, 1)), clip
        )
        z = _rnn_activate(gates[:, :hidden], names[0], alphas[0], betas[0])
        r = _rnn_activate(gates[:, hidden:], names[0], alphas[0], betas[0])
        if linear_before_reset:
            candidate = r * torch.linear(h, R_h, b_h)
        else:
            candidate = torch.linear(r * h, R_h, b_h)
        candidate = _rnn_clip(step[:, 2 * hidden :] + candidate, clip)
        candidate = _rnn_activate(candidate, names[1], alphas[1], betas[1])
        new = (1 - z) * candidate + z * h
        h = _rnn_keep(new, h, None if there is None else there[t])
        outputs.append(h)
    return _rnn_outputs(outputs, times, there), h


def GRU(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Optional[Tensor],
    sequence_lens: Optional[Tensor],
    initial_h: Optional[Tensor],
    *,
    activation_alpha: Optional[List[float]] = None,
    activation_beta: Optional[List[float]] = None,
    activations: Optional[List[str]] = None,
    clip: Optional[float] = None,
    direction: str = "forward",
    hidden_size: Optional[int] = None,
    layout: int = 0,
    linear_before_reset: bool = False,
    output_sequence: int = 0,
) -> Tuple[Tensor, Tensor]:
    directions = _rnn_directions(direction, W)
    reverse = direction == "reverse"
    x = torch.transpose(X, 0, 1) if layout == 1 else X
    hidden = R.size(2)
    h = _rnn_state(initial_h, x, directions, x.size(1), hidden, layout)
    usual = clip is None and linear_before_reset
    usual = usual and _rnn_is_usual(activations, ["Sigmoid", "Tanh"], directions)
    if usual and _rnn_packs(sequence_lens):
        # PyTorch's order is rzh.
        weights = _rnn_weights(W, R, B, [1, 1, 0, 1, 2, 1])
        if reverse:
            x = _rnn_flip(x, sequence_lens)
        if sequence_lens is None:
            Y, Y_h = torch.gru(
                x, h, weights, B is not None, 1, 0.0, False, directions == 2, False
            )
        else:
            packed, counts, mask, order = _rnn_pack(x, sequence_lens)
            h = torch.index_select(h, 1, order)
            Y, Y_h = torch.gru(
                packed,
                counts,
                h,
                weights,
                B is not None,
                1,
                0.0,
                False,
                directions == 2,
            )
            back = torch.argsort(order)
            Y = _rnn_unpack(Y, mask, back)
            Y_h = torch.index_select(Y_h, 1, back)
        if reverse:
            Y = _rnn_flip(Y, sequence_lens)
        return _rnn_sequence(Y, directions, layout), _rnn_last(Y_h, layout)
    names = _rnn_names(activations, ["Sigmoid", "Tanh"], directions)
    alphas = _rnn_parameters(names, activation_alpha, True)
    betas = _rnn_parameters(names, activation_beta, False)
    there: Optional[Tensor] = None
    if sequence_lens is not None:
        there = torch.unsqueeze(_rnn_mask(x, sequence_lens), 2)
    outputs: List[Tensor] = []
    states: List[Tensor] = []
    for d in range(directions):
        bias: Optional[Tensor] = None
        recurrent: Optional[Tensor] = None
        if B is not None:
            # The candidate's recurrent bias belongs inside of the reset.
            recurrent = B[d, 3 * hidden :]
            inside = torch.constant_pad_nd(B[d, 3 * hidden : 5 * hidden], [0, hidden])
            bias = B[d, : 3 * hidden] + inside
        gates = torch.linear(x, W[d], bias)
        Y, Y_h = _rnn_gru_steps(
            gates,
            R[d],
            recurrent,
            h[d],
            there,
            reverse or d == 1,
            linear_before_reset,
            clip,
            names[2 * d : 2 * d + 2],
            alphas[2 * d : 2 * d + 2],
            betas[2 * d : 2 * d + 2],
        )
        outputs.append(Y)
        states.append(Y_h)
    return _rnn_sequence(torch.cat(outputs, 2), directions, layout), _rnn_last(
        torch.stack(states, 0), layout
    )


def _rnn_lstm_steps(
    x: Tensor,
    R: Tensor,
    P: Optional[Tensor],
    h: Tensor,
    c: Tensor,
    there: Optional[Tensor],
    reverse: bool,
    input_forget: bool,
    clip: Optional[float],
    names: List[str],
    alphas: List[float],
    betas: List[float],
    rounds: bool,
) -> Tuple[Tensor, Tensor, Tensor]:
    times = _rnn_times(x.size(0), reverse)
    hidden = h.size(1)
    outputs: List[Tensor] = []
    for t in times:
        before = _microsoft_rounded(h) if rounds else h
        gates = torch.linear(before, R, None) + x[t]
        i, o, f, g = torch.split(gates, hidden, 1)
        if P is not None:
            i = i + P[:hidden] * c
            f = f + P[2 * hidden :] * c
        i = _rnn_activate(_rnn_clip(i, clip), names[0], alphas[0], betas[0])
        if input_forget:
            f = 1 - i
        else:
            f = _rnn_activate(_rnn_clip(f, clip), names[0], alphas[0], betas[0])
        g = _rnn_activate(_rnn_clip(g, clip), names[1], alphas[1], betas[1])
        new_c = f * c + i * g
        if P is not None:
            o = o + P[hidden : 2 * hidden] * new_c
        o = _rnn_activate(_rnn_clip(o, clip), names[0], alphas[0], betas[0])
        # Clipped are the gates' sums, as in onnxruntime, not the cell.
        new_h = o * _rnn_activate(new_c, names[2], alphas[2], betas[2])
        now = None if there is None else there[t]
        h = _rnn_keep(new_h, h, now)
        c = _rnn_keep(new_c, c, now)
        outputs.append(h)
    return _rnn_outputs(outputs, times, there), h, c


def LSTM(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Optional[Tensor],
    sequence_lens: Optional[Tensor],
    initial_h: Optional[Tensor],
    initial_c: Optional[Tensor],
    P: Optional[Tensor],
    *,
    activation_alpha: Optional[List[float]] = None,
    activation_beta: Optional[List[float]] = None,
    activations: Optional[List[str]] = None,
    clip: Optional[float] = None,
    direction: str = "forward",
    hidden_size: Optional[int] = None,
    input_forget: bool = False,
    layout: int = 0,
    output_sequence: int = 0,
) -> Tuple[Tensor, Tensor, Tensor]:
    directions = _rnn_directions(direction, W)
    reverse = direction == "reverse"
    x = torch.transpose(X, 0, 1) if layout == 1 else X
    hidden = R.size(2)
    h = _rnn_state(initial_h, x, directions, x.size(1), hidden, layout)
    c = _rnn_state(initial_c, x, directions, x.size(1), hidden, layout)
    usual = clip is None and P is None and not input_forget
    usual = usual and _rnn_is_usual(
        activations, ["Sigmoid", "Tanh", "Tanh"], directions
    )
    if usual and _rnn_packs(sequence_lens):
        # PyTorch's order is ifco.
        weights = _rnn_weights(W, R, B, [0, 1, 2, 2, 1, 1])
        if reverse:
            x = _rnn_flip(x, sequence_lens)
        if sequence_lens is None:
            Y, Y_h, Y_c = torch.lstm(
                x, [h, c], weights, B is not None, 1, 0.0, False, directions == 2, False
            )
        else:
            packed, counts, mask, order = _rnn_pack(x, sequence_lens)
            state = [torch.index_select(h, 1, order), torch.index_select(c, 1, order)]
            Y, Y_h, Y_c = torch.lstm(
                packed,
                counts,
                state,
                weights,
                B is not None,
                1,
                0.0,
                False,
                directions == 2,
            )
            back = torch.argsort(order)
            Y = _rnn_unpack(Y, mask, back)
            Y_h = torch.index_select(Y_h, 1, back)
            Y_c = torch.index_select(Y_c, 1, back)
        if reverse:
            Y = _rnn_flip(Y, sequence_lens)
        return (
            _rnn_sequence(Y, directions, layout),
            _rnn_last(Y_h, layout),
            _rnn_last(Y_c, layout),
        )
    names = _rnn_names(activations, ["Sigmoid", "Tanh", "Tanh"], directions)
    alphas = _rnn_parameters(names, activation_alpha, True)
    betas = _rnn_parameters(names, activation_beta, False)
    there: Optional[Tensor] = None
    if sequence_lens is not None:
        there = torch.unsqueeze(_rnn_mask(x, sequence_lens), 2)
    outputs: List[Tensor] = []
    states: List[Tensor] = []
    cells: List[Tensor] = []
    for d in range(directions):
        bias: Optional[Tensor] = None
        if B is not None:
            bias = B[d, : 4 * hidden] + B[d, 4 * hidden :]
        gates = torch.linear(x, W[d], bias)
        Y, Y_h, Y_c = _rnn_lstm_steps(
            gates,
            R[d],
            None if P is None else P[d],
            h[d],
            c[d],
            there,
            reverse or d == 1,
            input_forget,
            clip,
            names[3 * d : 3 * d + 3],
            alphas[3 * d : 3 * d + 3],
            betas[3 * d : 3 * d + 3],
            False,
        )
        outputs.append(Y)
        states.append(Y_h)
        cells.append(Y_c)
    return (
        _rnn_sequence(torch.cat(outputs, 2), directions, layout),
        _rnn_last(torch.stack(states, 0), layout),
        _rnn_last(torch.stack(cells, 0), layout),
    )
