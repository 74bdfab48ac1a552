"""Methods of sparse tensors, which compiled code calls by their names."""

METHODS = frozenset(
    {
        "coalesce",
        "col_indices",
        "crow_indices",
        "dense_dim",
        "indices",
        "is_coalesced",
        "sparse_dim",
        "to_dense",
        "to_mkldnn",
        "to_sparse",
        "values",
    }
)
