"""Losses."""


def _loss_reduction(name: str) -> int:
    if name == "none":
        return 0
    if name == "mean":
        return 1
    if name == "sum":
        return 2
    raise ValueError("reduction is none, mean or sum, not " + name)


# Without an index to ignore, -100 is as good as none: no class has it.
def NegativeLogLikelihoodLoss(
    input: Tensor,
    target: Tensor,
    weight: Optional[Tensor],
    *,
    ignore_index: Optional[int] = None,
    reduction: str = "mean",
) -> Tensor:
    ignored = -100 if ignore_index is None else ignore_index
    return torch.nll_loss_nd(
        input, target.to(torch.int64), weight, _loss_reduction(reduction), ignored
    )


def SoftmaxCrossEntropyLoss(
    scores: Tensor,
    labels: Tensor,
    weights: Optional[Tensor],
    *,
    ignore_index: Optional[int] = None,
    reduction: str = "mean",
) -> Tensor:
    ignored = -100 if ignore_index is None else ignore_index
    return torch.cross_entropy_loss(
        scores, labels.to(torch.int64), weights, _loss_reduction(reduction), ignored
    )


def SoftmaxCrossEntropyLoss__log_prob(
    scores: Tensor,
    labels: Tensor,
    weights: Optional[Tensor],
    *,
    ignore_index: Optional[int] = None,
    reduction: str = "mean",
) -> Tuple[Tensor, Tensor]:
    ignored = -100 if ignore_index is None else ignore_index
    log_prob = torch.log_softmax(scores, 1)
    loss = torch.nll_loss_nd(
        log_prob, labels.to(torch.int64), weights, _loss_reduction(reduction), ignored
    )
    return loss, log_prob
