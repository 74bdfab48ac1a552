#include "bindings/graph/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/gil.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/graph/graph.h"
#include "hotaru/graph/passes/passes.h"
#include "hotaru/graph/program/fused_call.h"
#include "hotaru/graph/ways.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::python {
namespace {

using graph::Pool;
using graph::Program;

struct PyPool {
  Ref<Pool> pool = make_ref<Pool>();
};

void capture_begin(PyGraph& self, const std::optional<PyPool>& pool,
                   nb::handle device) {
  const Stream& stream = current_stream(
      device.is_none() ? Device{} : resolve(to_device(device.ptr())));
  self.graph->capture_begin(stream, pool ? pool->pool : nullptr);
  self.stream = stream;
}

void capture_end(PyGraph& self, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& renewed) {
  HOTARU_CHECK(self.stream, "capture_end() called before capture_begin().");
  HOTARU_CHECK(*self.stream == current_stream(self.stream->device()),
               "Capture must end on the same stream it began on.");
  self.stream.reset();
  self.graph->capture_end(inputs, renewed);
}

void abandon(PyGraph& self) {
  self.stream.reset();
  self.graph->abandon();
}

void reset(PyGraph& self) {
  HOTARU_CHECK(!self.running, "CUDAGraph::reset: another thread replays it");
  self.stream.reset();
  self.graph->reset();
}

/// (name, [(storage, access, shape, dtype, bytes, offset in the arena or
/// None)]) of each node.
nb::list nodes_of(const PyGraph& self) {
  const Program& program = self.graph->program();
  const auto place = [&](const Storage* storage) -> nb::object {
    for (const graph::Placement& p : program.plan().placements)
      if (p.storage == storage) return nb::int_(p.offset);
    return nb::none();
  };
  nb::list nodes;
  for (const auto& node : program.nodes()) {
    nb::list operands;
    for (const Operand& operand : node->call().operands()) {
      if (!ordered_of(operand)) continue;
      const char* access = !operand.reads()    ? "w"
                           : !operand.writes() ? "r"
                                               : "rw";
      const auto key = reinterpret_cast<uintptr_t>(ordered_of(operand));
      if (operand.object) {
        operands.append(
            nb::make_tuple(key, access, nb::none(), nb::none(), 0, nb::none()));
        continue;
      }
      const Tensor& t = *operand.tensor;
      operands.append(nb::make_tuple(
          key, access, size_object(t.sizes()), dtype_object(t.dtype()),
          size_t(t.numel()) * itemsize(t.dtype()), place(t.storage().get())));
    }
    nodes.append(nb::make_tuple(graph::title(*node), operands));
  }
  return nodes;
}

/// (call, [(name, what it does, whether it runs, why not)]) of each node.
nb::list ways_of(const PyGraph& self) {
  nb::list calls;
  for (const graph::CallWays& call : graph::ways_of(self.graph->program())) {
    nb::list ways;
    for (const WayAnswer& way : call.ways)
      ways.append(nb::make_tuple(way.name, way.what, way.runs, way.why_not));
    calls.append(nb::make_tuple(call.call, ways));
  }
  return calls;
}

nb::dict plan_of(const PyGraph& self) {
  const graph::MemoryPlan& plan = self.graph->program().plan();
  nb::dict out;
  out["nbytes"] = plan.nbytes;
  out["peak"] = plan.peak;
  out["total"] = plan.total;
  out["kept"] = self.graph->program().kept_bytes();
  nb::list values;
  for (const graph::Placement& p : plan.placements)
    values.append(nb::make_tuple(p.offset, p.nbytes, p.first, p.last));
  out["values"] = values;
  return out;
}

nb::list passes() {
  nb::list out;
  for (const graph::Pass& pass : graph::passes())
    out.append(nb::make_tuple(std::string(pass.name), std::string(pass.summary),
                              pass.exact));
  return out;
}

PyGraph make_graph(std::vector<std::string> without, bool bitwise) {
  for (const std::string& name : without) {
    std::string known;
    bool found = false;
    for (const graph::Pass& pass : graph::passes()) {
      found |= pass.name == name;
      known += concat(known.empty() ? "" : ", ", pass.name);
    }
    HOTARU_CHECK_AS(ValueError, found, "Graph: there is no pass '", name,
                    "'; there are ", known);
  }
  return PyGraph({std::move(without), bitwise});
}

}  // namespace

void PyGraph::replay(std::span<const Operand> reads) {
  if (graph->captured() && !graph->program().is_long())
    return graph->replay(reads);
  struct Running {
    explicit Running(int& count) : count(count) { ++count; }
    ~Running() { --count; }
    int& count;
  };
  const Running counted(running);
  const GilRelease release;
  graph->replay(reads);
}

/// (graph, what launches it) where one graph of the device is all of it.
nb::tuple raw_graph(const PyGraph& self) {
  const DeviceGraph* made = self.graph->program().device_graph();
  HOTARU_CHECK(made,
               "raw_cuda_graph: this graph is not one of a CUDA device, or the "
               "driver is older than CUDA 12.3");
  const std::vector<RawGraph> raw = made->raw();
  HOTARU_CHECK(raw.size() == 1 && made->launches() == 1,
               "raw_cuda_graph: this graph is ", raw.size(),
               " CUDA graphs, as some of its calls (copies to or from the "
               "host, what waits for the device) cannot be part of one");
  return nb::make_tuple(raw[0].graph, raw[0].executable);
}

void instantiate(const PyGraph& self) {
  HOTARU_CHECK(!self.running, "CUDAGraph::instantiate: another thread ",
               "replays it");
  if (DeviceGraph* made = self.graph->program().device_graph())
    made->instantiate();
}

void init_graph(nb::module_& m) {
  nb::class_<PyPool>(m, "GraphPool",
                     "Memory that graphs share of which never two run at the "
                     "same time.")
      .def(nb::init<>())
      .def("__eq__",
           [](const PyPool& self, nb::handle other) {
             return nb::isinstance<PyPool>(other) &&
                    nb::cast<PyPool&>(other).pool == self.pool;
           })
      .def("__hash__", [](const PyPool& self) {
        return reinterpret_cast<intptr_t>(self.pool.get());
      });
  nb::class_<PyGraph>(m, "_Graph")
      .def(
          "__init__",
          [](PyGraph* self, std::vector<std::string> without, bool bitwise) {
            new (self) PyGraph(make_graph(std::move(without), bitwise));
          },
          nb::arg("without"), nb::arg("bitwise"))
      .def("_capture_begin", &capture_begin, nb::arg("pool").none(),
           nb::arg("device").none())
      .def("_capture_end", &capture_end,
           nb::arg("inputs") = std::vector<Tensor>(),
           nb::arg("renewed") = std::vector<Tensor>())
      .def("_abandon", &abandon)
      .def(
          "replay", [](PyGraph& self) { self.replay(); },
          "Runs the captured calls on the current stream. Thread-safe.")
      .def("_reset", &reset)
      .def("_pool",
           [](const PyGraph& self) { return PyPool{self.graph->pool()}; })
      .def("_captured",
           [](const PyGraph& self) { return self.graph->captured(); })
      .def("_capturing",
           [](const PyGraph& self) { return self.stream.has_value(); })
      .def("_recorded",
           [](const PyGraph& self) {
             std::vector<std::string> names;
             for (const graph::NodeInfo& n : self.graph->recorded().nodes)
               names.push_back(n.name);
             return names;
           })
      .def("_nodes", &nodes_of)
      .def("_ways", &ways_of)
      .def("_touches", [](const PyGraph& self,
                          const Tensor& t) { return self.graph->touches(t); })
      .def("_plan", &plan_of)
      .def("_raw_graph", &raw_graph)
      .def("_instantiate", &instantiate)
      .def(
          "_launches",
          [](const PyGraph& self) -> nb::object {
            const Program& program = self.graph->program();
            const DeviceGraph* made = program.device_graph();
            const size_t calls = program.nodes().size();
            return nb::make_tuple(made ? made->nodes() : calls,
                                  made ? made->launches() : calls);
          },
          "(kernels, copies and fills of a replay, what the host launches)")
      .def(
          "_dependent",
          [](const PyGraph& self) {
            const DeviceGraph* made = self.graph->program().device_graph();
            return made ? made->dependent_pairs() : 0;
          },
          "Pairs of kernels of which the second is set up while the first "
          "ends.")
      .def("_timed_replay", [](const PyGraph& self) {
        nb::list out;
        for (const auto& [start, duration] : self.graph->timed_replay())
          out.append(nb::make_tuple(start, duration));
        return out;
      });
  m.def("_graph_passes", &passes);
  m.def(
      "_give_back_memory",
      [] {
        DeviceTable::instance()
            .backend(DeviceType::kCPU)
            .allocator(0)
            .give_back();
      },
      "Memory that is kept for eager calls goes back to the system.");
  m.def("is_current_stream_capturing", &graph::capturing);
}

}  // namespace hotaru::python
