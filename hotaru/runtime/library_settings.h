// Permissions of a program to kernels, and what it asks of NVIDIA's libraries
// (torch.backends). Process-wide, thread-safe.
#pragma once

#include <cstdint>

namespace hotaru {

enum class Tf32 : uint8_t { kMatmul, kConv };

/// True if NVIDIA's libraries may round factors to 10 bits behind the point. As
/// in PyTorch, at first convolutions may, products may not.
bool allows_tf32(Tf32 where);
void set_allows_tf32(Tf32 where, bool allows);

enum class Bf16 : uint8_t { kMatmul, kConv, kRnn };

/// True if the CPU's products, convolutions or recurrent layers may round
/// factors of float32 to bfloat16; at first they may not. Looked up when one is
/// called for, not when it runs.
bool allows_bf16(Bf16 where);
void set_allows_bf16(Bf16 where, bool allows);

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
