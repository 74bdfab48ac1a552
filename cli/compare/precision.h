// Precisions below float32, as commands name them.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/script/passes/quantize_linear.h"
#include "hotaru/script/program/module.h"

namespace hotaru::cli {

enum class Precision {
  kFloat32,
  /// Products of float32 may round their factors (library_settings.h).
  kBFloat16,
  /// Linear maps by constant weights compute in integers (quantize_linear.h).
  kInt8,
  /// Their weights alone are integers, of 4 bits in groups.
  kInt4,
};

const char* precision_name(Precision precision);
/// Form that weights are rewritten to; nullopt for precisions that rewrite
/// none. `group`: the columns that share a scale, of int4.
std::optional<script::IntegerWeights> integer_weights(Precision precision,
                                                      int64_t group);
/// "bfloat16,int8": each once, in that order. Throws ValueError for others.
std::vector<Precision> parse_precisions(const std::string& words);

/// Within its scope products may round their factors to bfloat16, or may not;
/// it is the process's.
class PrecisionScope {
 public:
  explicit PrecisionScope(Precision precision);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  std::array<bool, 3> before_{};
};

/// The methods that freeze() is to keep so that `method` is there: none for
/// forward.
std::vector<std::string> preserved(const std::string& method);
/// All methods of the module itself, for freeze() to keep, but forward, which
/// it keeps anyway.
std::vector<std::string> methods_of(const script::Module& module);

/// "73 linear maps and 3 embeddings in int8; in float32: lstm, matmul 12".
std::string count_text(const script::ProductCounts& counts,
                       Precision precision);

}  // namespace hotaru::cli
