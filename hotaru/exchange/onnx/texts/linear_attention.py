"""Attention with a state of fixed size, and the convolution before it."""


def LinearAttention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Optional[Tensor],
    decay: Optional[Tensor],
    beta: Optional[Tensor],
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> Tuple[Tensor, Tensor]:
    gated = update_rule == "gated" or update_rule == "gated_delta"
    delta = update_rule == "delta" or update_rule == "gated_delta"
    if not gated and not delta and update_rule != "linear":
        raise ValueError(
            "update_rule is linear, gated, delta or gated_delta, not " + update_rule
        )
    if gated != (decay is not None) or delta != (beta is not None):
        raise ValueError(
            "the inputs decay and beta don't fit the update_rule " + update_rule
        )
    batch, steps = query.size(0), query.size(1)
    size = query.size(2) // q_num_heads
    width = value.size(2) // kv_num_heads
    factor = 1.0 / math.sqrt(size) if scale == 0.0 else scale
    # The state is kept as float. Heads of queries that share a state are rows.
    q = query.to(torch.float32).reshape(
        [batch, steps, kv_num_heads, q_num_heads // kv_num_heads, size]
    )
    k = key.to(torch.float32).reshape([batch, steps, kv_num_heads, size, 1])
    v = value.to(torch.float32).reshape([batch, steps, kv_num_heads, 1, width])
    q = q * factor
    if past_state is None:
        state = torch.zeros([batch, kv_num_heads, size, width], device=query.device)
    else:
        state = past_state.to(torch.float32)
    keeps: Optional[Tensor] = None
    if decay is not None:
        keeps = torch.exp(decay.to(torch.float32)).reshape(
            [batch, steps, kv_num_heads, -1, 1]
        )
    rates: Optional[Tensor] = None
    if beta is not None:
        rates = beta.to(torch.float32).reshape([batch, steps, -1, 1, 1])
    outputs: List[Tensor] = []
    for t in range(steps):
        if keeps is not None:
            state = state * keeps[:, t]
        new = v[:, t]
        if rates is not None:
            known = torch.matmul(torch.transpose(k[:, t], 2, 3), state)
            new = rates[:, t] * (new - known)
        state = state + k[:, t] * new
        outputs.append(torch.matmul(q[:, t], state))
    output = torch.stack(outputs, 1).reshape([batch, steps, q_num_heads * width])
    return output.to(query.dtype), state.to(
        query.dtype if past_state is None else past_state.dtype
    )


def CausalConvWithState(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    past_state: Optional[Tensor],
    *,
    activation: str = "none",
) -> Tuple[Tensor, Tensor]:
    carried = weight.size(2) - 1
    if past_state is None:
        x = torch.constant_pad_nd(input, [carried, 0])
    else:
        x = torch.cat([past_state, input], 2)
    output = torch.conv1d(x, weight, bias, groups=weight.size(0))
    if activation == "silu" or activation == "swish":
        output = torch.silu(output)
    elif activation != "none":
        raise ValueError("activation is silu, swish or none, not " + activation)
    return output, torch.narrow(x, 2, x.size(2) - carried, carried).contiguous()
