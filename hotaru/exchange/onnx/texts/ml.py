"""The domain ai.onnx.ml, as far as it is numbers."""


def _ml_float(X: Tensor) -> Tensor:
    return X if X.dtype == torch.float64 else X.to(torch.float32)


# Probit: the inverse of the normal distribution's cumulative function.
def _ml_post_transform(scores: Tensor, name: str) -> Tensor:
    if name == "NONE":
        return scores
    if name == "LOGISTIC":
        return torch.sigmoid(scores)
    if name == "SOFTMAX":
        return torch.softmax(scores, -1)
    if name == "SOFTMAX_ZERO":
        # Scores of zero stay out of the sum.
        zero = torch.abs(scores) <= 1e-7
        p = torch.where(zero, scores, torch.exp(scores - torch.amax(scores, -1, True)))
        total = torch.sum(p, -1, True)
        return torch.where(total == 0, torch.full_like(p, 0.5), p / total)
    if name == "PROBIT":
        return torch.special.ndtri(scores)
    raise ValueError("post_transform is unknown: " + name)


def _ml_tensor(numbers: List[float], like: Tensor) -> Tensor:
    return torch.tensor(numbers, dtype=like.dtype, device=like.device)


def Binarizer(X: Tensor, *, threshold: float = 0.0) -> Tensor:
    return (X > threshold).to(X.dtype)


def Scaler(
    X: Tensor,
    *,
    offset: Optional[List[float]] = None,
    scale: Optional[List[float]] = None,
) -> Tensor:
    x = X.to(torch.float32)
    if offset is not None:
        x = x - _ml_tensor(offset, x)
    if scale is not None:
        x = x * _ml_tensor(scale, x)
    return x


def Normalizer(X: Tensor, *, norm: str = "MAX") -> Tensor:
    x = X.to(torch.float32)
    axis = x.dim() - 1
    if norm == "MAX":
        size = torch.amax(x, axis, True)
    elif norm == "L1":
        size = torch.sum(torch.abs(x), [axis], True)
    elif norm == "L2":
        size = torch.sqrt(torch.sum(x * x, [axis], True))
    else:
        raise ValueError("norm is MAX, L1 or L2, not " + norm)
    return torch.where(size == 0, x, x / size)


def Imputer(
    X: Tensor,
    *,
    imputed_value_floats: Optional[List[float]] = None,
    imputed_value_int64s: Optional[List[int]] = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    if torch.is_floating_point(X):
        if imputed_value_floats is None:
            raise ValueError("Imputer of floats needs imputed_value_floats")
        missing = X == replaced_value_float
        if math.isnan(replaced_value_float):
            missing = torch.isnan(X)
        return torch.where(missing, _ml_tensor(imputed_value_floats, X), X)
    if imputed_value_int64s is None:
        raise ValueError("Imputer of integers needs imputed_value_int64s")
    values = torch.tensor(imputed_value_int64s, dtype=X.dtype, device=X.device)
    return torch.where(X == replaced_value_int64, values, X)


def ArrayFeatureExtractor(X: Tensor, Y: Tensor) -> Tensor:
    index = torch.reshape(Y, [-1])
    result = torch.index_select(X, X.dim() - 1, index)
    return torch.unsqueeze(result, 0) if X.dim() == 1 else result


def FeatureVectorizer(
    all_inputs: List[Tensor], *, inputdimensions: List[int]
) -> Tensor:
    parts: List[Tensor] = []
    for i in range(len(all_inputs)):
        x = all_inputs[i].to(torch.float32)
        if x.dim() == 1:
            x = torch.unsqueeze(x, 1)
        parts.append(torch.constant_pad_nd(x, [0, inputdimensions[i] - x.size(1)]))
    return torch.cat(parts, 1)


def OneHotEncoder(X: Tensor, *, cats_int64s: List[int], zeros: bool = True) -> Tensor:
    cats = torch.tensor(cats_int64s, device=X.device)
    hot = torch.unsqueeze(X.to(torch.int64), -1) == cats
    if not zeros and not bool(torch.all(torch.any(hot, -1))):
        raise ValueError("OneHotEncoder: a category that is not in cats_int64s")
    return hot.to(torch.float32)


def LinearRegressor(
    X: Tensor,
    *,
    coefficients: List[float],
    intercepts: Optional[List[float]] = None,
    post_transform: str = "NONE",
    targets: int = 1,
) -> Tensor:
    x = X.to(torch.float32)
    weight = torch.reshape(_ml_tensor(coefficients, x), [targets, -1])
    bias: Optional[Tensor] = None
    if intercepts is not None:
        bias = _ml_tensor(intercepts, x)
    return _ml_post_transform(torch.linear(x, weight, bias), post_transform)


# The label of each row of scores. One score of two classes tells them apart.
def _ml_labels(scores: Tensor, labels: List[int], threshold: float) -> Tensor:
    if scores.size(1) > 1:
        names = torch.tensor(labels, dtype=torch.int64, device=scores.device)
        return torch.index_select(names, 0, torch.argmax(scores, 1))
    positive = labels[1] if len(labels) == 2 else labels[0]
    negative = labels[0] if len(labels) == 2 else 0
    column = torch.select(scores, 1, 0)
    return torch.where(column > threshold, positive, negative).to(torch.int64)


def LinearClassifier(
    X: Tensor,
    *,
    classlabels_ints: List[int],
    coefficients: List[float],
    intercepts: Optional[List[float]] = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> Tuple[Tensor, Tensor]:
    x = X.to(torch.float32)
    weight = torch.reshape(_ml_tensor(coefficients, x), [-1, x.size(1)])
    bias: Optional[Tensor] = None
    if intercepts is not None:
        bias = _ml_tensor(intercepts, x)
    scores = torch.linear(x, weight, bias)
    if scores.size(1) == 1 and len(classlabels_ints) == 2:
        # The score of the other class is its complement.
        both = torch.cat([-scores, scores], 1)
        labels = _ml_labels(both, classlabels_ints, 0.0)
        if post_transform == "NONE" or post_transform == "PROBIT":
            return labels, both
        if post_transform == "LOGISTIC":
            p = torch.sigmoid(scores)
            return labels, torch.cat([1 - p, p], 1)
        return labels, _ml_post_transform(both, post_transform)
    result = _ml_post_transform(scores, post_transform)
    return _ml_labels(
        result, classlabels_ints, 0.0 if post_transform == "NONE" else 0.5
    ), result


# Where several keys are equal, the last counts; NaN is equal to NaN.
def _ml_encode(X: Tensor, keys: Tensor, values: Tensor, default: Tensor) -> Tensor:
    ordered, order = torch.sort(keys, stable=True, dim=0, descending=False)
    at = torch.clamp(torch.searchsorted(ordered, X.contiguous(), right=True) - 1, min=0)
    found = torch.index(ordered, [at])
    hit = found == X
    if torch.is_floating_point(keys):
        hit = torch.logical_or(
            hit, torch.logical_and(torch.isnan(found), torch.isnan(X))
        )
    value = torch.index(torch.index_select(values, 0, order), [at])
    return torch.where(hit, value, default.to(values.dtype))


def LabelEncoder(X: Tensor, *, classes_strings: Optional[List[str]] = None) -> Tensor:
    raise NotImplementedError(
        "LabelEncoder of strings: hotaru has no tensors of strings"
    )


def LabelEncoder_v2(
    X: Tensor,
    *,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: Optional[Tensor] = None,
    keys_floats: Optional[List[float]] = None,
    keys_int64s: Optional[List[int]] = None,
    keys_tensor: Optional[Tensor] = None,
    values_floats: Optional[List[float]] = None,
    values_int64s: Optional[List[int]] = None,
    values_tensor: Optional[Tensor] = None,
) -> Tensor:
    keys = torch.empty([0], dtype=X.dtype)
    if keys_tensor is not None:
        keys = keys_tensor
    elif keys_floats is not None:
        keys = torch.tensor(keys_floats, dtype=X.dtype)
    elif keys_int64s is not None:
        keys = torch.tensor(keys_int64s, dtype=X.dtype)
    else:
        raise ValueError("LabelEncoder has no keys that are numbers")
    default = torch.tensor(default_int64)
    if values_tensor is not None:
        values = values_tensor
        default = torch.tensor(0)
        if default_tensor is not None:
            default = torch.select(torch.reshape(default_tensor, [-1]), 0, 0)
        elif torch.is_floating_point(values):
            default = torch.tensor(default_float)
    elif values_floats is not None:
        values = torch.tensor(values_floats, dtype=torch.float32)
        default = torch.tensor(default_float)
    elif values_int64s is not None:
        values = torch.tensor(values_int64s)
    else:
        raise ValueError("LabelEncoder has no values that are numbers")
    return _ml_encode(X, keys.to(X.device), values.to(X.device), default.to(X.device))


# Tells whether each row takes the true branch at its node, [rows, trees].
def _ml_branch(x: Tensor, split: Tensor, mode: Tensor, member: Tensor) -> Tensor:
    result = x <= split
    result = torch.where(mode == 1, x < split, result)
    result = torch.where(mode == 2, x >= split, result)
    result = torch.where(mode == 3, x > split, result)
    result = torch.where(mode == 4, x == split, result)
    result = torch.where(mode == 5, x != split, result)
    return torch.where(mode == 6, member, result)


# Members of the sets of nodes with mode 6, the sets divided by NaN: a number
# and the node it belongs to.
def _ml_members(values: Tensor, modes: Tensor) -> Tuple[Tensor, Tensor]:
    ends = torch.isnan(values)
    sets = torch.cumsum(ends.to(torch.int64), 0)
    nodes = torch.reshape(torch.nonzero(modes == 6), [-1])
    kept = torch.logical_not(ends)
    return torch.masked_select(values, kept), torch.index_select(
        nodes, 0, torch.masked_select(sets, kept)
    )


def _ml_aggregate(weights: Tensor, targets: Tensor, count: int, how: str) -> Tensor:
    shape = [weights.size(0), count]
    result = torch.zeros(shape, dtype=weights.dtype, device=weights.device)
    if how == "SUM":
        return torch.scatter_add(result, 1, targets, weights)
    if how == "AVERAGE":
        return torch.scatter_add(result, 1, targets, weights) / weights.size(1)
    if how == "MIN":
        return torch.scatter_reduce(
            result, 1, targets, weights, "amin", include_self=False
        )
    if how == "MAX":
        return torch.scatter_reduce(
            result, 1, targets, weights, "amax", include_self=False
        )
    raise ValueError("aggregate_function is none of AVERAGE, SUM, MIN, MAX: " + how)


def TreeEnsemble(
    X: Tensor,
    *,
    aggregate_function: int = 1,
    leaf_targetids: List[int],
    leaf_weights: Tensor,
    membership_values: Optional[Tensor] = None,
    n_targets: int,
    nodes_falseleafs: List[int],
    nodes_falsenodeids: List[int],
    nodes_featureids: List[int],
    nodes_hitrates: Optional[Tensor] = None,
    nodes_missing_value_tracks_true: Optional[List[int]] = None,
    nodes_modes: Tensor,
    nodes_splits: Tensor,
    nodes_trueleafs: List[int],
    nodes_truenodeids: List[int],
    post_transform: int = 0,
    tree_roots: List[int],
) -> Tensor:
    device = X.device
    # A branch that is a leaf is counted beyond the nodes.
    count = len(nodes_featureids)
    yes = (
        torch.tensor(nodes_truenodeids, device=device)
        + torch.tensor(nodes_trueleafs, device=device) * count
    )
    no = (
        torch.tensor(nodes_falsenodeids, device=device)
        + torch.tensor(nodes_falseleafs, device=device) * count
    )
    features = torch.tensor(nodes_featureids, device=device)
    modes = nodes_modes.to(device)
    splits = nodes_splits.to(device)
    at = torch.tensor(tree_roots, device=device).expand([X.size(0), len(tree_roots)])
    inner = at < count
    while bool(torch.any(inner)):
        node = torch.clamp(at, max=count - 1)
        x = torch.gather(X, 1, torch.index(features, [node]))
        mode = torch.index(modes, [node])
        member = torch.zeros_like(inner)
        if membership_values is not None:
            members, owners = _ml_members(membership_values.to(device), modes)
            equal = torch.unsqueeze(x, 2) == members
            own = torch.unsqueeze(node, 2) == owners
            member = torch.any(torch.logical_and(equal, own), 2)
        taken = _ml_branch(x, torch.index(splits, [node]), mode, member)
        if nodes_missing_value_tracks_true is not None:
            tracks = torch.tensor(nodes_missing_value_tracks_true, device=device) != 0
            taken = torch.where(torch.isnan(x), torch.index(tracks, [node]), taken)
        next = torch.where(taken, torch.index(yes, [node]), torch.index(no, [node]))
        at = torch.where(inner, next, at)
        inner = at < count
    leaf = at - count
    weights = torch.index(leaf_weights.to(device), [leaf]).to(X.dtype)
    targets = torch.index(torch.tensor(leaf_targetids, device=device), [leaf])
    how = ["AVERAGE", "SUM", "MIN", "MAX"][aggregate_function]
    scores = _ml_aggregate(weights, targets, n_targets, how)
    names = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
    return _ml_post_transform(scores, names[post_transform])


# Ensembles as before version 5 of the domain: nodes are named by a tree and a
# number. Here they are rows, in the order of the lists.
def _ml_rows(trees: Tensor, ids: Tensor, of_trees: Tensor, of_ids: Tensor) -> Tensor:
    width = torch.amax(ids) + 1
    keys = trees * width + ids
    ordered, order = torch.sort(keys)
    wanted = of_trees * width + of_ids
    at = torch.clamp(torch.searchsorted(ordered, wanted), max=keys.size(0) - 1)
    return torch.index_select(order, 0, at)


def _ml_modes(names: List[str]) -> Tensor:
    known = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"]
    known = known + ["BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"]
    modes: List[int] = []
    for name in names:
        if name == "BRANCH_MEMBER" or name not in known:
            raise ValueError("nodes_modes has " + name)
        modes.append(known.index(name))
    return torch.tensor(modes)


# The leaf of each row of X in each tree.
def _ml_leaves(
    X: Tensor,
    trees: List[int],
    ids: List[int],
    features: List[int],
    names: List[str],
    values: Tensor,
    trues: List[int],
    falses: List[int],
    missing: Optional[List[int]],
) -> Tensor:
    device = X.device
    tree = torch.tensor(trees, device=device)
    node = torch.tensor(ids, device=device)
    modes = _ml_modes(names).to(device)
    splits = values.to(device)
    yes = _ml_rows(tree, node, tree, torch.tensor(trues, device=device))
    no = _ml_rows(tree, node, tree, torch.tensor(falses, device=device))
    feature = torch.tensor(features, device=device)
    branches = modes != 7
    # A root is nobody's child.
    child = torch.zeros_like(branches)
    child = torch.index_fill(child, 0, torch.masked_select(yes, branches), True)
    child = torch.index_fill(child, 0, torch.masked_select(no, branches), True)
    roots = torch.reshape(torch.nonzero(torch.logical_not(child)), [-1])
    at = roots.expand([X.size(0), roots.size(0)])
    inner = torch.index(branches, [at])
    none = torch.zeros_like(inner)
    while bool(torch.any(inner)):
        number = torch.clamp(torch.index(feature, [at]), 0, X.size(1) - 1)
        x = torch.gather(X, 1, number)
        mode = torch.index(modes, [at])
        taken = _ml_branch(x, torch.index(splits, [at]), mode, none)
        if missing is not None:
            tracks = torch.tensor(missing, device=device) != 0
            taken = torch.where(torch.isnan(x), torch.index(tracks, [at]), taken)
        next = torch.where(taken, torch.index(yes, [at]), torch.index(no, [at]))
        at = torch.where(inner, next, at)
        inner = torch.index(branches, [at])
    return at


# Scores of targets by leaves, [rows, targets]; a leaf may speak of several.
def _ml_scores(
    leaves: Tensor, rows: Tensor, targets: Tensor, weights: Tensor, count: int, how: str
) -> Tensor:
    nodes = int(torch.amax(torch.cat([torch.reshape(leaves, [-1]), rows]))) + 1
    zero = torch.zeros([nodes, count], dtype=weights.dtype, device=leaves.device)
    table = torch.index_put(zero, [rows, targets], weights, True)
    said = torch.index(table, [leaves])
    if how == "SUM":
        return torch.sum(said, [1])
    if how == "AVERAGE":
        return torch.sum(said, [1]) / leaves.size(1)
    spoken = torch.index_put(zero, [rows, targets], torch.ones_like(weights))
    silent = torch.index(spoken, [leaves]) == 0
    if how == "MIN":
        best = torch.amin(torch.where(silent, inf, said), [1])
    elif how == "MAX":
        best = torch.amax(torch.where(silent, -inf, said), [1])
    else:
        raise ValueError("aggregate_function is none of AVERAGE, SUM, MIN, MAX: " + how)
    nothing = torch.all(silent, 1)
    return torch.where(nothing, torch.zeros_like(best), best)


def _ml_given(
    tensor: Optional[Tensor], numbers: Optional[List[float]]
) -> Optional[Tensor]:
    if tensor is not None:
        return tensor
    if numbers is not None:
        return torch.tensor(numbers, dtype=torch.float32)
    return None


def _ml_needed(
    tensor: Optional[Tensor], numbers: Optional[List[float]], name: str
) -> Tensor:
    given = _ml_given(tensor, numbers)
    if given is None:
        raise ValueError("the ensemble has no " + name)
    return given


def TreeEnsembleRegressor(
    X: Tensor,
    *,
    aggregate_function: str = "SUM",
    base_values: Optional[List[float]] = None,
    base_values_as_tensor: Optional[Tensor] = None,
    n_targets: int,
    nodes_falsenodeids: List[int],
    nodes_featureids: List[int],
    nodes_hitrates: Optional[List[float]] = None,
    nodes_hitrates_as_tensor: Optional[Tensor] = None,
    nodes_missing_value_tracks_true: Optional[List[int]] = None,
    nodes_modes: List[str],
    nodes_nodeids: List[int],
    nodes_treeids: List[int],
    nodes_truenodeids: List[int],
    nodes_values: Optional[List[float]] = None,
    nodes_values_as_tensor: Optional[Tensor] = None,
    post_transform: str = "NONE",
    target_ids: List[int],
    target_nodeids: List[int],
    target_treeids: List[int],
    target_weights: Optional[List[float]] = None,
    target_weights_as_tensor: Optional[Tensor] = None,
) -> Tensor:
    device = X.device
    values = _ml_needed(nodes_values_as_tensor, nodes_values, "nodes_values")
    leaves = _ml_leaves(
        X if torch.is_floating_point(X) else X.to(values.dtype),
        nodes_treeids,
        nodes_nodeids,
        nodes_featureids,
        nodes_modes,
        values,
        nodes_truenodeids,
        nodes_falsenodeids,
        nodes_missing_value_tracks_true,
    )
    rows = _ml_rows(
        torch.tensor(nodes_treeids, device=device),
        torch.tensor(nodes_nodeids, device=device),
        torch.tensor(target_treeids, device=device),
        torch.tensor(target_nodeids, device=device),
    )
    weights = _ml_needed(target_weights_as_tensor, target_weights, "target_weights")
    targets = torch.tensor(target_ids, device=device)
    scores = _ml_scores(
        leaves, rows, targets, weights.to(device), n_targets, aggregate_function
    )
    base = _ml_given(base_values_as_tensor, base_values)
    if base is not None:
        scores = scores + base.to(device)
    return _ml_post_transform(scores, post_transform).to(torch.float32)


# Scores of one class of two, such as boosted trees give: the other's are their
# complements, to 1 where they are probabilities, else to 0. Whether a row is of
# that class, and both classes' scores.
def _ml_binary(
    scores: Tensor, positive: bool, post_transform: str
) -> Tuple[Tensor, Tensor]:
    if positive and (post_transform == "NONE" or post_transform == "PROBIT"):
        both = torch.cat([1 - scores, scores], 1)
        return scores > 0.5, _ml_post_transform(both, post_transform)
    both = torch.cat([-scores, scores], 1)
    return scores > 0, _ml_post_transform(both, post_transform)


def TreeEnsembleClassifier(
    X: Tensor,
    *,
    base_values: Optional[List[float]] = None,
    base_values_as_tensor: Optional[Tensor] = None,
    class_ids: List[int],
    class_nodeids: List[int],
    class_treeids: List[int],
    class_weights: Optional[List[float]] = None,
    class_weights_as_tensor: Optional[Tensor] = None,
    classlabels_int64s: List[int],
    nodes_falsenodeids: List[int],
    nodes_featureids: List[int],
    nodes_hitrates: Optional[List[float]] = None,
    nodes_hitrates_as_tensor: Optional[Tensor] = None,
    nodes_missing_value_tracks_true: Optional[List[int]] = None,
    nodes_modes: List[str],
    nodes_nodeids: List[int],
    nodes_treeids: List[int],
    nodes_truenodeids: List[int],
    nodes_values: Optional[List[float]] = None,
    nodes_values_as_tensor: Optional[Tensor] = None,
    post_transform: str = "NONE",
) -> Tuple[Tensor, Tensor]:
    device = X.device
    values = _ml_needed(nodes_values_as_tensor, nodes_values, "nodes_values")
    leaves = _ml_leaves(
        X if torch.is_floating_point(X) else X.to(values.dtype),
        nodes_treeids,
        nodes_nodeids,
        nodes_featureids,
        nodes_modes,
        values,
        nodes_truenodeids,
        nodes_falsenodeids,
        nodes_missing_value_tracks_true,
    )
    rows = _ml_rows(
        torch.tensor(nodes_treeids, device=device),
        torch.tensor(nodes_nodeids, device=device),
        torch.tensor(class_treeids, device=device),
        torch.tensor(class_nodeids, device=device),
    )
    weights = _ml_needed(class_weights_as_tensor, class_weights, "class_weights")
    targets = torch.tensor(class_ids, device=device)
    count = len(classlabels_int64s)
    lone = count == 2 and min(class_ids) == max(class_ids)
    if lone:
        targets = torch.zeros_like(targets)
    scores = _ml_scores(
        leaves, rows, targets, weights.to(device), 1 if lone else count, "SUM"
    )
    labels = torch.tensor(classlabels_int64s, device=device)
    base = _ml_given(base_values_as_tensor, base_values)
    if base is not None:
        # The second of two is the class's that has scores.
        scores = scores + (base[-1:] if lone else base).to(device)
    if lone:
        positive = bool(torch.all(weights >= 0))
        is_second, both = _ml_binary(scores, positive, post_transform)
        second = torch.select(is_second, 1, 0).to(torch.int64)
        return torch.index_select(labels, 0, second), both.to(torch.float32)
    best = torch.index_select(labels, 0, torch.argmax(scores, 1))
    return best, _ml_post_transform(scores, post_transform).to(torch.float32)
