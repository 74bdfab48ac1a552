#include "hotaru/exchange/picture/sketch.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "hotaru/core/printing/concat.h"
#include "hotaru/exchange/picture/fold.h"
#include "hotaru/graph/drawing/svg.h"

namespace hotaru::exchange {
namespace {

using graph::Box;
using Calls = std::vector<SketchCall>;
using Values = std::set<std::string_view>;
using Known = std::unordered_set<std::string_view>;

// Weights that one call lists.
constexpr size_t kListed = 4;
// Parts of a module's path that make boxes of their own.
constexpr size_t kMaxFolders = 24;

/// "1.2 M": units of 1,000.
std::string count_text(double n) {
  const char* const units[] = {"", " K", " M", " G"};
  size_t unit = 0;
  for (; n >= 1000 && unit < 3; ++unit) n /= 1000;
  return unit ? graph::svg::number(n) + units[unit] : concat(n);
}

/// A box, and the values that it takes from elsewhere and gives.
struct Made {
  Box box;
  Values reads, writes;
  /// Set if its name says in which module it is.
  bool placed = false;
  std::map<std::string_view, const SketchWeight*> weights = {};
};

void merge(Values& into, const Values& from) {
  into.insert(from.begin(), from.end());
}

/// Finds out what follows what among siblings.
void connect(std::vector<Made>& level, const Known& known) {
  std::unordered_map<std::string_view, size_t> makers;
  for (size_t i = 0; i < level.size(); ++i) {
    Box& box = level[i].box;
    box.after.clear();
    box.takes = false;
    for (const std::string_view value : level[i].reads) {
      const auto maker = makers.find(value);
      if (maker != makers.end()) box.after.push_back(maker->second);
      box.takes = box.takes || (maker == makers.end() && known.count(value));
    }
    std::sort(box.after.begin(), box.after.end());
    box.after.erase(std::unique(box.after.begin(), box.after.end()),
                    box.after.end());
    for (const std::string_view value : level[i].writes) makers[value] = i;
  }
}

std::vector<Box> boxes(std::vector<Made> level) {
  std::vector<Box> out;
  for (Made& made : level) out.push_back(std::move(made.box));
  return folded(std::move(out));
}

/// The boxes of one list of calls: the program's, or a block's.
class List {
 public:
  /// `known`: the values that some call or input gives, anywhere.
  List(const Calls& calls, const std::vector<std::string>& results,
       const Known& known)
      : calls_(calls), known_(known) {
    for (const SketchCall& call : calls) calls_made_.push_back(made(call));
    for (size_t i = 0; i < calls.size(); ++i)
      for (const std::string_view value : calls_made_[i].reads)
        last_reader_[value] = i;
    for (const std::string& value : results) last_reader_[value] = SIZE_MAX;
  }

  /// All calls, nested by what their paths have behind `depth`.
  std::vector<Made> made(size_t depth) {
    return level(0, calls_.size(), depth, calls_.size());
  }

 private:
  /// The calls from `first` to `last` in a group that ends at `end`.
  std::vector<Made> level(size_t first, size_t last, size_t depth, size_t end) {
    std::vector<Made> out;
    for (size_t i = first; i < last;) {
      const auto& path = calls_[i].path;
      if (path.size() <= depth || depth >= kMaxFolders) {
        out.push_back(std::move(calls_made_[i]));
        link(out.back(), end);
        ++i;
        continue;
      }
      size_t next = i + 1;
      while (next < last && calls_[next].path.size() > depth &&
             calls_[next].path[depth] == path[depth])
        ++next;
      out.push_back(module(path[depth], level(i, next, depth + 1, next)));
      link(out.back(), end);
      i = next;
    }
    connect(out, known_);
    return out;
  }

  void link(Made& made, size_t end) const {
    made.box.gives =
        std::any_of(made.writes.begin(), made.writes.end(), [&](auto value) {
          const auto found = last_reader_.find(value);
          return found != last_reader_.end() && found->second >= end;
        });
  }

  static Made module(const std::string& name, std::vector<Made> level) {
    Made out;
    for (Made& made : level) {
      merge(out.reads, made.reads);
      merge(out.writes, made.writes);
      out.weights.merge(made.weights);
    }
    for (const std::string_view value : out.writes) out.reads.erase(value);
    if (level.size() == 1) {  // no box around a single one
      out.box = std::move(level[0].box);
      out.placed = true;
      const bool inner = level[0].placed || out.box.kind == Box::Kind::kModule;
      out.box.name = concat(name, inner ? "." : ": ", out.box.name);
      return out;
    }
    out.box.kind = Box::Kind::kModule;
    out.box.name = name;
    double elements = 0, nbytes = 0;
    for (const auto& [_, weight] : out.weights) {
      elements += weight->elements;
      nbytes += weight->nbytes;
    }
    if (!out.weights.empty())
      out.box.notes.push_back(concat(count_text(elements), " elements, ",
                                     graph::svg::bytes_text(nbytes)));
    out.box.inside = boxes(std::move(level));
    return out;
  }

  Made made(const SketchCall& call) const {
    Made out;
    out.box.name = call.name;
    out.reads.insert(call.inputs.begin(), call.inputs.end());
    out.writes.insert(call.outputs.begin(), call.outputs.end());
    if (!call.result.empty()) out.box.notes.push_back(call.result);
    for (const SketchWeight& weight : call.weights) {
      out.weights.emplace(weight.name, &weight);
      if (out.weights.size() > kListed) continue;
      const size_t dot = weight.name.rfind('.');
      const std::string last =
          dot == std::string::npos ? weight.name : weight.name.substr(dot + 1);
      out.box.notes.push_back(concat(last, " ", weight.type));
    }
    if (out.weights.size() > kListed)
      out.box.notes.push_back(
          concat("and ", out.weights.size() - kListed, " more"));
    for (const SketchBlock& block : call.blocks) add_block(call, block, out);
    return out;
  }

  void add_block(const SketchCall& call, const SketchBlock& block,
                 Made& out) const {
    List list(block.calls, block.outputs, known_);
    std::vector<Made> level = list.made(call.path.size());
    Values reads, writes(block.inputs.begin(), block.inputs.end());
    for (Made& made : level) {
      merge(reads, made.reads);
      merge(writes, made.writes);
      out.weights.merge(made.weights);
    }
    reads.insert(block.outputs.begin(), block.outputs.end());
    for (const std::string_view value : writes) reads.erase(value);
    merge(out.reads, reads);
    if (block.name.empty() && call.blocks.size() == 1) {
      out.box.inside = boxes(std::move(level));
      return;
    }
    Box box{.kind = Box::Kind::kBlock, .name = block.name};
    box.inside = boxes(std::move(level));
    if (box.inside.empty()) box.notes.emplace_back("passes values on");
    out.box.inside.push_back(std::move(box));
  }

  const Calls& calls_;
  const Known& known_;
  std::vector<Made> calls_made_;
  std::unordered_map<std::string_view, size_t> last_reader_;
};

void add_known(const Calls& calls, Known& known) {
  for (const SketchCall& call : calls) {
    known.insert(call.outputs.begin(), call.outputs.end());
    for (const SketchBlock& block : call.blocks) {
      known.insert(block.inputs.begin(), block.inputs.end());
      add_known(block.calls, known);
    }
  }
}

Made port(const SketchPort& port) {
  Made out;
  out.box.kind = Box::Kind::kPort;
  out.box.name = port.name;
  out.box.notes.push_back(port.type);
  return out;
}

}  // namespace

graph::Sheet sheet_of(const Sketch& sketch) {
  Known known;
  std::vector<Made> all;
  for (const SketchPort& input : sketch.inputs) {
    known.insert(input.value);
    all.push_back(port(input));
    all.back().writes.insert(input.value);
  }
  add_known(sketch.calls, known);
  std::vector<std::string> results;
  for (const SketchPort& output : sketch.outputs)
    results.push_back(output.value);
  List list(sketch.calls, results, known);
  for (Made& made : list.made(0)) all.push_back(std::move(made));
  for (const SketchPort& output : sketch.outputs) {
    all.push_back(port(output));
    all.back().reads.insert(output.value);
  }
  connect(all, known);
  // Nothing is around the whole.
  for (Made& made : all) made.box.takes = made.box.gives = false;
  return {sketch.title, boxes(std::move(all))};
}

}  // namespace hotaru::exchange
