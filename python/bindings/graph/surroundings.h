// Surroundings that captured Python code reads besides its arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace hotaru::python {

/// Dictionaries (of objects, classes, modules' members and hooks, globals),
/// lists, cells and functions, and whether they are still as they were when
/// they were added, whoever changed them and in whatever way. To be used with
/// the interpreter's lock held.
class Surroundings {
 public:
  /// Every change of a dict counts.
  void add_dict(nanobind::handle dict);
  /// A change counts where one of these names means another object.
  void add_names(nanobind::handle dict, const nanobind::tuple& names);
  /// The items of a list, by identity.
  void add_list(nanobind::handle list);
  /// Adds what a closure's cell holds.
  void add_cell(nanobind::handle cell);
  /// A function's code and defaults.
  void add_function(nanobind::handle function);
  /// Adds an object's slot: `member` is its class's descriptor of one.
  void add_slot(nanobind::handle object, nanobind::handle member);
  /// A class's own attributes.
  void add_type(nanobind::handle type);

  /// Two loads for each dict that was added.
  bool unchanged() const;

  /// For the collector of cycles.
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  struct Name {
    nanobind::object key, value;  // value: null where the name is missing
  };
  struct Dict {
    nanobind::object dict;
    mutable uint64_t tag;
    std::vector<Name> names;  // none: all of it
  };
  struct List {
    nanobind::object list;
    std::vector<nanobind::object> items;
  };
  struct Cell {
    nanobind::object cell, value;
  };
  struct Function {
    nanobind::object function, code, defaults;
  };
  struct Slot {
    nanobind::object object, value;
    Py_ssize_t offset;
  };

  static bool same_names(const Dict& dict);
  bool same_dicts() const;

  std::vector<Dict> dicts_;
  // Tags only grow, so that no change leaves their sum as it was.
  std::vector<const uint64_t*> tags_;
  mutable uint64_t sum_ = 0;
  std::vector<List> lists_;
  std::vector<Cell> cells_;
  std::vector<Function> functions_;
  std::vector<Slot> slots_;
};

void init_surroundings(nanobind::module_& m);

}  // namespace hotaru::python
