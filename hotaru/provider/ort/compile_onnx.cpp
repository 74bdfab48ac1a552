#include "hotaru/provider/compile_onnx.h"

#include <filesystem>

#include "hotaru/core/error.h"
#include "hotaru/provider/ort/session.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::provider {

namespace {

using ort::Api;
using ort::Library;
using ort::OrtSessionOptions;
using ort::Owned;
using ort::SessionHandle;
using Settings = OnnxOptions::Settings;

/// Settings as the API takes them.
struct Columns {
  std::vector<const char*> keys, values;
  explicit Columns(const Settings& settings) {
    for (const auto& [key, value] : settings) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
  }
};

/// The C API's name for one of GetAvailableProviders' ("OpenVINO").
std::string short_name(const std::string& name) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (name == "XnnpackExecutionProvider") return "XNNPACK";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size())
                                 : name;
}

void add_cuda(const Library& library, OrtSessionOptions* options,
              const Settings& settings, const std::string& what) {
  const Api& api = library.api;
  const Columns columns(settings);
  Owned<ort::OrtCudaOptions> cuda(api.ReleaseCUDAProviderOptions);
  library.check(api.CreateCUDAProviderOptions(cuda.out()), what);
  library.check(
      api.UpdateCUDAProviderOptions(cuda.get(), columns.keys.data(),
                                    columns.values.data(), columns.keys.size()),
      what);
  library.check(
      api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda.get()),
      what);
}

void add_tensorrt(const Library& library, OrtSessionOptions* options,
                  const Settings& settings, const std::string& what) {
  const Api& api = library.api;
  const Columns columns(settings);
  Owned<ort::OrtTensorRtOptions> rt(api.ReleaseTensorRTProviderOptions);
  library.check(api.CreateTensorRTProviderOptions(rt.out()), what);
  library.check(api.UpdateTensorRTProviderOptions(rt.get(), columns.keys.data(),
                                                  columns.values.data(),
                                                  columns.keys.size()),
                what);
  library.check(
      api.SessionOptionsAppendExecutionProvider_TensorRT_V2(options, rt.get()),
      what);
}

void add_provider(const Library& library, OrtSessionOptions* options,
                  const std::string& name, const Settings& settings) {
  const std::string what = concat("provider ", name);
  const std::string known = short_name(name);
  if (known == "CPU") {
    HOTARU_CHECK_AS(ValueError, settings.empty(), what, " has no options");
    return;  // always there, and the last
  }
  if (known == "CUDA") return add_cuda(library, options, settings, what);
  if (known == "Tensorrt" || known == "TensorRT")
    return add_tensorrt(library, options, settings, what);
  const Columns columns(settings);
  library.check(library.api.SessionOptionsAppendExecutionProvider(
                    options, known.c_str(), columns.keys.data(),
                    columns.values.data(), columns.keys.size()),
                what);
}

/// Says which providers there are when one is refused.
void add_providers(const Library& library, OrtSessionOptions* options,
                   const OnnxOptions& given) {
  for (const auto& [name, settings] : given.providers) {
    try {
      add_provider(library, options, name, settings);
    } catch (const Error& error) {
      std::string known;
      for (const std::string& other : library.providers())
        known += (known.empty() ? "" : ", ") + other;
      fail<ValueError>(error.what(), " (this library has ", known, ")");
    }
  }
}

void check_threads(const OnnxOptions& options) {
  const int threads = options.intra_op_num_threads;
  HOTARU_CHECK_AS(ValueError, threads >= 0, "intra_op_num_threads is ", threads,
                  "; expected 1 or more, or 0 for what the pool has");
  HOTARU_CHECK_AS(ValueError,
                  threads <= get_num_threads() || options.oversubscribe,
                  "intra_op_num_threads is ", threads, ", more than the ",
                  get_num_threads(),
                  " threads of this process (get_num_threads()); the option "
                  "oversubscribe allows it");
}

Owned<OrtSessionOptions> session_options(const Library& library,
                                         const OnnxOptions& given) {
  const Api& api = library.api;
  const std::string what = "the options";
  Owned<OrtSessionOptions> options(api.ReleaseSessionOptions);
  library.check(api.CreateSessionOptions(options.out()), what);
  OrtSessionOptions* to = options.get();
  library.check(api.DisablePerSessionThreads(to), what);
  library.check(api.SetSessionLogSeverityLevel(to, given.log_severity_level),
                what);
  const int level = given.graph_optimization_level;
  HOTARU_CHECK_AS(ValueError, (level >= 0 && level <= 3) || level == 99,
                  "graph_optimization_level is ", level,
                  "; there are 0, 1, 2, 3 and 99");
  library.check(api.SetSessionGraphOptimizationLevel(to, level), what);
  if (!given.enable_cpu_mem_arena)
    library.check(api.DisableCpuMemArena(to), what);
  if (!given.enable_mem_pattern) library.check(api.DisableMemPattern(to), what);
  for (const auto& [key, value] : given.config)
    library.check(api.AddSessionConfigEntry(to, key.c_str(), value.c_str()),
                  concat("option ", key));
  add_providers(library, to, given);
  return options;
}

/// `create(library, env, options, &session)`.
template <class Create>
Ref<Executable> compile(const std::string& name, const OnnxOptions& given,
                        const Create& create) {
  check_threads(given);
  auto handle = make_ref<SessionHandle>(given.intra_op_num_threads);
  const Library& library = handle->library;
  const auto options = session_options(library, given);
  library.check(create(library.api, handle->environment.get(), options.get(),
                       &handle->session),
                name);
  auto inputs = ort::input_ports(*handle, name);
  auto outputs = ort::output_ports(*handle, name);
  return make_ref<ort::Session>(std::move(handle), name, std::move(inputs),
                                std::move(outputs));
}

}  // namespace

Ref<Executable> compile_onnx(const std::string& path,
                             const OnnxOptions& options) {
  std::error_code error;
  HOTARU_CHECK(std::filesystem::is_regular_file(path, error), path,
               ": no such file");
  return compile(path, options,
                 [&](const Api& api, auto* env, auto* to, auto** out) {
                   return api.CreateSession(env, path.c_str(), to, out);
                 });
}

Ref<Executable> compile_onnx(const std::vector<std::byte>& bytes,
                             const std::string& name,
                             const OnnxOptions& options) {
  return compile(name, options,
                 [&](const Api& api, auto* env, auto* to, auto** out) {
                   return api.CreateSessionFromArray(env, bytes.data(),
                                                     bytes.size(), to, out);
                 });
}

OnnxRuntime onnx_runtime() {
  const Library& library = ort::library();
  return {library.version, library.path, library.providers()};
}

void set_onnx_runtime_path(std::string path) {
  ort::set_library_path(std::move(path));
}

}  // namespace hotaru::provider
