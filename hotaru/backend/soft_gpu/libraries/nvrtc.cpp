// A stand-in for NVRTC: source text is compiled by this machine's C++ compiler
// (`c++`, or what CXX names) into a shared object that the GPU in software
// loads. It knows CUDA's language as far as device.h and intrinsics.h do.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "hotaru/backend/cuda/libraries/nvrtc_entries.h"
#include "hotaru/backend/soft_gpu/libraries/module_texts.h"
#include "hotaru/backend/soft_gpu/modules.h"

#define HOTARU_DECLARE(name, symbol, params) \
  __attribute__((visibility("default"))) int symbol params;
extern "C" {
HOTARU_NVRTC_ENTRIES(HOTARU_DECLARE)
}
#undef HOTARU_DECLARE

extern char** environ;

namespace hotaru::cuda::nvrtc {

struct ProgramState {
  std::string text, file, log, image;
  std::vector<std::string> names, lowered;
  std::vector<std::pair<std::string, std::string>> headers;
  bool compiled = false;
};

}  // namespace hotaru::cuda::nvrtc

using namespace hotaru::cuda::nvrtc;
using namespace hotaru::soft_gpu;

namespace {

namespace fs = std::filesystem;

constexpr int kArchitectures[] = {75, 80, 86, 89, 90};

/// A folder for the time of a scope.
struct Folder {
  fs::path path;

  Folder() {
    std::string name = fs::temp_directory_path() / "hotaru-nvrtc-XXXXXX";
    if (mkdtemp(name.data())) path = name;
  }
  ~Folder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
};

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program; its exit status, or -1 if it cannot be run. What it says
/// goes to a file.
int run_program(const std::vector<std::string>& words, const fs::path& says) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, says.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &files, nullptr,
                                  arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Shared memory of a launch's size is declared as CUDA wants it, and named
/// as device.h has it.
std::string with_dynamic_shared(const std::string& text) {
  static const std::regex declaration(
      R"(extern\s+__shared__\s+((?:__align__|alignas)\s*\([^)]*\)\s*)?)"
      R"(([\w:<>, ]*\w)\s+(\w+)\s*\[\s*\]\s*;)");
  return std::regex_replace(
      text, declaration,
      "$2* const $3 = ::hotaru::soft_gpu::dynamic_shared<$2>();");
}

bool synchronises(std::string_view text) {
  return text.find("sync") != std::string_view::npos;
}

std::string source_of(const ProgramState& program) {
  std::string out =
      "#include \"hotaru/backend/soft_gpu/module_body.h\"\n#line 1 \"" +
      program.file + "\"\n" + with_dynamic_shared(program.text) +
      "\n#line 1 \"names of kernels\"\n";
  std::string table;
  for (const std::string& name : program.names) {
    const std::string plain = name.substr(name.find_first_not_of("& "));
    table += "::hotaru::soft_gpu::Kernel<&" + plain + ">::entry(R\"(" + name +
             ")\", " + (synchronises(program.text) ? "true" : "false") + "),\n";
  }
  // Names that no kernel has, as those of kernels are looked up beside them.
  return out +
         "static const ::hotaru::soft_gpu::ModuleKernel "
         "hotaru_soft_kernels[] = {\n" +
         table +
         "};\n"
         "extern \"C\" const ::hotaru::soft_gpu::ModuleKernel* "
         "hotaru_soft_module(const ::hotaru::soft_gpu::ModuleHost* its_host, "
         "size_t* its_count) {\n"
         "::hotaru::soft_gpu::host = its_host;\n*its_count = " +
         std::to_string(program.names.size()) +
         ";\nreturn hotaru_soft_kernels;\n}\n";
}

/// False for what the real one would refuse, too.
bool read_option(std::string_view option, std::vector<std::string>& words) {
  constexpr std::string_view kArchitecture = "--gpu-architecture=";
  if (option.starts_with(kArchitecture)) {
    option.remove_prefix(kArchitecture.size());
    for (const char* kind : {"sm_", "compute_"})
      for (const int known : kArchitectures)
        if (option == kind + std::to_string(known)) return true;
    return false;
  }
  if (option.starts_with("-I") || option.starts_with("-D")) {
    words.emplace_back(option);
    return true;
  }
  return option.starts_with("-") && option != "--no-such-option";
}

const std::string& compiler() {
  static const std::string name = [] {
    const char* chosen = std::getenv("CXX");
    return std::string(chosen && *chosen ? chosen : "c++");
  }();
  return name;
}

/// Options that GCC has and others may not: variables in templates are a
/// module's own, not the process's.
const std::vector<std::string>& extra_options(const fs::path& scratch) {
  static const std::vector<std::string> known = [&] {
    write_file(scratch / "empty.cpp", "");
    std::vector<std::string> tried{"-fno-gnu-unique"};
    return run_program({compiler(), tried[0], "-fsyntax-only",
                        (scratch / "empty.cpp").string()},
                       scratch / "says") == 0
               ? tried
               : std::vector<std::string>();
  }();
  return known;
}

}  // namespace

int nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return kInvalidInput;
  *major = 13, *minor = 0;
  return kSuccess;
}

int nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return kInvalidInput;
  *count = int(std::size(kArchitectures));
  return kSuccess;
}

int nvrtcGetSupportedArchs(int* all) {
  if (!all) return kInvalidInput;
  std::copy(std::begin(kArchitectures), std::end(kArchitectures), all);
  return kSuccess;
}

int nvrtcCreateProgram(Program* program, const char* text, const char* file,
                       int headers, const char* const* header_texts,
                       const char* const* header_names) {
  if (!program || !text || (headers && (!header_texts || !header_names)))
    return kInvalidInput;
  *program = new ProgramState;
  // The machine's compiler has the standard ones itself.
  for (int i = 0; i < headers; ++i)
    if (std::strchr(header_names[i], '/'))
      (*program)->headers.emplace_back(header_names[i], header_texts[i]);
  (*program)->text = text;
  (*program)->file = file ? file : "default_program";
  return kSuccess;
}

int nvrtcDestroyProgram(Program* program) {
  if (!program || !*program) return kInvalidProgram;
  delete *program;
  *program = nullptr;
  return kSuccess;
}

int nvrtcAddNameExpression(Program program, const char* name) {
  if (!program) return kInvalidProgram;
  if (!name || !*name) return kInvalidInput;
  program->names.emplace_back(name);
  return kSuccess;
}

int nvrtcCompileProgram(Program program, int count,
                        const char* const* options) {
  if (!program) return kInvalidProgram;
  const Folder folder;
  if (folder.path.empty()) return kBuiltinFailure;
  for (const auto& [name, text] : program->headers)
    write_file(folder.path / name, text);
  for (const ModuleText& text : module_texts())
    write_file(folder.path / text.path, text.text);
  const fs::path source = folder.path / "kernels.cpp",
                 object = folder.path / "kernels.so", log = folder.path / "log";
  std::vector<std::string> words{compiler(),
                                 "-shared",
                                 "-fPIC",
                                 "-std=c++20",
                                 "-O1",
                                 "-ffp-contract=off",
                                 "-w",
                                 "-fno-strict-aliasing",
                                 "-Wl,-Bsymbolic",
                                 "-fno-diagnostics-color",
                                 "-I" + folder.path.string()};
  for (int i = 0; i < count; ++i)
    if (!read_option(options[i], words)) {
      program->log = "nvrtc: error: invalid value for option (" +
                     std::string(options[i]) + ")\n";
      return kInvalidOption;
    }
  for (const std::string& extra : extra_options(folder.path))
    words.push_back(extra);
  words.insert(words.end(), {"-o", object.string(), "-xc++", source.string()});
  write_file(source, source_of(*program));
  const int status = run_program(words, log);
  program->log = read_file(log);
  if (status < 0) {
    program->log += "no C++ compiler: " + compiler() + "\n";
    return kBuiltinFailure;
  }
  if (status != 0) return kCompilation;
  program->image = image_of_object(read_file(object));
  const std::unique_ptr<const Module> module(
      load_module(program->image.data()));
  if (!module) return kBuiltinFailure;
  program->lowered = module->names;
  program->compiled = true;
  return kSuccess;
}

int nvrtcGetProgramLogSize(Program program, size_t* bytes) {
  if (!program) return kInvalidProgram;
  *bytes = program->log.size() + 1;
  return kSuccess;
}

int nvrtcGetProgramLog(Program program, char* log) {
  if (!program) return kInvalidProgram;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return kSuccess;
}

int nvrtcGetLoweredName(Program program, const char* name,
                        const char** lowered) {
  if (!program) return kInvalidProgram;
  if (!program->compiled) return kNotBeforeCompilation;
  for (size_t i = 0; i < program->names.size(); ++i)
    if (program->names[i] == name) {
      *lowered = program->lowered[i].c_str();
      return kSuccess;
    }
  return kInvalidName;
}

int nvrtcGetCUBINSize(Program program, size_t* bytes) {
  if (!program || !program->compiled) return kInvalidProgram;
  *bytes = program->image.size();
  return kSuccess;
}

int nvrtcGetCUBIN(Program program, char* code) {
  if (!program || !program->compiled) return kInvalidProgram;
  std::memcpy(code, program->image.data(), program->image.size());
  return kSuccess;
}

int nvrtcGetPTXSize(Program program, size_t* bytes) {
  return nvrtcGetCUBINSize(program, bytes);
}

int nvrtcGetPTX(Program program, char* code) {
  return nvrtcGetCUBIN(program, code);
}
