// Writes the declarations and definitions of every operator's C++ function and
// method from the registry:
//
//   generate_operators FOLDER PARTS DECLARED...
//
// leaves in FOLDER ATen/Functions.inc, ATen/core/TensorMethods.inc,
// torch/{fft,linalg,special}.inc, operators_0.cpp ... operators_<PARTS -
// 1>.cpp, and declared.cpp with the functions that the registry has none of,
// which the files DECLARED list; files that would not change keep their time.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "generate/cpp_signature.h"
#include "generate/declared.h"
#include "hotaru/ops/registry.h"

namespace {

using hotaru::Operator;
using hotaru::Schema;
using hotaru::libtorch::CppArgument;
using hotaru::libtorch::CppSignature;
using hotaru::libtorch::Declared;

/// Methods that ATen/core/Tensor.h has itself.
const std::set<std::string>& written_by_hand() {
  static const std::set<std::string> names{"backward",
                                           "contiguous",
                                           "cpu",
                                           "cuda",
                                           "data",
                                           "dim",
                                           "element_size",
                                           "get_device",
                                           "grad",
                                           "is_complex",
                                           "is_contiguous",
                                           "is_conj",
                                           "is_cuda",
                                           "is_floating_point",
                                           "is_inference",
                                           "is_leaf",
                                           "is_neg",
                                           "is_signed",
                                           "is_sparse",
                                           "item",
                                           "layout",
                                           "ndimension",
                                           "numel",
                                           "output_nr",
                                           "requires_grad",
                                           "requires_grad_",
                                           "retain_grad",
                                           "retains_grad",
                                           "set_data",
                                           "size",
                                           "sizes",
                                           "storage_offset",
                                           "stride",
                                           "strides",
                                           "sym_numel",
                                           "sym_size",
                                           "to",
                                           "device",
                                           "dtype",
                                           "_version",
                                           "is_quantized",
                                           "is_same",
                                           "is_mkldnn",
                                           "is_xpu",
                                           "is_mps",
                                           "is_meta",
                                           "is_cpu",
                                           "is_view",
                                           "nbytes",
                                           "itemsize",
                                           "storage",
                                           "print",
                                           "reset",
                                           "defined",
                                           "name",
                                           "toString",
                                           "is_nested"};
  return names;
}

/// Operators of the language TorchScript, and functions whose C++ form is
/// written by hand.
bool is_left_out(const Schema& schema) {
  static const std::set<std::string> names{"tensor", "from_blob", "device",
                                           "dtype",  "layout",    "size"};
  const std::string& name = schema.name;
  return schema.overload.find("hacked_twin") != std::string::npos ||
         name.starts_with("prim") || names.count(name) ||
         name.starts_with("__");
}

std::string arguments_text(const CppSignature& s, bool defaults, bool method) {
  std::string out;
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    const CppArgument& argument = s.arguments[i];
    if ((method && int(i) == s.self) || argument.type.empty()) continue;
    if (!out.empty()) out += ", ";
    out += argument.type;
    if (out.back() != '&') out += ' ';
    out += argument.name;
    if (defaults && !argument.value.empty()) out += "=" + argument.value;
  }
  return out;
}

std::string spaced(const std::string& type) {
  return type.back() == '&' ? type : type + " ";
}

std::string call_text(const CppSignature& s, const std::string& op,
                      bool method) {
  std::string passed;
  for (size_t i = 0; i < s.arguments.size(); ++i) {
    const CppArgument& argument = s.arguments[i];
    if (argument.passed.empty()) continue;
    if (!passed.empty()) passed += ", ";
    passed += method && int(i) == s.self ? "*this" : argument.passed;
  }
  if (s.out) {
    std::string out;
    for (const CppArgument& argument : s.arguments)
      if (argument.passed.empty() && !argument.type.empty())
        out += (out.empty() ? "" : ", ") + argument.name;
    if (s.result == "void")  // a list
      return "give(" + op + ".call<::std::vector<at::Tensor>>(" + passed +
             "), " + out + ");";
    const std::string back =
        s.out == 1 ? "return " + out + ";" : "return {" + out + "};";
    return op + ".write({" + out + "}" + (passed.empty() ? "" : ", ") + passed +
           "); " + back;
  }
  if (s.in_place)
    return op + ".call<void>(" + passed + "); return " +
           (method ? "const_cast<at::Tensor&>(*this);"
                   : s.arguments[size_t(s.self)].name + ";");
  const std::string call = op + ".call<" + s.result + ">(" + passed + ")";
  if (s.options >= 0) return "return with_grad(" + call + ", options);";
  return "return " + call + ";";
}

/// Namespaces of torch whose functions are at's with a prefix: torch::fft::ifft
/// is at::fft_ifft.
constexpr const char* kNamespaces[] = {"fft", "linalg", "special"};

/// Texts that are written, part by part.
struct Output {
  std::ostringstream functions, methods;
  std::map<std::string, std::ostringstream> namespaces;
  std::vector<std::ostringstream> sources;
  std::ostringstream declared;
  int operators = 0, left_out = 0;
};

/// An operator's signatures; those of methods apart, as defaults may differ.
struct Entry {
  const Schema* schema;
  const Declared* declared;  // or null, of the registry's
  std::vector<CppSignature> functions, methods;
};

/// Arguments that a call has to give.
size_t least_arguments(const CppSignature& s) {
  size_t n = s.arguments.size();
  while (n > 0 && !s.arguments[n - 1].value.empty()) --n;
  return n;
}

/// Takes defaults from the longer of two functions of one name (of the earlier
/// one, if they are as long) as far as calls could mean either.
void part(CppSignature& a, CppSignature& b) {
  CppSignature& longer = b.arguments.size() > a.arguments.size() ? b : a;
  CppSignature& other = &longer == &a ? b : a;
  const size_t most = other.arguments.size();
  size_t same = 0;
  while (same < most &&
         longer.arguments[same].type == other.arguments[same].type)
    ++same;
  for (size_t n = std::max(least_arguments(longer), least_arguments(other));
       n <= same && n < longer.arguments.size(); ++n)
    longer.arguments[n].value.clear();
  // Defaults stand only at the end.
  for (size_t n = least_arguments(longer); n-- > 0;)
    longer.arguments[n].value.clear();
}

/// Signatures of one name that differ, with defaults that keep them apart.
void part_all(std::vector<Entry>& entries,
              std::vector<CppSignature> Entry::*which, bool method) {
  std::map<std::string, std::vector<CppSignature*>> by_name;
  std::set<std::string> keys;
  for (Entry& entry : entries) {
    auto& list = entry.*which;
    std::erase_if(list, [&](const CppSignature& s) {
      return !keys.insert(s.key(method)).second;
    });
    for (CppSignature& s : list) by_name[s.name].push_back(&s);
  }
  for (auto& [name, list] : by_name)
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t k = i + 1; k < list.size(); ++k) part(*list[i], *list[k]);
}

/// Entries of operators that the registry lacks, behind its own, which win.
void add_declared(const std::vector<Declared>& list,
                  std::vector<Entry>& entries, Output& out) {
  for (const Declared& one : list) {
    std::string why;
    auto signatures = hotaru::libtorch::cpp_signatures(one.schema, &why, true);
    if (signatures.empty()) {
      std::cerr << one.schema.str() << ": " << why << '\n';
      ++out.left_out;
      continue;
    }
    Entry entry{&one.schema, &one, {}, {}};
    for (const CppSignature& s : signatures) {
      if (one.method && s.self >= 0 && !written_by_hand().count(s.name))
        entry.methods.push_back(s);
      if (one.function || (s.out && one.formula.empty()))
        entry.functions.push_back(s);
    }
    entries.push_back(std::move(entry));
  }
}

std::vector<Entry> all_entries(const std::vector<Declared>& declared,
                               Output& out) {
  std::vector<Entry> entries;
  for (const std::string_view name : hotaru::Registry::instance().names()) {
    for (const Operator* op : hotaru::Registry::instance().find(name)) {
      std::string why;
      Entry entry{&op->schema(),
                  nullptr,
                  hotaru::libtorch::cpp_signatures(op->schema(), &why, true),
                  {}};
      if (entry.functions.empty() || is_left_out(op->schema())) {
        ++out.left_out;
        continue;
      }
      for (const CppSignature& s : entry.functions)
        if (s.self >= 0 && !written_by_hand().count(s.name))
          entry.methods.push_back(s);
      entries.push_back(std::move(entry));
    }
  }
  add_declared(declared, entries, out);
  part_all(entries, &Entry::functions, false);
  part_all(entries, &Entry::methods, true);
  return entries;
}

/// The function under its name in a namespace of torch, if it has one.
void write_in_namespace(const CppSignature& s, Output& out) {
  for (const std::string name : kNamespaces) {
    if (!s.name.starts_with(name + "_")) continue;
    std::string passed;
    for (const CppArgument& argument : s.arguments)
      if (!argument.type.empty())
        passed += (passed.empty() ? "" : ", ") + argument.name;
    out.namespaces[name] << "inline " << spaced(s.result)
                         << s.name.substr(name.size() + 1) << "("
                         << arguments_text(s, true, false)
                         << ") { return at::" << s.name << "(" << passed
                         << "); }\n";
  }
}

void write_operator(const Entry& entry, Output& out) {
  const Declared* declared = entry.declared;
  auto& source = declared
                     ? out.declared
                     : out.sources[size_t(out.operators) % out.sources.size()];
  const std::string op = "op" + std::to_string(out.operators++);
  if (!declared)
    source << "static constinit Op " << op << "(\"" << entry.schema->name
           << "\", \"" << entry.schema->overload << "\");\n";
  const auto body = [&](const CppSignature& s, bool method) {
    return declared ? definition(*declared, s, method)
                    : call_text(s, op, method);
  };
  for (const CppSignature& s : entry.functions) {
    out.functions << spaced(s.result) << s.name << "("
                  << arguments_text(s, true, false) << ");\n";
    write_in_namespace(s, out);
    source << spaced(s.result) << s.name << "("
           << arguments_text(s, false, false) << ") { " << body(s, false)
           << " }\n";
  }
  for (const CppSignature& s : entry.methods) {
    out.methods << spaced(s.result) << s.name << "("
                << arguments_text(s, true, true) << ") const;\n";
    source << spaced(s.result) << "Tensor::" << s.name << "("
           << arguments_text(s, false, true) << ") const { " << body(s, true)
           << " }\n";
  }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ifstream in(path);
  const std::string before{std::istreambuf_iterator<char>(in), {}};
  if (in && before == text) return;
  std::ofstream(path) << text;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::cerr << "usage: generate_operators FOLDER PARTS DECLARED...\n";
    return 2;
  }
  const std::filesystem::path folder = words[1];
  Output out;
  out.sources.resize(size_t(std::stoi(words[2])));
  std::vector<Declared> declared;
  for (int i = 3; i < count; ++i)
    for (Declared& one : hotaru::libtorch::read_declared(words[i]))
      declared.push_back(std::move(one));
  for (const Entry& entry : all_entries(declared, out))
    write_operator(entry, out);
  const std::string mark = "// Written by generate_operators.\n";
  write_file(folder / "ATen/Functions.inc", mark + out.functions.str());
  write_file(folder / "ATen/core/TensorMethods.inc", mark + out.methods.str());
  for (const auto& [name, text] : out.namespaces)
    write_file(folder / "torch" / (name + ".inc"), mark + text.str());
  for (size_t i = 0; i < out.sources.size(); ++i)
    write_file(folder / ("operators_" + std::to_string(i) + ".cpp"),
               mark +
                   "#include \"ATen/Functions.h\"\n"
                   "#include \"source/call.h\"\n\nnamespace at {\n"
                   "namespace {\nusing namespace hotaru::libtorch;\n}\n" +
                   out.sources[i].str() + "}  // namespace at\n");
  write_file(folder / "declared.cpp",
             mark +
                 "#include \"source/formulas.h\"\n\nnamespace at {\n"
                 "namespace {\nusing namespace hotaru::libtorch;\n}\n" +
                 out.declared.str() + "}  // namespace at\n");
  std::cout << out.operators << " operators, " << out.left_out
            << " without a form in C++\n";
  return 0;
}
