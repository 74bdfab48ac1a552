#include "hotaru/backend/cuda/jit/program.h"

#include <algorithm>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/graph/recorder.h"
#include "hotaru/backend/cuda/jit/cache.h"
#include "hotaru/backend/cuda/jit/compiler.h"
#include "hotaru/backend/cuda/launch.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/own/launch_function.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::cuda::jit {
namespace {

std::atomic<int64_t> count_compiled{0}, count_found{0};

/// The number of a device's architecture: "90".
std::string architecture_of(int device) {
  const DeviceProperties& p = properties(device);
  return concat(p.major, p.minor);
}

/// Options by which a text comes to include files, whose contents no key knows.
bool includes_files(const std::string& option) {
  constexpr std::string_view kThese[] = {
      "-I",    "--include-path", "-include", "--pre-include",
      "-optf", "--options-file", "@"};
  return std::any_of(
      std::begin(kThese), std::end(kThese),
      [&](std::string_view start) { return option.starts_with(start); });
}

/// Tells whether a text names files otherwise than in angle brackets, which are
/// looked for in CUDA's own folders only.
bool names_files(std::string_view text) {
  constexpr std::string_view kInclude = "include", kSpace = " \t";
  for (size_t at = text.find('#'); at != std::string_view::npos;
       at = text.find('#', at + 1)) {
    const size_t word = text.find_first_not_of(kSpace, at + 1);
    if (word == std::string_view::npos) return false;
    if (!text.substr(word).starts_with(kInclude)) continue;
    const size_t name = text.find_first_not_of(kSpace, word + kInclude.size());
    if (name == std::string_view::npos || text[name] != '<') return true;
  }
  return false;
}

bool includes_files(const KernelSource& source) {
  if (source.uses_headers) return false;
  return !source.include_folders.empty() || names_files(source.text) ||
         std::any_of(
             source.options.begin(), source.options.end(),
             [](const std::string& option) { return includes_files(option); });
}

Image image_of(const CompilerInput& input, bool on_disk) {
  const std::string key = on_disk ? input.key() : "";
  const ImageCache cache(on_disk ? cache_folder() : "");
  if (std::optional<Image> found = cache.find(key)) {
    ++count_found;
    return *std::move(found);
  }
  Image image = compile(input);
  ++count_compiled;
  cache.put(key, image);
  return image;
}

std::string text_of(const KernelSource& source) {
  CompilerInput all{source.text, source.name, source.options,
                    {},          false,       source.uses_headers};
  all.options.push_back(source.architecture);
  return all.key();
}

}  // namespace

CUkernel Program::kernel_for(const std::string& architecture) const {
  CUkernel& kernel = kernels_[architecture];
  if (kernel) return kernel;
  const CompilerInput input = input_of(source_, architecture);
  const Image image = image_of(input, on_disk());
  CUlibrary library = nullptr;
  const CUresult loaded = driver().cuLibraryLoadData(
      &library, image.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  HOTARU_CHECK(loaded != CUDA_ERROR_NO_BINARY_FOR_GPU, source_.name,
               " was compiled for compute capability ", source_.architecture,
               ", which this device (", architecture, ") does not run");
  check(loaded, source_.name.c_str());
  const CUresult found =
      driver().cuLibraryGetKernel(&kernel, library, image.symbol.c_str());
  if (found != CUDA_SUCCESS) {
    kernel = nullptr;
    driver().cuLibraryUnload(library);
    fail<Error>("'", source_.name, "' is no __global__ function");
  }
  return kernel;
}

bool Program::on_disk() const {
  return !includes_files(source_);
}

CUfunction Program::load_function(int device) const {
  const BlockingRegion region;  // compiling takes a while
  const std::lock_guard lock(mutex_);
  use(device);
  const CUkernel kernel = kernel_for(architecture_of(device));
  CUfunction function = nullptr;
  HOTARU_CUDA(cuKernelGetFunction, &function, kernel);
  functions_[size_t(device)].store(function, std::memory_order_release);
  return function;
}

void Program::allow_shared(int device, unsigned bytes) const {
  if (bytes <= kSharedUnasked) return;
  const CUfunction function = on(device);
  const auto lock = blocking_lock(mutex_);
  unsigned& allowed = shared_[size_t(device)];
  if (bytes <= allowed) return;
  cuda::allow_shared(function, bytes);
  allowed = bytes;
}

std::shared_ptr<const Program> compiled(const KernelSource& source,
                                        int device) {
  static auto* const mutex = new std::mutex;
  static auto* const all =
      new std::map<std::string, std::shared_ptr<const Program>>;
  // Programs that are not among all live as long, too: somebody may launch.
  static auto* const apart = new std::vector<std::shared_ptr<const Program>>;
  std::shared_ptr<const Program> program;
  const bool alone = includes_files(source);
  const std::string key = text_of(source);
  {
    const std::lock_guard lock(*mutex);
    if (!alone) program = (*all)[key];
    if (!program) program = std::make_shared<const Program>(source);
    if (!alone) (*all)[key] = program;
  }
  program->load(device);
  if (alone) {
    const std::lock_guard lock(*mutex);
    apart->push_back(program);
  }
  return program;
}

CompileCounts counts() {
  return {count_compiled, count_found};
}

namespace {

/// The kernel `cuda_kernel`: a launch of a program's.
void launch_own(const KernelCall& call) {
  const auto& own = call.attributes<OwnLaunch>();
  const auto& program = static_cast<const Program&>(*own.kernel);
  const int device = launching_timeline().device();
  program.allow_shared(device, own.shared_bytes);
  std::vector<void*> addresses(own.arguments.size()), parameters;
  for (size_t i = 0; i < own.arguments.size(); ++i) {
    const KernelArgument& argument = own.arguments[i];
    if (argument.operand < 0) {
      parameters.push_back(const_cast<char*>(argument.bytes.data()));
      continue;
    }
    addresses[i] = device_address(call.tensor(size_t(argument.operand)));
    parameters.push_back(&addresses[i]);
  }
  launch(program.on(device), program.name().c_str(),
         {own.grid[0], own.grid[1], own.grid[2]},
         {own.block[0], own.block[1], own.block[2]}, own.shared_bytes,
         parameters.data());
}

/// The kernel `cuda_function`: what a program launches itself.
void launch_function(const KernelCall& call) {
  const StreamTimeline& timeline = launching_timeline();
  // Effects of the function are the stream's alone to see, which captures no
  // second time.
  if (timeline.recorder() && timeline.recorder()->repeats()) throw NotTheSame();
  call.attributes<LaunchFunction>()(
      {timeline.handle(), timeline.device(), call.operands()});
}

}  // namespace

HOTARU_KERNEL(kCUDA, "cuda_kernel", launch_own);
HOTARU_KERNEL(kCUDA, "cuda_function", launch_function);

}  // namespace hotaru::cuda::jit
