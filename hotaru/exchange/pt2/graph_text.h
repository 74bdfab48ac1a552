// A graph of an exported program as lines of TorchScript.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/exchange/pt2/graph.h"
#include "hotaru/ops/registry.h"

namespace hotaru::exchange::pt2 {

/// A text from which no value takes its name: `forward`, `torch`.
bool is_taken(std::string_view name);
/// A number as TorchScript spells it.
std::string number_text(double value);
std::string number_text(int64_t value);

/// Writes the statements of one method, of a graph and those inside of it. A
/// value's name in the graph stands for an expression in the text.
class GraphText {
 public:
  struct Options {
    /// Flags of layers that equal the mode the program was exported in become
    /// `self.training`; none do without a value.
    std::optional<bool> training;
    /// Text that stands for every device, or "": those that the program names.
    std::string device;
    /// Names in graphs of buffers that count batches.
    std::set<std::string> counters;
  };
  GraphText(Options options, int indent);

  /// A name that nothing in the method has.
  std::string fresh(std::string_view wanted);
  void line(std::string_view text);
  /// Opens what the lines after it stand in: an `if` and the like.
  void open(std::string_view text);
  void close();

  /// Writes the nodes; `inputs` are what the graph's inputs stand for. Returns
  /// what its outputs are. Throws Error for nodes that have no form here; of
  /// operators that are missing it keeps a list.
  std::vector<std::string> write(const Graph& graph,
                                 const std::vector<std::string>& inputs);
  /// The same for some outputs' own arguments, as values of the graph that was
  /// written last.
  std::string expression(const Argument& argument) const;

  /// Operators that are missing here, and how many nodes have them.
  const std::map<std::string, int>& missing() const { return missing_; }
  /// True if lines name the classes of kModes and kAutocast.
  bool uses_modes() const { return uses_modes_; }
  const std::string& text() const { return text_; }

 private:
  using Scope = std::map<std::string, std::string>;

  void write_node(const Node& node);
  void write_operator(const Node& node);
  bool write_special(const Node& node, std::string_view name,
                     std::string_view overload);
  bool write_window(const Node& node, std::string_view name);
  void write_trilinear(const Node& node);
  bool write_symbolic(const Node& node);
  void write_call(const Node& node, std::string_view call);
  void write_higher_order(const Node& node, std::string_view name);
  void write_with_effects(const Node& node);
  void write_cond(const Node& node);
  void write_while(const Node& node);
  void carry_on(const std::vector<std::string>& carried,
                const std::vector<std::string>& values);
  void write_rows(const Node& node, size_t carried_at, size_t rows_at,
                  size_t rest_at);
  void write_within(const Node& node, const std::string& with, size_t graph);
  void write_check(const std::string& condition, const Argument& message);

  std::string arguments(const Node& node, const Operator& op);
  std::string training_flag(const Node& node, const NamedArgument& input) const;
  std::string given(const Node& node, std::string_view name,
                    std::string_view otherwise) const;
  std::vector<std::string> operands(const Node& node, size_t first) const;
  std::vector<std::string> list_at(const Node& node, size_t i) const;
  std::string bind(const Argument& output);
  std::vector<std::string> results(const Node& node);

  Options options_;
  int indent_;
  int depth_ = 0;
  std::string text_;
  std::set<std::string, std::less<>> used_;
  std::map<std::string, int> numbers_;
  Scope scope_;
  std::map<std::string, int> missing_;
  bool uses_modes_ = false;
};

/// Where the classes are that `with` takes in the text, and the source of the
/// first.
inline constexpr std::string_view kModes = "__torch__.torch.autograd.grad_mode";
inline constexpr std::string_view kAutocast =
    "__torch__.torch.amp.autocast_mode";
std::string modes_source();

}  // namespace hotaru::exchange::pt2
