// Finding the operation whose gradient fails: anomaly mode, and which node's
// turn it is.
#pragma once

#include <memory>
#include <string>

namespace hotaru::autograd {

class Node;

/// Knowledge of a node beyond its gradient: where the forward pass was.
class NodeNotes {
 public:
  virtual ~NodeNotes() = default;
  /// Warns that the gradient of the node of this name failed, with all that is
  /// known.
  virtual void warn(const std::string& name) const = 0;
};

/// Anomaly mode of all threads; off at first. While it is on, nodes are made
/// with notes and failures of their gradients warned of; with check_nan,
/// gradients that are not a number are failures.
bool anomaly_enabled();
bool anomaly_checks_nan();
void set_anomaly(bool enabled, bool check_nan);

/// Takes notes for a node made now; `parent` is the node in whose gradient
/// that happens, or null. Set once, by whoever can tell where a program is.
using NotesMaker = std::unique_ptr<NodeNotes> (*)(Node* parent);
void set_notes_maker(NotesMaker maker);
std::unique_ptr<NodeNotes> make_notes();

/// The node whose gradient is being computed in this thread, or null.
Node* running_node();
/// Makes it a node's turn for a scope.
class Running {
 public:
  explicit Running(Node* node);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Node* outer_;
};

}  // namespace hotaru::autograd
