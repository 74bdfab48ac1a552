// What a program permits NVIDIA's libraries and asks of them (torch.backends).
// The CPU's kernels and hotaru's own CUDA kernels compute float32 in full
// precision and need none of it. Process-wide, thread-safe.
#pragma once

#include <cstdint>

namespace hotaru {

enum class Tf32 : uint8_t { kMatmul, kConv };

/// Whether factors may be rounded to 10 bits behind the point. As in PyTorch,
/// at first convolutions may, products may not.
bool allows_tf32(Tf32 where);
void set_allows_tf32(Tf32 where, bool allows);

/// torch.backends.cudnn's.
struct CudnnSettings {
  bool enabled = true;
  /// Kernels are tried when a kind of convolution first comes, and the fastest
  /// one is taken.
  bool benchmark = false;
  bool deterministic = false;
};
CudnnSettings cudnn_settings();
void set_cudnn_settings(CudnnSettings wanted);

}  // namespace hotaru
