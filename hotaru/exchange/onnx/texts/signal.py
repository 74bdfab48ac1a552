"""Fourier transforms and windows."""


# Half precision is transformed as float; a last axis of two numbers is complex.
def _signal_transform(
    x: Tensor, length: Optional[int], axis: int, inverse: bool, onesided: bool
) -> Tensor:
    dtype = x.dtype
    at = axis + x.dim() if axis < 0 else axis
    if dtype == torch.float16 or dtype == torch.bfloat16:
        x = x.to(torch.float32)
    if x.size(-1) == 2:
        signal = torch.view_as_complex(x.contiguous())
    else:
        signal = torch.squeeze(x, -1)
    if inverse:
        if onesided:
            return torch.unsqueeze(torch.fft_irfft(signal, length, at), -1).to(dtype)
        return torch.view_as_real(torch.fft_ifft(signal, length, at)).to(dtype)
    if onesided and not torch.is_complex(signal):
        return torch.view_as_real(torch.fft_rfft(signal, length, at)).to(dtype)
    result = torch.fft_fft(signal, length, at)
    if onesided:
        result = torch.narrow(result, at, 0, result.size(at) // 2 + 1)
    return torch.view_as_real(result).to(dtype)


def DFT(
    input: Tensor,
    dft_length: Optional[int],
    *,
    axis: int = 1,
    inverse: bool = False,
    onesided: bool = False,
) -> Tensor:
    return _signal_transform(input, dft_length, axis, inverse, onesided)


def DFT_v20(
    input: Tensor,
    dft_length: Optional[int],
    axis: Optional[int],
    *,
    inverse: bool = False,
    onesided: bool = False,
) -> Tensor:
    return _signal_transform(
        input, dft_length, -2 if axis is None else axis, inverse, onesided
    )


def STFT(
    signal: Tensor,
    frame_step: int,
    window: Optional[Tensor],
    frame_length: Optional[int],
    *,
    onesided: bool = True,
) -> Tensor:
    dtype = signal.dtype
    x = signal
    if dtype == torch.float16 or dtype == torch.bfloat16:
        x = x.to(torch.float32)
    if x.dim() == 3:
        if x.size(2) == 2:
            x = torch.view_as_complex(x.contiguous())
        else:
            x = torch.squeeze(x, 2)
    if frame_length is not None:
        length = frame_length
    elif window is not None:
        length = window.size(0)
    else:
        length = x.size(1)
    kind = torch.float64 if dtype == torch.float64 else torch.float32
    if window is None:
        taper = torch.ones([length], dtype=kind, device=x.device)
    else:
        # A shorter window covers a frame's beginning, PyTorch's its middle.
        missing = length - window.size(0)
        taper = torch.constant_pad_nd(window.to(kind), [0, missing])
    frames = torch.stft(
        x,
        length,
        frame_step,
        length,
        taper,
        normalized=False,
        onesided=onesided,
        return_complex=True,
    )
    return torch.view_as_real(torch.transpose(frames, 1, 2)).to(dtype)


# A periodic window is one longer without its last value.
def _signal_phase(size: int, periodic: bool) -> Tensor:
    steps = size if periodic else max(size - 1, 1)
    return torch.arange(size, dtype=torch.float64) * (2 * math.pi / max(steps, 1))


def HannWindow(
    size: int,
    *,
    output_datatype: int = 6,
    periodic: bool = True,
    on_device: torch.device,
) -> Tensor:
    return (0.5 - torch.cos(_signal_phase(size, periodic)) * 0.5).to(
        on_device, output_datatype
    )


def HammingWindow(
    size: int,
    *,
    output_datatype: int = 6,
    periodic: bool = True,
    on_device: torch.device,
) -> Tensor:
    alpha = 25.0 / 46.0
    return (alpha - torch.cos(_signal_phase(size, periodic)) * (1.0 - alpha)).to(
        on_device, output_datatype
    )


def BlackmanWindow(
    size: int,
    *,
    output_datatype: int = 6,
    periodic: bool = True,
    on_device: torch.device,
) -> Tensor:
    phase = _signal_phase(size, periodic)
    return (0.42 - torch.cos(phase) * 0.5 + torch.cos(phase * 2) * 0.08).to(
        on_device, output_datatype
    )


# Triangles between neighbouring bins, which are equal steps of the mel scale.
def MelWeightMatrix(
    num_mel_bins: int,
    dft_length: int,
    sample_rate: int,
    lower_edge_hertz: float,
    upper_edge_hertz: float,
    *,
    output_datatype: int = 6,
    on_device: torch.device,
) -> Tensor:
    low = 2595.0 * math.log10(1.0 + lower_edge_hertz / 700.0)
    high = 2595.0 * math.log10(1.0 + upper_edge_hertz / 700.0)
    step = (high - low) / (num_mel_bins + 2)
    mel = torch.arange(num_mel_bins + 2, dtype=torch.float64) * step + low
    hertz = torch.expm1(mel * (math.log(10.0) / 2595.0)) * 700.0
    bins = torch.floor(hertz * (dft_length + 1) / sample_rate)
    left, centre, right = bins[:-2], bins[1:-1], bins[2:]
    row = torch.unsqueeze(torch.arange(dft_length // 2 + 1, dtype=torch.float64), 1)
    rising = torch.where(centre == left, row == centre, (row - left) / (centre - left))
    falling = (right - row) / (right - centre)
    inside = torch.logical_and(row >= centre, row < right)
    result = torch.where(inside, falling, torch.zeros_like(falling))
    up = torch.logical_and(row >= left, row <= centre)
    # Where both sides meet, the falling one counts, if it isn't empty.
    result = torch.where(
        torch.logical_and(up, torch.logical_not(inside)), rising, result
    )
    return result.to(on_device, output_datatype)
