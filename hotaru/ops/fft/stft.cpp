// Short-time Fourier transforms: of windows that overlap along a signal.
#include <string>

#include "hotaru/core/error.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/fft/fft.h"
#include "hotaru/ops/host_value.h"
#include "hotaru/ops/index/slices.h"
#include "hotaru/ops/operators.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/reduce/extremum.h"
#include "hotaru/ops/registry.h"
#include "hotaru/ops/shape/pad.h"
#include "hotaru/ops/shape/view.h"
#include "hotaru/runtime/warning.h"

namespace hotaru {
namespace {

using Length = Optional<int64_t>;
using Flag = Optional<bool>;

struct Frames {
  int64_t n_fft, hop, win;
  Tensor window;
};

std::string text(const Flag& flag) {
  return flag ? (*flag ? "1" : "0") : "None";
}
std::string text(const Length& length) {
  return length ? std::to_string(*length) : "None";
}

std::string text(const Frames& f) {
  const std::string window =
      f.window.defined() ? concat("torch.", scalar_type_name(f.window.dtype()),
                                  "Tensor{", shape_text(f.window.sizes()), "}")
                         : "None";
  return concat("n_fft=", f.n_fft, ", hop_length=", f.hop,
                ", win_length=", f.win, ", window=", window);
}

/// The window in the middle of n_fft points; undefined if it is all ones.
Tensor centred(const Frames& f, const Tensor& like) {
  if (f.win == f.n_fft) return f.window;
  const int64_t left = (f.n_fft - f.win) / 2;
  const Tensor window =
      f.window.defined()
          ? f.window
          : ones(Dims{f.win}, {to_real(like.dtype()), like.device()});
  return constant_pad_nd(window, Dims{left, f.n_fft - f.win - left});
}

FftScale scale_of(bool normalized) {
  return normalized ? FftScale::kRoot : FftScale::kNone;
}

Tensor stft(const Tensor& self, int64_t n_fft, const Length& hop_length,
            const Length& win_length, const Tensor& window, bool center,
            const std::string& pad_mode, bool normalized, const Flag& onesided,
            const Flag& return_complex, const Flag& align_to_window) {
  const Frames f{n_fft, hop_length.value_or(n_fft >> 2),
                 win_length.value_or(n_fft), window};
  if (!window.defined())
    warn(
        "A window was not provided. A rectangular window will be applied,"
        "which is known to cause spectral leakage. Other windows such as "
        "torch.hann_window or torch.hamming_window are recommended to reduce "
        "spectral leakage.To suppress this warning and use a rectangular "
        "window, explicitly set `window=torch.ones(n_fft, device=<device>)`.");
  const auto check = [&](bool good, const auto&... parts) {
    if (good) return;
    throw Error(
        concat("stft(torch.", scalar_type_name(self.dtype()), "Tensor",
               shape_text(self.sizes()), ", ", text(f),
               ", normalized=", int(normalized), ", onesided=", text(onesided),
               ", return_complex=", text(return_complex),
               ", align_to_window=", text(align_to_window), ") ", parts...));
  };
  HOTARU_CHECK(!center || !align_to_window,
               "stft align_to_window should only be set when center = false.");
  const bool complex =
      self.is_complex() || (window.defined() && window.is_complex());
  HOTARU_CHECK(return_complex || complex,
               "stft requires the return_complex parameter be given for real "
               "inputs, and will further require that return_complex=True in "
               "a future PyTorch release.");
  if (!return_complex.value_or(true))
    warn(
        "stft with return_complex=False is deprecated. In a future pytorch "
        "release, stft will return complex tensors for all inputs, and "
        "return_complex=False will raise an error.\nNote: you can still call "
        "torch.view_as_real on the complex output to recover the old return "
        "format.");
  check(is_floating_point(self.dtype()) || self.is_complex(),
        ": expected a tensor of floating point or complex values");
  check(self.dim() == 1 || self.dim() == 2, ": expected a 1D or 2D tensor");
  Tensor x = self.dim() == 1 ? unsqueeze(self, 0) : self;
  if (center)
    x = squeeze(pad(unsqueeze(x, 0), Dims{n_fft / 2, n_fft / 2}, pad_mode), 0);
  const int64_t len = x.size(1);
  check(n_fft > 0 && n_fft <= len, ": expected 0 < n_fft < ", len,
        ", but got n_fft=", f.win);
  check(f.hop > 0, ": expected hop_length > 0, but got hop_length=", f.hop);
  check(f.win > 0 && f.win <= n_fft,
        ": expected 0 < win_length <= n_fft, but got win_length=", f.win);
  check(!window.defined() || (window.dim() == 1 && window.size(0) == f.win),
        ": expected a 1D window tensor of size equal to win_length=", f.win,
        ", but got window with size ",
        shape_text(window.defined() ? window.sizes() : IntSpan()));
  HOTARU_CHECK(!complex || !onesided.value_or(false),
               "Cannot have onesided output if window or input is complex");
  const bool aligned = align_to_window.value_or(false);
  Tensor frames = unfold(x, 1, aligned ? f.win : n_fft, f.hop);
  const Tensor weights = aligned ? window : centred(f, self);
  if (weights.defined()) frames = frames * weights;
  if (aligned && f.win < n_fft) {
    const int64_t left = (n_fft - f.win) / 2;
    frames = constant_pad_nd(frames, Dims{left, n_fft - f.win - left});
  }
  Tensor out = frames.is_complex()
                   ? fft_c2c(frames, Dims{2}, scale_of(normalized), true)
                   : fft_r2c(frames, Dims{2}, scale_of(normalized),
                             onesided.value_or(true));
  out = transpose(out, 1, 2);
  if (self.dim() == 1) out = squeeze(out, 0);
  return return_complex.value_or(complex) ? out : view_as_real(out);
}

/// Adds frames [batch, count, n] up where they stand in a signal, hop apart.
Tensor overlap_add(const Tensor& frames, int64_t hop) {
  const int64_t count = frames.size(1), n = frames.size(2);
  const int64_t length = n + hop * (count - 1);
  const Tensor places =
      unfold(arange(0, length, 1, {DType::kInt64, frames.device()}), 0, n, hop);
  return index_add(zeros(Dims{frames.size(0), length}, TensorOptions(frames)),
                   1, flatten(places), flatten(frames, 1));
}

Tensor istft(const Tensor& self, int64_t n_fft, const Length& hop_length,
             const Length& win_length, const Tensor& window, bool center,
             bool normalized, const Flag& onesided, const Length& length,
             bool return_complex) {
  const Frames f{n_fft, hop_length.value_or(n_fft >> 2),
                 win_length.value_or(n_fft), window};
  if (!window.defined())
    warn(
        "A window was not provided. A rectangular window will be applied."
        "Please provide the same window used by stft to make the inversion "
        "lossless.To suppress this warning and use a rectangular window, "
        "explicitly set `window=torch.ones(n_fft, device=<device>)`.");
  const auto check = [&](bool good, const auto&... parts) {
    if (good) return;
    throw Error(
        concat("istft(CPU", scalar_type_name(self.dtype()), "Type",
               shape_text(self.sizes()), ", ", text(f),
               ", center=", int(center), ", normalized=", int(normalized),
               ", onesided=", text(onesided), ", length=", text(length),
               ", return_complex=", int(return_complex), ") ", parts...));
  };
  HOTARU_CHECK(self.is_complex(),
               "istft requires a complex-valued input tensor matching the "
               "output from stft with return_complex=True.");
  check(self.numel() > 0, ": input tensor cannot be empty.");
  check(self.dim() == 2 || self.dim() == 3,
        ": expected a tensor with 3 or 4 dimensions, but got ", self.dim() + 1);
  const Tensor x = self.dim() == 2 ? unsqueeze(self, 0) : self;
  const int64_t bins = x.size(1), count = x.size(2);
  const bool half = onesided.value_or(bins != n_fft);
  check(!half || n_fft / 2 + 1 == bins,
        ": expected the frequency dimension (3rd to the last) of the input "
        "tensor to match n_fft / 2 + 1 when onesided=True, but got ",
        bins);
  check(half || n_fft == bins,
        ": expected the frequency dimension (3rd to the last) of the input "
        "tensor to match n_fft when onesided=False, but got ",
        bins);
  check(f.hop > 0 && f.hop <= f.win, ": expected 0 < hop_length <= win_length");
  check(f.win > 0 && f.win <= n_fft, ": expected 0 < win_length <= n_fft");
  check(!window.defined() || (window.dim() == 1 && window.size(0) == f.win),
        ": Invalid window shape. window has to be 1D and length of "
        "`win_length`");
  HOTARU_CHECK(return_complex || !window.defined() || !window.is_complex(),
               "Complex windows are incompatible with return_complex=False");
  HOTARU_CHECK(!return_complex || !half,
               "Cannot have onesided output if window or input is complex");
  Tensor weights = centred(f, self);
  if (!weights.defined())
    weights = ones(Dims{n_fft}, {to_real(self.dtype()), self.device()});
  const FftScale scale = normalized ? FftScale::kRoot : FftScale::kPoints;
  const Tensor lines = transpose(x, 1, 2);
  Tensor frames;
  if (return_complex) {
    frames = fft_c2c(lines, Dims{2}, scale, false);
  } else {
    const Tensor some = half ? lines : slice(lines, 2, 0, n_fft / 2 + 1);
    frames = fft_c2r(some, Dims{2}, scale, n_fft);
  }
  frames = frames * weights;
  const Tensor squares =
      expand(unsqueeze(weights * weights, 0), Dims{count, n_fft});
  Tensor y = overlap_add(frames, f.hop);
  Tensor envelope = overlap_add(unsqueeze(squares, 0), f.hop);
  const int64_t total = n_fft + f.hop * (count - 1);
  const int64_t start = center ? n_fft / 2 : 0;
  int64_t end = total;
  if (length)
    end = start + *length;
  else if (center)
    end = total - n_fft / 2;
  y = slice(y, 1, start, end);
  envelope = slice(envelope, 1, start, end);
  const Tensor least = min(abs(envelope));
  check(host_value(least, "the check of istft's windows").to_double() > 1e-11,
        "window overlap add min: 1\n[ CPUBoolType{} ]");
  y = y / envelope;
  if (self.dim() == 2) y = squeeze(y, 0);
  if (end > total) {
    warn(
        "The length of signal is shorter than the length parameter. Result is "
        "being padded with zeros in the tail. Please check your center and "
        "hop_length settings.");
    y = constant_pad_nd(y, Dims{0, end - total});
  }
  return y;
}

HOTARU_OP(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool normalized=False, bool? onesided=None, bool? "
    "return_complex=None, bool? align_to_window=None) -> Tensor",
    +[](const Tensor& self, int64_t n_fft, const Length& hop, const Length& win,
        const Tensor& window, bool normalized, const Flag& onesided,
        const Flag& return_complex, const Flag& align) {
      return stft(self, n_fft, hop, win, window, false, "constant", normalized,
                  onesided, return_complex, align);
    });
HOTARU_OP(
    "stft.center(Tensor self, int n_fft, int? hop_length=None, int? "
    "win_length=None, Tensor? window=None, bool center=True, str "
    "pad_mode=\"reflect\", bool normalized=False, bool? onesided=None, bool? "
    "return_complex=None, bool? align_to_window=None) -> Tensor",
    stft);
HOTARU_OP(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    "Tensor? window=None, bool center=True, bool normalized=False, bool? "
    "onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    istft);

}  // namespace
}  // namespace hotaru
