"""ONNX's operators of sequences and optionals."""


def SequenceEmpty_v11(*, dtype: Optional[int] = None) -> List[Tensor]:
    out: List[Tensor] = []
    return out


def SequenceConstruct_v11(all_inputs: List[Tensor]) -> List[Tensor]:
    return all_inputs


def SequenceInsert_v11(
    input_sequence: List[Tensor], tensor: Tensor, position: Optional[int]
) -> List[Tensor]:
    at = len(input_sequence) if position is None else position
    if abs(at) > len(input_sequence):
        raise IndexError("SequenceInsert: the position is outside of the sequence")
    return input_sequence[:at] + [tensor] + input_sequence[at:]


def SequenceErase_v11(
    input_sequence: List[Tensor], position: Optional[int]
) -> List[Tensor]:
    at = -1 if position is None else position
    at = at + len(input_sequence) if at < 0 else at
    if at < 0 or at >= len(input_sequence):
        raise IndexError("SequenceErase: the position is outside of the sequence")
    return input_sequence[:at] + input_sequence[at + 1 :]


def SequenceAt_v11(input_sequence: List[Tensor], position: int) -> Tensor:
    return input_sequence[position]


def SequenceLength_v11(input_sequence: List[Tensor]) -> int:
    return len(input_sequence)


def SplitToSequence_v11__int(
    input: Tensor, split: Optional[int], *, axis: int = 0, keepdims: bool = True
) -> List[Tensor]:
    if split is not None:
        out = input.split(split, axis)
    elif keepdims:
        out = input.split(1, axis)
    else:
        out = input.unbind(axis)
    return out


def SplitToSequence_v11__list(
    input: Tensor, split: List[int], *, axis: int = 0, keepdims: bool = True
) -> List[Tensor]:
    return input.split_with_sizes(split, axis)


# One length for all or a list: known when it runs.
def SplitToSequence_v11(
    input: Tensor, split: Tensor, *, axis: int = 0, keepdims: bool = True
) -> List[Tensor]:
    if split.dim() == 0:
        out = input.split(int(split), axis)
    else:
        sizes: List[int] = split.to(torch.int64).tolist()
        out = input.split_with_sizes(sizes, axis)
    return out


def ConcatFromSequence_v11(
    input_sequence: List[Tensor], *, axis: int, new_axis: bool = False
) -> Tensor:
    if new_axis:
        out = torch.stack(input_sequence, axis)
    else:
        out = torch.cat(input_sequence, axis)
    return out


def OptionalHasElement_v15(input: Optional[Tensor]) -> bool:
    return input is not None


def OptionalHasElement_v15__sequence(input: Optional[List[Tensor]]) -> bool:
    return input is not None


def OptionalGetElement_v15(input: Tensor) -> Tensor:
    return input


def OptionalGetElement_v15__sequence(input: List[Tensor]) -> List[Tensor]:
    return input


def OptionalGetElement_v15__optional(input: Optional[Tensor]) -> Tensor:
    if input is None:
        raise ValueError("OptionalGetElement: the optional is empty")
    return input


def OptionalGetElement_v15__optional_sequence(
    input: Optional[List[Tensor]],
) -> List[Tensor]:
    if input is None:
        raise ValueError("OptionalGetElement: the optional is empty")
    return input
