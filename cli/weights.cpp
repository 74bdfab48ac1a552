#include "weights.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>

#include "hotaru/core/printing/concat.h"
#include "hotaru/io/weights/weight_file.h"
#include "json.h"
#include "text.h"

namespace hotaru::cli {
namespace {

constexpr size_t kTextWidth = 60;

double elements_of(const io::WeightInfo& info) {
  double count = 1;
  for (int64_t size : info.shape) count *= double(size);
  return count;
}

/// Parts of names in the order of people: those of digits by their number.
struct ByNumber {
  bool operator()(const std::string& a, const std::string& b) const {
    const bool numbers = is_number(a) && is_number(b);
    if (numbers && a.size() != b.size()) return a.size() < b.size();
    return a < b;
  }
  static bool is_number(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return c >= '0' && c <= '9';
    });
  }
};

/// A part of the tensors' names, which dots divide.
struct Node {
  std::map<std::string, Node, ByNumber> children;
  const io::WeightInfo* info = nullptr;
  double nbytes = 0;
};

// Deeper parts of a name stay together: the tree is walked by recursion.
constexpr int kMaxDepth = 32;

Node tree_of(const io::WeightFile& file) {
  Node root;
  for (const io::WeightInfo& info : file.tensors()) {
    Node* node = &root;
    std::string_view rest = info.name;
    for (int depth = 0;; ++depth) {
      const size_t dot = depth < kMaxDepth ? rest.find('.') : rest.npos;
      node->nbytes += double(info.nbytes);
      node = &node->children[std::string(rest.substr(0, dot))];
      if (dot == rest.npos) break;
      rest.remove_prefix(dot + 1);
    }
    node->nbytes += double(info.nbytes);
    node->info = &info;
  }
  return root;
}

void show(const Node& node, const std::string& label, int depth) {
  const std::string indented = std::string(size_t(depth) * 2, ' ') + label;
  if (node.info) {
    std::cout << std::left << std::setw(40) << shown(indented) << ' '
              << std::setw(8) << shown(node.info->type) << ' ' << std::setw(20)
              << concat(shape_text(node.info->shape)) << ' '
              << amount(double(node.info->nbytes), "B")
              << (node.info->dtype ? "" : "  (not readable here)") << '\n';
  } else if (node.children.size() == 1) {
    const auto& [name, child] = *node.children.begin();
    return show(child, label + '.' + name, depth);
  } else {
    std::cout << std::left << std::setw(70) << shown(indented) << ' '
              << amount(node.nbytes, "B") << '\n';
  }
  for (const auto& [name, child] : node.children) show(child, name, depth + 1);
}

Json json_of(const Value& value) {
  if (value.is_int()) return value.as_int();
  if (value.is_double()) return value.as_double();
  if (value.is_bool()) return value.as_bool();
  if (value.is_string()) return value.as_string();
  Json out = Json::array();
  if (value.is_list())
    for (const Value& item : value.as_list().items)
      out.push_back(json_of(item));
  return out;
}

/// A value in one short line.
std::string line_of(const Value& value) {
  if (value.is_list())
    return concat("[", value.as_list().items.size(), " values]");
  std::string text =
      value.is_string()
          ? value.as_string()
          : json_of(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kTextWidth) text = text.substr(0, kTextWidth) + "...";
  return shown(text);
}

Json report(const io::WeightFile& file, double elements, double nbytes) {
  Json out;
  out["path"] = file.path();
  out["format"] = file.format();
  out["parts"] = file.parts();
  out["elements"] = whole(elements);
  out["bytes"] = whole(nbytes);
  out["metadata"] = Json::object();
  const Value metadata = file.metadata();
  for (const auto& [key, value] : metadata.as_dict().items)
    out["metadata"][key.as_string()] = json_of(value);
  out["tensors"] = Json::array();
  for (const io::WeightInfo& info : file.tensors())
    out["tensors"].push_back({{"name", info.name},
                              {"type", info.type},
                              {"shape", info.shape},
                              {"offset", info.offset},
                              {"bytes", info.nbytes},
                              {"readable", info.dtype.has_value()}});
  return out;
}

}  // namespace

void show_weights(const std::string& path, bool as_json) {
  const Ref<io::WeightFile> file = io::open_weights(path);
  double elements = 0, nbytes = 0;
  for (const io::WeightInfo& info : file->tensors()) {
    elements += elements_of(info);
    nbytes += double(info.nbytes);
  }
  if (as_json) {
    std::cout << report(*file, elements, nbytes)
                     .dump(1, ' ', false, Json::error_handler_t::replace)
              << '\n';
    return;
  }
  std::cout << file->format() << ", " << file->tensors().size() << " tensors, "
            << amount(elements, "elements") << ", " << amount(nbytes, "B");
  const size_t parts = file->parts().size();
  if (parts) std::cout << " in " << parts << " files";
  std::cout << "\n\n";
  const Value metadata = file->metadata();
  for (const auto& [key, value] : metadata.as_dict().items)
    std::cout << std::left << std::setw(40) << shown(key.as_string()) << ' '
              << line_of(value) << '\n';
  if (!metadata.as_dict().items.empty()) std::cout << '\n';
  const Node root = tree_of(*file);
  for (const auto& [name, node] : root.children) show(node, name, 0);
}

}  // namespace hotaru::cli
