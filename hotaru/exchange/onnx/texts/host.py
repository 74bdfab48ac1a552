"""Functions for the importer itself: numbers of the host and tensors."""


def _host_tensor(numbers: List[int], on_device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=torch.int64, device=on_device)


def _host_ints(x: Tensor) -> List[int]:
    # Numbers that were just made are known as long as they are not converted.
    whole = x if x.dtype == torch.int32 else x.to(torch.int64)
    return annotate(List[int], whole.reshape([-1]).tolist())


def _host_floats(x: Tensor) -> List[float]:
    whole = x if x.dtype == torch.float32 else x.to(torch.float64)
    return annotate(List[float], whole.reshape([-1]).tolist())


def _host_stack(
    items: List[Tensor],
    axis: int,
    shape: List[int],
    dtype: int,
    on_device: torch.device,
) -> Tensor:
    if len(items) == 0:
        return torch.zeros(shape, dtype=dtype, device=on_device)
    if axis < 0:
        axis = axis + items[0].dim() + 1
    return torch.stack(items, axis)


# Stacks items of one length, or of at most so many, with zeros at the end.
def _host_batch(items: List[Tensor], length: int) -> Tensor:
    if length == 0:
        return torch.stack(items)
    out: List[Tensor] = []
    for item in items:
        missing = length - item.size(0)
        if missing > 0:
            rest = list(item.size())
            rest[0] = missing
            zeros = torch.zeros(rest, dtype=item.dtype, device=item.device)
            out.append(torch.cat([item, zeros]))
        else:
            out.append(item)
    return torch.stack(out)
