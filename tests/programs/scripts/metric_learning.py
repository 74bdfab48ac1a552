"""pytorch-metric-learning: losses, miners, distances."""

import sys

import torch
from probe import emit

torch.manual_seed(0)
X = torch.randn(24, 8, requires_grad=True)
LABELS = torch.arange(24) % 4


def losses() -> None:
    from pytorch_metric_learning import losses as L

    for loss in (
        L.TripletMarginLoss(),
        L.ContrastiveLoss(),
        L.NTXentLoss(),
        L.MultiSimilarityLoss(),
        L.CircleLoss(),
        L.ArcFaceLoss(4, 8),
        L.ProxyAnchorLoss(4, 8),
        L.SupConLoss(),
        L.NPairsLoss(),
        L.LiftedStructureLoss(),
        L.CosFaceLoss(4, 8),
        L.FastAPLoss(),
    ):
        X.grad = None
        value = loss(X, LABELS)
        value.backward()
        emit(**{type(loss).__name__: [value, X.grad]})


def miners() -> None:
    from pytorch_metric_learning import distances, losses, miners, reducers

    for miner in (
        miners.MultiSimilarityMiner(),
        miners.BatchHardMiner(),
        miners.TripletMarginMiner(),
        miners.BatchEasyHardMiner(),
    ):
        pairs = miner(X, LABELS)
        loss = losses.TripletMarginLoss(
            distance=distances.CosineSimilarity(),
            reducer=reducers.ThresholdReducer(low=0),
        )
        emit(**{type(miner).__name__: [*pairs, loss(X, LABELS, pairs)]})


globals()[sys.argv[1]]()
