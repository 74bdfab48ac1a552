"""Metrics of torchmetrics, batch by batch."""

import sys

import torch
from probe import emit

torch.manual_seed(0)


def classification() -> None:
    from torchmetrics import classification as C

    metrics = [
        C.MulticlassAccuracy(5),
        C.MulticlassF1Score(5, average=None),
        C.MulticlassConfusionMatrix(5),
        C.MulticlassAUROC(5),
        C.MulticlassAveragePrecision(5),
        C.MulticlassCalibrationError(5),
        C.MulticlassMatthewsCorrCoef(5),
        C.MulticlassCohenKappa(5),
    ]
    batches = [
        (torch.randn(16, 5).softmax(1), torch.randint(5, (16,))) for _ in range(3)
    ]
    for metric in metrics:
        step = [metric(*batch) for batch in batches]
        emit(**{type(metric).__name__: [*step, metric.compute()]})
    binary = C.BinaryROC(thresholds=7)
    binary.update(torch.rand(20), torch.randint(2, (20,)))
    emit(roc=binary.compute())


def regression() -> None:
    from torchmetrics import regression as R

    for metric in (
        R.MeanSquaredError(),
        R.R2Score(),
        R.PearsonCorrCoef(),
        R.SpearmanCorrCoef(),
        R.KendallRankCorrCoef(),
        R.MeanAbsoluteError(),
        R.ExplainedVariance(),
        R.MeanAbsolutePercentageError(),
        R.ConcordanceCorrCoef(),
        R.LogCoshError(),
    ):
        for _ in range(3):
            a = torch.rand(12)
            metric.update(a, a + 0.1 * torch.randn(12))
        emit(**{type(metric).__name__: metric.compute()})


def text() -> None:
    from torchmetrics import text as T

    said = ["the cat is on the mat", "a dog ran home"]
    true = ["the cat sat on the mat", "the dog ran home fast"]
    for metric in (
        T.WordErrorRate(),
        T.CharErrorRate(),
        T.MatchErrorRate(),
        T.EditDistance(),
    ):
        emit(**{type(metric).__name__: metric(said, true)})
    for metric in (T.BLEUScore(), T.CHRFScore(), T.SacreBLEUScore()):
        found = metric(said, [[t] for t in true])
        emit(**{type(metric).__name__: found})
    perplexity = T.Perplexity()
    emit(p=perplexity(torch.randn(2, 6, 9), torch.randint(9, (2, 6))))


def image() -> None:
    from torchmetrics import image as I

    a = torch.rand(2, 3, 64, 64)
    b = (a + 0.05 * torch.randn_like(a)).clamp(0, 1)
    for metric in (
        I.PeakSignalNoiseRatio(data_range=1.0),
        I.TotalVariation(),
        I.StructuralSimilarityIndexMeasure(data_range=1.0),
        I.UniversalImageQualityIndex(),
        I.SpectralAngleMapper(),
        I.ErrorRelativeGlobalDimensionlessSynthesis(),
    ):
        given = (a,) if isinstance(metric, I.TotalVariation) else (a, b)
        emit(**{type(metric).__name__: metric(*given)})


def collection() -> None:
    import torchmetrics
    from torchmetrics.classification import (
        MulticlassAccuracy,
        MulticlassPrecision,
        MulticlassRecall,
    )

    several = torchmetrics.MetricCollection(
        [MulticlassAccuracy(3), MulticlassPrecision(3), MulticlassRecall(3)],
        prefix="val_",
    )
    tracker = torchmetrics.MetricTracker(several)
    for _ in range(2):
        tracker.increment()
        for _ in range(2):
            tracker.update(torch.randn(8, 3), torch.randint(3, (8,)))
    emit(all=tracker.compute_all())
    boot = torchmetrics.BootStrapper(MulticlassAccuracy(3), num_bootstraps=4)
    torch.manual_seed(1)
    boot.update(torch.randn(20, 3), torch.randint(3, (20,)))
    emit(boot=boot.compute())


def aggregation() -> None:
    import torchmetrics

    for kind in ("MeanMetric", "SumMetric", "MaxMetric", "MinMetric", "CatMetric"):
        metric = getattr(torchmetrics, kind)()
        metric.update(torch.tensor([1.0, 2.5]))
        metric.update(4.0)
        emit(**{kind: metric.compute()})
    metric = torchmetrics.MeanMetric().to(torch.float64)
    metric.persistent(True)
    metric.update(2.0)
    emit(state=metric.state_dict())


globals()[sys.argv[1]]()
