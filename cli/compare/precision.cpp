#include "compare/precision.h"

#include <algorithm>
#include <string_view>

#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/library_settings.h"

namespace hotaru::cli {
namespace {

Precision parse_precision(std::string_view word) {
  for (const Precision known :
       {Precision::kBFloat16, Precision::kInt8, Precision::kInt4})
    if (word == precision_name(known)) return known;
  fail<ValueError>("--precision ", word,
                   ": there is bfloat16, int8 and int4; write several as "
                   "bfloat16,int8");
}

/// How often each is there: "conv2d 3, lstm".
std::string tally(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string out;
  for (size_t i = 0, next; i < names.size(); i = next) {
    next = i;
    while (next < names.size() && names[next] == names[i]) ++next;
    out += concat(out.empty() ? "" : ", ", names[i]);
    if (next - i > 1) out += concat(" ", next - i);
  }
  return out;
}

}  // namespace

const char* precision_name(Precision precision) {
  switch (precision) {
    case Precision::kBFloat16:
      return "bfloat16";
    case Precision::kInt8:
      return "int8";
    case Precision::kInt4:
      return "int4";
    default:
      return "float32";
  }
}

std::optional<script::IntegerWeights> integer_weights(Precision precision,
                                                      int64_t group) {
  if (precision == Precision::kInt8) return script::IntegerWeights{8};
  if (precision == Precision::kInt4) return script::IntegerWeights{4, group};
  return std::nullopt;
}

std::vector<Precision> parse_precisions(const std::string& words) {
  std::vector<Precision> out;
  for (std::string_view rest = words; out.empty() || !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const Precision found = parse_precision(word);
    if (std::find(out.begin(), out.end(), found) == out.end())
      out.push_back(found);
  }
  return out;
}

PrecisionScope::PrecisionScope(Precision precision) {
  for (size_t i = 0; i < before_.size(); ++i) {
    before_[i] = allows_bf16(Bf16(i));
    set_allows_bf16(Bf16(i), precision == Precision::kBFloat16);
  }
}

PrecisionScope::~PrecisionScope() {
  for (size_t i = 0; i < before_.size(); ++i)
    set_allows_bf16(Bf16(i), before_[i]);
}

std::vector<std::string> preserved(const std::string& method) {
  if (method == "forward") return {};
  return {method};
}

std::vector<std::string> methods_of(const script::Module& module) {
  std::vector<std::string> out;
  for (const std::string& name : module.method_names())
    if (name != "forward") out.push_back(name);
  return out;
}

std::string count_text(const script::ProductCounts& counts,
                       Precision precision) {
  std::vector<std::string> parts;
  const auto add = [&](size_t count, const char* what) {
    parts.push_back(concat(count, " ", what, count == 1 ? "" : "s"));
  };
  if (counts.rewritten || counts.embeddings + counts.recurrent == 0)
    add(counts.rewritten, "linear map");
  if (counts.embeddings) add(counts.embeddings, "embedding");
  if (counts.recurrent) add(counts.recurrent, "recurrent layer");
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i > 0 && i + 1 == parts.size();
    out += concat(i == 0 ? "" : last ? " and " : ", ", parts[i]);
  }
  out += concat(" in ", precision_name(precision));
  if (!counts.kept.empty()) out += concat("; in float32: ", tally(counts.kept));
  return out;
}

}  // namespace hotaru::cli
