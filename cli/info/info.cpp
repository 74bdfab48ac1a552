#include <iomanip>
#include <iostream>
#include <set>

#include "commands.h"
#include "hotaru/backend/cpu/simd/simd_target.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/load_program.h"
#include "hotaru/exchange/picture/program_picture.h"
#include "hotaru/io/mapped_file.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/platform/processors.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/threads/cpu_count.h"
#include "hotaru/runtime/threads/parallel.h"
#include "info/torch_file.h"
#include "info/ways.h"
#include "json.h"
#include "program.h"
#include "python.h"
#include "text.h"
#include "weights.h"

namespace hotaru::cli {
namespace {

/// Features of the processor that matter to kernels.
std::vector<std::string> cpu_features() {
  const std::set<std::string> present = platform::processor_features();
  std::vector<std::string> found;
  for (const char* wanted :
       {"sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_vnni",
        "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile"})
    if (present.count(wanted)) found.push_back(wanted);
  return found;
}

/// CUDA devices by name; those of software say so.
std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (int i = 0; i < device_count(DeviceType::kCUDA); ++i)
    names.push_back(accelerator().properties(i).name +
                    (accelerator().in_software() ? " (soft)" : ""));
  return names;
}

/// NVIDIA's libraries that kernels may use; none without a GPU.
Json gpu_libraries() {
  Json out = Json::object();
  if (device_count(DeviceType::kCUDA) == 0) return out;
  for (const DeviceLibrary& l : accelerator().libraries({}))
    out[l.name] = {
        {"version", l.version}, {"path", l.path}, {"why_not", l.why_not}};
  return out;
}

/// Which kernels there are on which device; names of those that one lacks.
void kernels(bool as_json) {
  DeviceTable& table = DeviceTable::instance();
  const bool cuda = table.load_kernels(DeviceType::kCUDA);
  Json rows = Json::object();
  size_t both = 0, cpu = 0, other = 0;
  for (const Kernel* kernel : table.kernels()) {
    const bool here = kernel->has(DeviceType::kCPU);
    const bool there = kernel->has(DeviceType::kCUDA);
    if (!here && !there) continue;  // named by an operator for other devices
    rows[kernel->name()] = {{"cpu", here}, {"cuda", there}};
    both += here && there;
    cpu += here;
    other += there;
  }
  if (as_json) {
    std::cout << rows.dump(1) << '\n';
    return;
  }
  for (const auto& [name, row] : rows.items())
    std::cout << std::left << std::setw(36) << name
              << (row["cpu"] ? "cpu  " : "-    ")
              << (row["cuda"] ? "cuda" : "-") << '\n';
  std::cout << rows.size() << " kernels: " << cpu << " on the CPU, " << other
            << " on CUDA, " << both << " on both"
            << (cuda ? "" : " (CUDA was left out of this build)") << '\n';
}

void info(bool as_json) {
  Json report;
  report["version"] = HOTARU_VERSION;
  report["processor"] = platform::processor_name();
  report["features"] = cpu_features();
  report["simd"] = simd_target_name();
  report["simd_built_alone"] = simd_is_built_alone();
  report["cores"] = usable_physical_cores();
  report["threads"] = get_num_threads();
  report["cuda"] = gpu_names();
  report["cuda_libraries"] = gpu_libraries();
  report["parallel_info"] = parallel_info();
  if (as_json) {
    std::cout << report.dump(1) << '\n';
    return;
  }
  std::string gpus;
  for (const std::string& name : gpu_names())
    gpus += (gpus.empty() ? "" : ", ") + name;
  if (gpus.empty()) gpus = "none";
  std::string features;
  for (const std::string& feature : cpu_features()) features += ' ' + feature;
  std::cout << "hotaru " << HOTARU_VERSION << "\nprocessor  "
            << report["processor"].get<std::string>() << "\nfeatures  "
            << features << "\nsimd       " << simd_target_name()
            << (simd_is_built_alone() ? ", built for it alone" : "")
            << "\nthreads    " << get_num_threads() << " of "
            << usable_physical_cores() << " usable cores\ngpu        " << gpus
            << '\n';
  for (const auto& [name, l] : report["cuda_libraries"].items()) {
    const auto text = [&](const char* key) {
      return l[key].get<std::string>();
    };
    std::cout << std::left << std::setw(11) << name
              << (text("why_not").empty()
                      ? text("version") + "  " + text("path")
                      : "own kernels: " + text("why_not"))
              << '\n';
  }
  std::cout << '\n' << parallel_info();
}

/// A file is what its bytes say.
void show_file(const std::string& path, bool as_json,
               const std::string& picture, const std::string& command) {
  if (!picture.empty()) write_file(picture, exchange::program_picture(path));
  using exchange::Format;
  const Ref<io::MappedFile> file = io::MappedFile::open(path);
  if (io::is_old_torch_file(*file)) {
    begin_again_with_new_file(command, "info", path,
                              as_json ? std::vector<std::string>{"--json"}
                                      : std::vector<std::string>{});
  }
  switch (exchange::format_of(file)) {
    case Format::kTorchScript:
    case Format::kExported:
    case Format::kOnnx:
      return show_program(path, as_json);
    case Format::kTorchFile:
      return show_torch_file(path, as_json);
    default:
      return show_weights(path, as_json);
  }
}

}  // namespace

void add_info(Program& program, const std::string& command) {
  const Verb verb = program.verb(
      "info", "Version, processor, threads and devices; or what a file holds");
  auto file = std::make_shared<std::string>();
  verb.option("file", *file,
              "Describe this file instead: a program (TorchScript "
              "archive, .pt2, ONNX), weights (safetensors, its index, "
              "GGUF) or a file of torch.save");
  auto as_json = std::make_shared<bool>(false);
  verb.flag("--json", *as_json, "Print JSON");
  auto of_kernels = std::make_shared<bool>(false);
  verb.flag("--kernels", *of_kernels, "List kernels by device instead");
  auto picture = std::make_shared<std::string>();
  verb.option("--picture", *picture,
              "Draw the file's program: modules, operators, shapes, "
              "control flow; repetitions once")
      .type_name("FILE.svg");
  auto ways = std::make_shared<WaysOptions>();
  verb.option("--ways", ways->words,
              "Say which algorithms a call takes, and why not the earlier "
              "ones: an operator, shapes (1,64,56,56 or 8,512:bfloat16) and "
              "other arguments (stride=2)")
      .type_name("OPERATOR SHAPE ...");
  verb.flag("--graph", ways->graphed,
            "Of --ways: as a graph's passes leave it");
  verb.action([file, as_json, of_kernels, picture, ways, command] {
    HOTARU_CHECK_AS(ValueError, picture->empty() || !file->empty(),
                    "--picture draws a program: name its file");
    if (!ways->words.empty()) return show_ways(*ways, *as_json);
    if (!file->empty()) return show_file(*file, *as_json, *picture, command);
    *of_kernels ? kernels(*as_json) : info(*as_json);
  });
}

}  // namespace hotaru::cli
