"""Runs of words in texts, counted."""


# Words that stand `skip` words apart count as a run, too; of one word alone
# there is nothing to skip.
def _ngrams_count(
    x: Tensor, pool: Tensor, n: int, most_skips: int, length: int
) -> Tensor:
    counts = torch.zeros([x.size(0), pool.size(0)], dtype=torch.int64, device=x.device)
    for skip in range(1 if n == 1 else most_skips + 1):
        reach = (n - 1) * (skip + 1) + 1
        for begin in range(length - reach + 1):
            run = x[:, begin : begin + reach : skip + 1].unsqueeze(1)
            counts = counts + (run == pool).all(2)
    return counts


def TfIdfVectorizer_v9(
    X: Tensor,
    *,
    max_gram_length: int,
    max_skip_count: int,
    min_gram_length: int,
    mode: str,
    ngram_counts: List[int],
    ngram_indexes: List[int],
    pool_int64s: List[int],
    weights: Optional[List[float]] = None,
) -> Tensor:
    x = X.to(torch.int64).reshape([-1, X.size(-1)])
    counts = torch.zeros(
        [x.size(0), max(ngram_indexes) + 1], dtype=torch.int64, device=X.device
    )
    done = 0
    for i in range(len(ngram_counts)):
        n = i + 1
        begin = ngram_counts[i]
        end = len(pool_int64s)
        if n < len(ngram_counts):
            end = ngram_counts[n]
        several = (end - begin) // n
        places = ngram_indexes[done : done + several]
        done += several
        if n < min_gram_length or n > max_gram_length or several == 0:
            continue
        pool = torch.tensor(pool_int64s[begin:end], dtype=torch.int64, device=X.device)
        found = _ngrams_count(x, pool.reshape([-1, n]), n, max_skip_count, x.size(1))
        at = torch.tensor(places, dtype=torch.int64, device=X.device)
        counts = counts.index_add(1, at, found)
    out = counts.float()
    if mode != "TF":
        if mode == "IDF":
            out = (counts > 0).float()
        elif mode != "TFIDF":
            raise ValueError("TfIdfVectorizer: the mode " + mode)
        if weights is not None:
            by = torch.tensor(weights, dtype=torch.float32, device=X.device)
            out = out * by
    return out.reshape(X.size()[:-1] + [-1])
