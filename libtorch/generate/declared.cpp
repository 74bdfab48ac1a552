#include "generate/declared.h"

#include <fstream>
#include <stdexcept>

namespace hotaru::libtorch {
namespace {

constexpr const char* kSign = " := ";

/// Arguments as a method hands them on: "*this, dim".
std::string handed_on(const CppSignature& s) {
  std::string out;
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    if (!out.empty()) out += ", ";
    out += int(i) == s.self ? "const_cast<at::Tensor&>(*this)"
                            : s.arguments[i].name;
  }
  return out;
}

/// The dtype, layout, device and pin_memory of a signature as options.
std::string gathered(const CppSignature& s) {
  std::string out;
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    if (!out.empty()) out += ", ";
    if (s.arguments[i].name != "dtype") {
      out += s.arguments[i].name;
      continue;
    }
    out += "options_of(dtype, layout, device, pin_memory)";
    i += 3;
  }
  return out;
}

std::string plain_name(const CppSignature& s) {
  return s.name.substr(0, s.name.rfind("_out"));
}

/// Results go where the caller says: of X_out, in front, or of X_outf.
std::string into_results(const CppSignature& s) {
  const bool in_front = s.name.ends_with("_out");
  const size_t n = s.arguments.size(), results = size_t(s.out);
  const std::string& first = s.arguments[in_front ? 0 : n - results].name;
  std::string out, passed;
  for (size_t i = 0; i < n; ++i) {
    const CppArgument& argument = s.arguments[i];
    const bool is_result = in_front ? i < results : i >= n - results;
    std::string& text = is_result ? out : passed;
    text += text.empty() ? "" : ", ";
    // Options are those of the first result.
    text += argument.type.empty() ? "like(" + first + ")" : argument.name;
  }
  return "return give(at::" + plain_name(s) + "(" + passed + "), " + out + ");";
}

}  // namespace

std::vector<Declared> read_declared(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + " can't be read");
  std::vector<Declared> out;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const size_t blank = line.find(' ');
    const std::string kind = line.substr(0, blank);
    const size_t sign = line.find(kSign);
    const std::string text = line.substr(
        blank + 1, sign == std::string::npos ? sign : sign - blank - 1);
    if (kind != "f" && kind != "m" && kind != "fm")
      throw std::runtime_error(path + ":" + std::to_string(number) +
                               ": neither f, m nor fm");
    Declared one;
    try {
      one.schema = Schema::parse(text);
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " +
                               error.what());
    }
    one.function = kind[0] == 'f';
    one.method = kind.back() == 'm';
    if (sign != std::string::npos)
      one.formula = line.substr(sign + std::string(kSign).size());
    out.push_back(std::move(one));
  }
  return out;
}

std::string definition(const Declared& declared, const CppSignature& s,
                       bool method) {
  const Schema& schema = declared.schema;
  if (s.out && !declared.formula.empty()) return into_results(s);
  if (declared.formula.empty())
    return "absent(\"aten::" + schema.name +
           (schema.overload.empty() ? "" : "." + schema.overload) + "\");";
  // A method that is a function, too, is that one.
  if (method && declared.function)
    return "return at::" + s.name + "(" + handed_on(s) + ");";
  std::string out;
  if (method) out = "const at::Tensor& self = *this; ";
  if (s.in_place)
    return out + declared.formula + "; return " +
           (method ? "const_cast<at::Tensor&>(self);" : "self;");
  for (const CppArgument& argument : s.arguments)
    if (argument.name == "pin_memory")
      return "return at::" + s.name + "(" + gathered(s) + ");";
  if (s.options >= 0)
    return out + "return with_grad(" + declared.formula + ", options);";
  return out + "return " + declared.formula + ";";
}

}  // namespace hotaru::libtorch
