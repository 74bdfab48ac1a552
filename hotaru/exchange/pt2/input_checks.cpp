#include "hotaru/exchange/pt2/input_checks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/script/archive/literal.h"

namespace hotaru::exchange::pt2 {

namespace {

constexpr std::string_view kOtherSize =
    ", but got {}. If you meant for this dimension to be dynamic, please "
    "re-export and specify dynamic_shapes (e.g. with Dim.DYNAMIC)";

// Where an input stands among the arguments: "x", "pair[0]", "inputs['a']".
void name_leaves(const TreeSpec& tree, const std::string& path,
                 std::vector<std::string>& out) {
  if (tree.kind == TreeSpec::Kind::kLeaf) {
    out.push_back(path);
    return;
  }
  for (size_t i = 0; i < tree.children.size(); ++i) {
    const bool key = i < tree.keys.size();
    name_leaves(tree.children[i],
                key ? concat(path, "['", tree.keys[i], "']")
                    : concat(path, "[", i, "]"),
                out);
  }
}

std::vector<std::string> leaf_paths(const File& file) {
  std::vector<std::string> out;
  const TreeSpec& tree = file.in_tree;
  if (tree.children.size() != 2) {
    name_leaves(tree, "args", out);
    return out;
  }
  const std::vector<TreeSpec>& positional = tree.children[0].children;
  for (size_t i = 0; i < positional.size(); ++i) {
    const bool named = i < file.argument_names.size();
    name_leaves(positional[i],
                named ? file.argument_names[i] : concat("args[", i, "]"), out);
  }
  const TreeSpec& keywords = tree.children[1];
  for (size_t i = 0; i < keywords.children.size(); ++i) {
    name_leaves(
        keywords.children[i],
        i < keywords.keys.size() ? keywords.keys[i] : concat("kwargs[", i, "]"),
        out);
  }
  return out;
}

class Checks {
 public:
  explicit Checks(const File& file) : file_(file), body_({}, 2) {}

  InputChecks write(const std::vector<Leaf>& leaves) {
    const std::vector<std::string> paths = leaf_paths(file_);
    for (const Leaf& leaf : leaves) body_.fresh(leaf.name);
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Leaf& leaf = leaves[i];
      path_ = script::escape_format(i < paths.size() ? paths[i] : leaf.name);
      if (leaf.type == "Tensor") {
        auto meta = file_.graph.tensors.find(leaf.argument->text);
        if (meta != file_.graph.tensors.end()) tensor(leaf, meta->second);
      } else if (leaf.argument->kind == Argument::Kind::kSymInt) {
        auto size = file_.graph.sizes.find(leaf.argument->text);
        if (size != file_.graph.sizes.end())
          check_size(leaf.name, path_, size->second);
      } else if (leaf.argument->kind != Argument::Kind::kNone) {
        constant(leaf);
      }
    }
    return {.fail = std::move(fail_), .raise = body_.text()};
  }

 private:
  void fail_if(const std::string& condition) {
    fail_ += concat(fail_.empty() ? "" : " or ", condition);
  }

  // `message` has {} for each of the values.
  void refuse_if(const std::string& condition, const std::string& message,
                 const std::string& values) {
    body_.open(concat("if ", condition, ":"));
    body_.line(concat("raise RuntimeError(", script::quoted(message),
                      ".format(", values, "))"));
    body_.close();
  }

  void constant(const Leaf& leaf) {
    const std::string value = body_.expression(*leaf.argument);
    const std::string condition = value == "nan"
                                      ? concat(leaf.name, " == ", leaf.name)
                                      : concat(leaf.name, " != ", value);
    fail_if(condition);
    refuse_if(condition,
              concat("Expected input at ", path_, " to be equal to ",
                     script::escape_format(value), ", but got {}"),
              leaf.name);
  }

  void tensor(const Leaf& leaf, const TensorMeta& meta) {
    const size_t rank = meta.sizes.size();
    auto size_of = [&](size_t d) {
      return concat("torch.size(", leaf.name, ", ", d, ")");
    };
    // One comparison of all fixed sizes instead of one for each.
    std::string wanted;
    size_t fixed = 0;
    for (size_t d = 0; d < rank; ++d) {
      const bool number = meta.sizes[d].kind == Size::Kind::kNumber;
      fixed += number;
      wanted += concat(d > 0 ? ", " : "",
                       number ? concat(meta.sizes[d].number) : size_of(d));
    }
    const bool at_once = fixed > 1 || (fixed > 0 && fixed == rank);
    const std::string other_rank =
        concat("torch.dim(", leaf.name, ") != ", rank);
    if (!at_once || fixed < rank) fail_if(other_rank);
    if (at_once)
      fail_if(concat("torch.size(", leaf.name, ") != [", wanted, "]"));
    refuse_if(other_rank,
              concat("Unexpected number of dimensions in input at ", path_,
                     ".shape (expected ", shape(meta), ", got {})"),
              concat("torch.size(", leaf.name, ")"));
    if (rank > 1 && fixed == rank) return fixed_sizes(leaf, meta);
    for (size_t d = 0; d < rank; ++d) {
      check_size(size_of(d), concat(path_, ".shape[", d, "]"), meta.sizes[d],
                 !at_once);
    }
  }

  // One statement for all dimensions: the text is parsed with every program.
  void fixed_sizes(const Leaf& leaf, const TensorMeta& meta) {
    const std::string d = body_.fresh("d");
    const std::string wanted = concat(shape(meta), "[", d, "]");
    const std::string size = concat("torch.size(", leaf.name, ", ", d, ")");
    body_.open(concat("for ", d, " in range(", meta.sizes.size(), "):"));
    refuse_if(concat(size, " != ", wanted),
              concat("Expected input at ", path_,
                     ".shape[{}] to be equal to {}", kOtherSize),
              concat(d, ", ", wanted, ", ", size));
    body_.close();
  }

  static std::string shape(const TensorMeta& meta) {
    std::string out = "[";
    for (const Size& size : meta.sizes) {
      out += out.size() > 1 ? ", " : "";
      if (size.kind == Size::Kind::kNumber) {
        out += concat(size.number);
      } else {
        out += size.kind == Size::Kind::kSymbol
                   ? script::escape_format(size.text)
                   : "...";
      }
    }
    return out + "]";
  }

  // `counts`: whether `fail` has to compare this size.
  void check_size(const std::string& value, const std::string& path,
                  const Size& size, bool counts = true) {
    const std::string at = concat("Expected input at ", path, " to be ");
    if (size.kind == Size::Kind::kNumber) {
      const std::string condition = concat(value, " != ", size.number);
      if (counts) fail_if(condition);
      return refuse_if(condition,
                       concat(at, "equal to ", size.number, kOtherSize), value);
    }
    if (size.kind == Size::Kind::kExpression) return;
    auto [place, added] = symbols_.try_emplace(size.text, Symbol{{}, value});
    Symbol& known = place->second;
    if (!added) {
      fail_if(concat(value, " != ", known.value));
      return refuse_if(concat(value, " != ", known.name),
                       concat(at, "equal to {}, but got {}"),
                       concat(known.name, ", ", value));
    }
    known.name = body_.fresh("size");
    body_.line(concat(known.name, " = ", value));
    auto range = file_.ranges.find(size.text);
    if (range == file_.ranges.end()) return;
    // Exporting takes every size for 2 or more; 0 and 1 work as well.
    constexpr int64_t kSpecialized = 2;
    const auto& [min, max] = range->second;
    auto bound = [&](std::string_view beyond, std::string_view wanted,
                     int64_t limit) {
      fail_if(concat(value, beyond, limit));
      refuse_if(concat(known.name, beyond, limit),
                concat(at, wanted, limit, ", but got {}"), known.name);
    };
    if (min && *min > kSpecialized) bound(" < ", ">= ", *min);
    if (max) bound(" > ", "<= ", *max);
  }

  // A symbol's first size: its name among the statements, and the expression.
  struct Symbol {
    std::string name, value;
  };

  const File& file_;
  GraphText body_;
  std::string path_;
  std::string fail_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace

InputChecks input_checks(const File& file, const std::vector<Leaf>& leaves) {
  return Checks(file).write(leaves);
}

}  // namespace hotaru::exchange::pt2
