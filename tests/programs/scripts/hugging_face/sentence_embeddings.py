"""sentence-transformers: its losses, pooling, similarities."""

import sys

import torch
from probe import emit

torch.manual_seed(0)


def similar() -> None:
    from sentence_transformers import util

    a, b = torch.randn(5, 8), torch.randn(7, 8)
    emit(
        cosine=util.cos_sim(a, b),
        dot=util.dot_score(a, b),
        euclid=util.euclidean_sim(a, b),
        manhattan=util.manhattan_sim(a, b),
        pairs=util.pairwise_cos_sim(a, b[:5]),
        found=util.semantic_search(a, b, top_k=3),
        groups=util.community_detection(
            torch.cat([a, a + 0.01]), min_community_size=2, threshold=0.9
        ),
    )


def pooled() -> None:
    from sentence_transformers.models import Normalize, Pooling

    features = {
        "token_embeddings": torch.randn(2, 6, 8),
        "attention_mask": torch.tensor([[1] * 6, [1, 1, 1, 0, 0, 0]]),
    }
    for mode in ("mean", "max", "cls", "lasttoken", "weightedmean"):
        pool = Pooling(8, pooling_mode=mode)
        found = Normalize()(pool(dict(features)))["sentence_embedding"]
        emit(**{mode: found})


globals()[sys.argv[1]]()
