// States of modules that a graph renews in place: whether somebody keeps one.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "hotaru/core/tensor.h"

namespace hotaru::python {

/// The tensors that attributes of modules are bound to between calls, in memory
/// that is the graph's, and the containers in which they lie. Code that rebinds
/// such an attribute leaves what was bound before alone; so a call may write
/// there only while nobody else holds it. To be used with the interpreter's
/// lock held.
class GraphStates {
 public:
  /// Both are kept alive. A container counts by its identity alone.
  void watch(const std::vector<Tensor>& tensors,
             const nanobind::list& containers);
  bool empty() const { return watched_.empty(); }

  /// Takes everyone who holds them now for one of the graph's own.
  void count() const;
  /// True if more hold them than at the last count(), or since at any question.
  bool held() const;

  /// For the garbage collector.
  int traverse(visitproc visit, void* arg) const;

 private:
  struct Owners {
    int64_t objects = 0, tensors = 0, storages = 0;
  };
  struct Watched {
    nanobind::object object;
    Tensor tensor;  // undefined for a container
    mutable Owners known = {};

    Owners owners() const;
  };
  std::vector<Watched> watched_;
};

}  // namespace hotaru::python
