// Elementwise calls as the text of one kernel.
#pragma once

#include <span>

#include "hotaru/backend/cuda/fused/writer.h"
#include "hotaru/core/tensor.h"

namespace hotaru::cuda::fused {

/// The kernel of some calls, and its text: for vectors, and for any strides.
struct FusedText {
  FusedValues values;
  std::string dense, strided;
};

/// Empty texts if it is too much for one kernel. `inner` need not be written.
FusedText fused_text(std::span<const KernelCall* const> calls,
                     const std::unordered_set<const Storage*>& inner);

inline constexpr const char* kFusedName = "Fused";

/// Elements of a thread of a dense kernel.
constexpr uint32_t fused_length(size_t item) {
  return uint32_t(item >= 16 ? 1 : item >= 2 ? 16 / item : 8);
}

/// Statements for one element, of which macros HOTARU_READ(k, T) and
/// HOTARU_WRITE(k, T, x) know where it lies.
class ElementWriter final : public FusedWriter {
 public:
  using FusedWriter::FusedWriter;
  const std::string& body() const { return body_; }
  /// The name of an element that a call has computed, or that is read.
  std::string value(const Tensor& t) { return input(t, t.dtype()); }

 protected:
  std::string read(size_t operand) override;
  std::string define(const Tensor& result,
                     const std::string& expression) override;
  void write(size_t operand, const std::string& name) override;

 private:
  std::string body_;
};

/// Vectors v0, v1, ... of operands, from and to element i, by fetch() and
/// put().
struct VectorText {
  std::string loads, stores;
};
VectorText vector_text(const FusedValues& values);

}  // namespace hotaru::cuda::fused
