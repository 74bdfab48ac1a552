#include "hotaru/exchange/onnx/operators.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hotaru/core/checks/check.h"
#include "hotaru/exchange/onnx/texts.h"

namespace hotaru::exchange::onnx {

using script::Function;
using script::Meaning;

namespace {

constexpr std::string_view kPrefix = "__torch__.onnx.";
// Name of its own of a function of known numbers.
constexpr std::string_view kKnown = "known";

/// Names of operators' functions beside those of the archives' language. Kept
/// by the unit, so the operators live as long as its functions.
class OperatorResolver : public script::ArchiveResolver {
 public:
  OperatorResolver(script::CompilationUnit& unit,
                   std::shared_ptr<Operators> operators)
      : ArchiveResolver(unit), operators_(std::move(operators)) {}

  Meaning name(std::string_view name) const override {
    if (Function* function = operators_->find_function(name))
      return {.kind = Meaning::Kind::kFunction, .function = function};
    return ArchiveResolver::name(name);
  }

 private:
  std::shared_ptr<Operators> operators_;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

}  // namespace

Operators::Operators(script::CompilationUnit& unit) : unit_(unit) {
  if (const char* folder = std::getenv("HOTARU_ONNX_TEXTS")) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".py") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) add_family(path.stem(), read_file(path));
    return;
  }
  for (Text& each : texts())
    add_family(std::move(each.family), std::move(each.text));
}

// Names alone: definitions are parsed when they are needed.
void Operators::add_family(std::string name, std::string text) {
  constexpr std::string_view kDef = "def ";
  const size_t family = families_.size();
  std::string_view rest = text;
  for (size_t begin = 0; begin < rest.size();) {
    std::string_view line = rest.substr(begin, rest.find('\n', begin) - begin);
    begin += line.size() + 1;
    if (!line.starts_with(kDef)) continue;
    std::string whole(
        line.substr(kDef.size(), line.find('(', kDef.size()) - kDef.size()));
    HOTARU_CHECK(family_of_.emplace(whole, family).second, "the ONNX text '",
                 name, "' defines '", whole, "' a second time");
    if (whole.starts_with("_")) continue;
    Definition definition{.family = family, .name = whole};
    std::string_view op = whole;
    if (size_t at = op.find("__"); at != op.npos) {
      definition.variant = op.substr(at + 2);
      op = op.substr(0, at);
    }
    if (size_t at = op.rfind("_v"); at != op.npos) {
      const char* end = op.data() + op.size();
      auto [stop, error] =
          std::from_chars(op.data() + at + 2, end, definition.version);
      HOTARU_CHECK(error == std::errc() && stop == end, "'", whole,
                   "' is no name of an ONNX operator");
      op = op.substr(0, at);
    }
    by_op_[std::string(op)].push_back(std::move(definition));
  }
  families_.push_back({std::move(name), std::move(text)});
}

void Operators::load(Family& family) {
  if (family.loaded) return;
  family.loaded = true;
  for (Function* function :
       unit_.add_functions(std::make_unique<script::Source>(
                               "onnx/" + family.name + ".py", family.text),
                           concat(kPrefix, family.name), resolver(), nullptr))
    functions_.emplace(function->short_name(), function);
}

Function* Operators::find_function(std::string_view name) {
  auto found = family_of_.find(name);
  if (found == family_of_.end()) return nullptr;
  load(families_[found->second]);
  auto function = functions_.find(name);
  return function == functions_.end() ? nullptr : function->second;
}

std::vector<Function*> Operators::find(std::string_view op, int64_t opset,
                                       bool known) {
  auto found = by_op_.find(op);
  if (found == by_op_.end()) return {};
  std::vector<const Definition*> newest;
  for (const Definition& each : found->second) {
    if (each.version > opset || (each.variant == kKnown && !known)) continue;
    auto same = std::find_if(
        newest.begin(), newest.end(),
        [&](const Definition* d) { return d->variant == each.variant; });
    if (same == newest.end()) {
      newest.push_back(&each);
    } else if ((*same)->version < each.version) {
      // It counts from where it stands, not from where older ones do.
      newest.erase(same);
      newest.push_back(&each);
    }
  }
  std::vector<Function*> out;
  for (const Definition* each : newest)
    out.push_back(find_function(each->name));
  return out;
}

std::unique_ptr<script::Resolver> Operators::resolver() {
  return std::make_unique<OperatorResolver>(unit_, shared_from_this());
}

std::vector<std::string> Operators::names() const {
  std::vector<std::string> out;
  for (const auto& [name, definitions] : by_op_) {
    const bool foreign = name.starts_with(kMicrosoft);
    out.push_back(
        foreign ? concat("com.microsoft::", name.substr(kMicrosoft.size()))
                : name);
  }
  return out;
}

}  // namespace hotaru::exchange::onnx
