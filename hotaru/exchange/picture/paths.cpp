#include "hotaru/exchange/picture/paths.h"

#include <algorithm>

namespace hotaru::exchange {
namespace {

using Path = std::vector<std::string>;

Path module_of(const SketchCall& call) {
  if (!call.blocks.empty()) return {};  // reads what its blocks read
  for (const SketchWeight& weight : call.weights) {
    const size_t dot = weight.name.rfind('.');
    if (dot != std::string::npos)
      return split_path(std::string_view(weight.name).substr(0, dot));
  }
  return {};
}

Path common(const Path& a, const Path& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return {a.begin(), end.first};
}

}  // namespace

std::vector<std::string> split_path(std::string_view name) {
  std::vector<std::string> out;
  while (!name.empty()) {
    const size_t dot = name.find('.');
    if (dot != 0) out.emplace_back(name.substr(0, dot));
    name.remove_prefix(dot == name.npos ? name.size() : dot + 1);
  }
  return out;
}

void guess_paths(std::vector<SketchCall>& calls) {
  Path before;
  for (size_t i = 0; i < calls.size();) {
    size_t next = i;
    Path found;
    while (next < calls.size() && found.empty())
      found = module_of(calls[next++]);
    const size_t known = found.empty() ? next : next - 1;
    const Path between = common(before, found);
    for (; i < known; ++i) calls[i].path = between;
    if (found.empty()) break;
    calls[i++].path = found;
    before = std::move(found);
  }
}

}  // namespace hotaru::exchange
