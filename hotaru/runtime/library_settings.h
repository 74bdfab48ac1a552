// What a program permits kernels and asks of NVIDIA's libraries
// (torch.backends). Process-wide, thread-safe.
#pragma once

#include <cstdint>

namespace hotaru {

enum class Tf32 : uint8_t { kMatmul, kConv };

/// Whether NVIDIA's libraries may round factors to 10 bits behind the point. As
/// in PyTorch, at first convolutions may, products may not.
bool allows_tf32(Tf32 where);
void set_allows_tf32(Tf32 where, bool allows);

/// Whether the CPU's products may round factors of float32 to bfloat16; at
/// first they may not. Looked up when a product is called for, not when it
/// runs.
bool allows_bf16_products();
void set_allows_bf16_products(bool allows);
/// The same of its convolutions.
bool allows_bf16_convolutions();
void set_allows_bf16_convolutions(bool allows);
/// And of its recurrent layers.
bool allows_bf16_recurrence();
void set_allows_bf16_recurrence(bool allows);

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
