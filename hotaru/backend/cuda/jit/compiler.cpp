#include "hotaru/backend/cuda/jit/compiler.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "hotaru/backend/cuda/jit/headers.h"
#include "hotaru/backend/cuda/libraries/nvrtc.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::cuda::jit {
namespace {

void check_nvrtc(int status, const char* call) {
  check_library(Nvrtc::kName, status, call);
}

/// A program of NVRTC's for the time of a scope.
class Program {
 public:
  Program(const Nvrtc& nvrtc, const CompilerInput& input) : nvrtc_(nvrtc) {
    std::vector<const char*> texts, names;
    if (input.uses_headers)
      for (const HeaderText& header : header_texts()) {
        texts.push_back(header.text);
        names.push_back(header.name);
      }
    check_nvrtc(nvrtc.create(&program_, input.text.c_str(),
                             (input.name + ".cu").c_str(), int(texts.size()),
                             texts.data(), names.data()),
                "nvrtcCreateProgram");
  }
  ~Program() { nvrtc_.destroy(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtc::Program get() const { return program_; }
  std::string log() const {
    return bytes(nvrtc_.log_size, nvrtc_.log, "nvrtcGetProgramLog");
  }
  /// Bytes that a pair of functions gives, less the zero at its end if it is
  /// text.
  std::string bytes(int (*size)(nvrtc::Program, size_t*),
                    int (*get)(nvrtc::Program, char*), const char* call,
                    bool text = true) const {
    size_t count = 0;
    check_nvrtc(size(program_, &count), call);
    std::string out(count, '\0');
    if (count != 0) check_nvrtc(get(program_, out.data()), call);
    if (text && !out.empty()) out.pop_back();
    return out;
  }

 private:
  const Nvrtc& nvrtc_;
  nvrtc::Program program_ = nullptr;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// The function that an expression such as "&space::f<float>" names.
std::string_view function_of(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const size_t end = name.find_last_not_of(' ');
  if (end == std::string_view::npos) return {};
  size_t begin = end + 1;
  while (begin > 0 && is_word(name[begin - 1])) --begin;
  return name.substr(begin, end + 1 - begin);
}

/// Words to add to a failure if the text lacks the function.
std::string missing_name(const CompilerInput& input) {
  const std::vector<std::string> there = global_functions(input.text);
  if (std::find(there.begin(), there.end(), function_of(input.name)) !=
      there.end())
    return "";
  std::string out = concat("\nThe kernel '", input.name,
                           "' was asked for; __global__ functions here: ");
  for (const std::string& name : there)
    out += concat(&name == there.data() ? "" : ", ", name);
  return there.empty() ? out + "none" : out;
}

[[noreturn]] void fail_compilation(const CompilerInput& input,
                                   const std::string& log) {
  fail<Error>("Kernel compilation failed:\n", log, missing_name(input));
}

/// The newest architecture that NVRTC knows and that is not newer than
/// `number`; 0 if there is none.
int newest_until(const Nvrtc& nvrtc, int number) {
  int count = 0;
  check_nvrtc(nvrtc.count_architectures(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> all(size_t(count), 0);
  check_nvrtc(nvrtc.architectures(all.data()), "nvrtcGetSupportedArchs");
  int newest = 0;
  for (const int known : all)
    if (known <= number) newest = std::max(newest, known);
  return newest;
}

}  // namespace

std::string CompilerInput::key() const {
  std::string out;
  const auto add = [&](std::string_view part) {
    out += concat(part.size(), ":");
    out += part;
  };
  add(version);
  add(name);
  for (const std::string& option : options) add(option);
  if (uses_headers) add(std::to_string(headers_version()));
  add(text);
  return out;
}

CompilerInput input_of(const KernelSource& source, std::string_view device) {
  const Nvrtc& nvrtc = needed_nvrtc();
  CompilerInput input;
  // Lines of the text are counted by the text itself.
  input.text = source.text;
  input.name = source.name;
  input.version = nvrtc.version_text();
  const std::string_view wanted =
      source.architecture.empty() ? device : source.architecture;
  int number = 0;
  const auto [end, error] =
      std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  HOTARU_CHECK_AS(ValueError, error == std::errc(),
                  "compute_capability must be a number like \"90\", but got \"",
                  wanted, "\"");
  const int known = newest_until(nvrtc, number);
  HOTARU_CHECK(known != 0, "NVRTC ", input.version,
               " compiles for no device as old as sm_", wanted);
  input.to_ptx = known != number;
  input.options.push_back(
      concat("--gpu-architecture=",
             input.to_ptx ? concat("compute_", known) : concat("sm_", wanted)));
  for (const std::string& folder : source.include_folders)
    input.options.push_back("-I" + folder);
  for (const std::string& folder : header_folders("cuda_fp16.h"))
    input.options.push_back("-I" + folder);
  input.options.insert(input.options.end(), source.options.begin(),
                       source.options.end());
  input.uses_headers = source.uses_headers;
  if (source.uses_headers)
    input.options.insert(
        input.options.end(),
        {"--std=c++20", "-DHOTARU_DEVICE_CODE", "-DHOTARU_RUN_TIME_CODE",
         "--device-as-default-execution-space"});
  return input;
}

Image compile(const CompilerInput& input) {
  const Nvrtc& nvrtc = needed_nvrtc();
  const Program program(nvrtc, input);
  check_nvrtc(nvrtc.add_name(program.get(), input.name.c_str()),
              "nvrtcAddNameExpression");
  std::vector<const char*> options;
  for (const std::string& option : input.options)
    options.push_back(option.c_str());
  if (nvrtc.compile(program.get(), int(options.size()), options.data()) !=
      nvrtc::kSuccess)
    fail_compilation(input, program.log());
  const char* lowered = nullptr;
  if (nvrtc.lowered_name(program.get(), input.name.c_str(), &lowered) !=
      nvrtc::kSuccess)
    fail_compilation(input, program.log());
  return {input.to_ptx
              ? program.bytes(nvrtc.ptx_size, nvrtc.ptx, "nvrtcGetPTX", false)
              : program.bytes(nvrtc.cubin_size, nvrtc.cubin, "nvrtcGetCUBIN",
                              false),
          lowered};
}

std::vector<std::string> global_functions(std::string_view text) {
  constexpr std::string_view kWord = "__global__";
  std::vector<std::string> out;
  for (size_t at = text.find(kWord); at != std::string_view::npos;
       at = text.find(kWord, at + 1)) {
    // The name is the last word before a parenthesis that is no attribute's.
    size_t i = at + kWord.size();
    std::string_view word;
    while (i < text.size() && text[i] != ';' && text[i] != '{') {
      if (is_word(text[i])) {
        const size_t begin = i;
        while (i < text.size() && is_word(text[i])) ++i;
        word = text.substr(begin, i - begin);
      } else if (text[i] == '(') {
        if (!word.starts_with("__")) break;
        int depth = 0;
        do {
          depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        } while (++i < text.size() && depth > 0);
      } else {
        ++i;
      }
    }
    if (i < text.size() && text[i] == '(' && !word.empty() &&
        std::find(out.begin(), out.end(), word) == out.end())
      out.emplace_back(word);
  }
  return out;
}

}  // namespace hotaru::cuda::jit
