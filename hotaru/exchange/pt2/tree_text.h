// Containers of arguments and results in TorchScript's types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hotaru/exchange/pt2/graph_text.h"
#include "hotaru/exchange/pt2/pt2_file.h"

namespace hotaru::exchange::pt2 {

/// A parameter of the flat method.
struct Leaf {
  std::string name;
  std::string type;
  const Argument* argument;
};

/// TorchScript's type of a value. Throws Error for lists, graphs and the like.
std::string leaf_type(const Argument& argument);

size_t leaf_count(const TreeSpec& tree);

/// The type of a tree whose leaves have these types from `next` on, which it
/// moves behind them; nothing if there is none: lists of several types.
std::optional<std::string> tree_type(const TreeSpec& tree,
                                     const std::vector<std::string>& types,
                                     size_t& next);

/// Writes what takes a value apart, and adds the leaves' expressions.
void unpack(const TreeSpec& tree, const std::string& value, GraphText& body,
            std::vector<std::string>& leaves);

/// An expression that makes the tree of its leaves from `next` on.
std::string pack(const TreeSpec& tree, const std::vector<std::string>& leaves,
                 size_t& next);

}  // namespace hotaru::exchange::pt2
