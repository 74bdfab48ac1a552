// ONNX models compiled by ONNX Runtime.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hotaru/provider/executable.h"

namespace hotaru::provider {

struct OnnxOptions {
  using Settings = std::map<std::string, std::string>;

  /// In order of preference, by ONNX Runtime's names, each with its options;
  /// what none of them takes runs on the CPU.
  std::vector<std::pair<std::string, Settings>> providers;
  /// Threads of the process's one pool for ONNX Runtime, the caller included.
  /// 0: what the pool has, which is 1 if this is its first use.
  int intra_op_num_threads = 0;
  /// Allows more of them than get_num_threads().
  bool oversubscribe = false;
  /// 0, 1, 2, 3 or 99: none to all.
  int graph_optimization_level = 99;
  /// Takes intermediate values from an arena, which keeps what it once needed.
  bool enable_cpu_mem_arena = true;
  /// Plans memory by the inputs' shapes.
  bool enable_mem_pattern = true;
  /// Messages that ONNX Runtime prints to stderr: 0 (all) to 4 (nothing).
  int log_severity_level = 4;
  /// Entries of the session's configuration ("session.…").
  Settings config;
};

/// Compiles an ONNX model. Throws Error that says what to install where ONNX
/// Runtime is not there, ValueError for options that make no sense, and Error
/// with ONNX Runtime's words for what it refuses. Thread-safe.
Ref<Executable> compile_onnx(const std::string& path,
                             const OnnxOptions& options = {});
/// The same from bytes, which may go afterwards; `name` stands in errors.
Ref<Executable> compile_onnx(const std::vector<std::byte>& bytes,
                             const std::string& name,
                             const OnnxOptions& options = {});

/// Identity of the library; the same errors.
struct OnnxRuntime {
  std::string version, path;
  std::vector<std::string> providers;
};
OnnxRuntime onnx_runtime();
/// Where the library may be, see HOTARU_ONNXRUNTIME in docs/engines.md. Before
/// the first use; for who knows an installed package.
void set_onnx_runtime_path(std::string path);

}  // namespace hotaru::provider
