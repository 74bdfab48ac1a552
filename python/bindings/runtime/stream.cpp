// Streams, events and the profiler.
#include "bindings/runtime/stream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings/gil.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/graph/capture/capture.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/profiler.h"
#include "hotaru/runtime/streams/event.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru::python {
namespace {

/// A thread that waits lets go of the interpreter: what it waits for may need
/// it, to free a numpy array for instance.
constexpr BlockingHooks kHooks{
    []() -> void* { return holds_lock() ? PyEval_SaveThread() : nullptr; },
    [](void* state) {
      if (state)
        outlive([state] {
          PyEval_RestoreThread(static_cast<PyThreadState*>(state));
        });
    }};

Device stream_device(nb::handle device) {
  return device.is_none() ? Device{} : resolve(to_device(device.ptr()));
}

Stream stream_or_current(const std::optional<Stream>& stream,
                         const Event& event) {
  return stream ? *stream : current_stream(event.device());
}

std::string stream_text(const Stream& stream) {
  const Device device = stream.device();
  return concat("torch.Stream device_type=", device_type_name(device.type),
                ", device_index=", std::max<int>(device.index, 0),
                ", stream_id=", stream.id());
}

void init_stream_class(nb::module_& m) {
  nb::class_<Stream>(m, "Stream",
                     "A queue of work on a device, by default the CPU, run in "
                     "order beside other streams.")
      .def("__init__",
           [](Stream* self, const Stream& other) { new (self) Stream(other); })
      .def(
          "__init__",
          [](Stream* self, nb::handle device, int priority) {
            const Device d = stream_device(device);
            new (self)
                Stream(DeviceTable::instance().backend(d.type).make_stream(
                    d.index, priority));
          },
          nb::arg("device") = nb::none(), nb::arg("priority") = 0)
      .def("synchronize", &Stream::synchronize,
           "Waits for the work so far; raises the first error since the last "
           "synchronisation.")
      .def("query", &Stream::query, "Whether all work so far is done.")
      .def(
          "wait_stream",
          [](const Stream& self, const Stream& stream) { self.wait(stream); },
          nb::arg("stream"), "Later work here runs after that stream's so far.")
      .def(
          "wait_event",
          [](const Stream& self, const Event& event) { self.wait(event); },
          nb::arg("event"), "Later work here runs after the event.")
      .def("_record", [](const Stream& self, Event& e) { self.record(e); })
      .def_prop_ro(
          "device",
          [](const Stream& self) { return device_object(self.device()); })
      .def_prop_ro("device_index",
                   [](const Stream& self) {
                     return std::max<int>(self.device().index, 0);
                   })
      .def_prop_ro("device_type",
                   [](const Stream& self) { return int(self.device().type); })
      .def_prop_ro("stream_id", &Stream::id)
      .def("__eq__",
           [](const Stream& self, nb::handle other) {
             return nb::isinstance<Stream>(other) &&
                    nb::cast<Stream>(other) == self;
           })
      .def("__hash__", &Stream::id)
      .def("__repr__", &stream_text);
  m.def(
      "_current_stream",
      [](nb::handle device) { return current_stream(stream_device(device)); },
      nb::arg("device") = nb::none());
  m.def("_set_stream", &set_current_stream);
  m.def("_synchronize", [] {
    HOTARU_CHECK(!graph::capturing(),
                 "operation not permitted when stream is capturing: "
                 "synchronize");
    synchronize_all();
  });
}

void init_event_class(nb::module_& m) {
  nb::class_<Event>(m, "Event", "A point in a stream's work.")
      .def(
          "__init__",
          [](Event* self, nb::handle device, bool enable_timing, bool, bool) {
            new (self) Event(enable_timing, stream_device(device));
          },
          nb::arg("device") = nb::none(), nb::kw_only(),
          nb::arg("enable_timing") = false, nb::arg("blocking") = false,
          nb::arg("interprocess") = false)
      .def(
          "record",
          [](Event& self, const std::optional<Stream>& stream) {
            stream_or_current(stream, self).record(self);
          },
          nb::arg("stream") = nb::none(),
          "Marks the stream's work so far; the current stream's by default.")
      .def(
          "wait",
          [](const Event& self, const std::optional<Stream>& stream) {
            stream_or_current(stream, self).wait(self);
          },
          nb::arg("stream") = nb::none(),
          "Later work of the stream runs after the event.")
      .def("query", &Event::query, "Whether the work before it is done.")
      .def("synchronize", &Event::synchronize,
           "Waits for the work before it; raises the error it ended with.")
      .def("elapsed_time", &Event::elapsed_time, nb::arg("end_event"),
           "Milliseconds from this event to a later one.")
      .def_prop_ro("enable_timing", &Event::enable_timing)
      .def_prop_ro("device", [](const Event& self) {
        return device_object(self.device());
      });
}

nb::list int_list(const std::array<int32_t, 3>& values) {
  nb::list out;
  for (const int32_t value : values) out.append(value);
  return out;
}

/// By PyTorch's names for them in traces; of a kernel that is known by itself.
nb::dict launch_object(const DeviceWork& work) {
  nb::dict out;
  if (work.correlation == 0) return out;
  out["correlation"] = work.correlation;
  if (work.kind == WorkKind::kKernel) {
    out["registers per thread"] = work.registers;
    out["shared memory"] = work.shared_memory;
    out["grid"] = int_list(work.grid);
    out["block"] = int_list(work.block);
  }
  if (work.graph != 0) {
    out["graph id"] = work.graph;
    out["graph node id"] = work.graph_node;
  }
  return out;
}

const char* activity_name(WorkKind kind) {
  return kind == WorkKind::kKernel ? "kernel"
         : kind == WorkKind::kCopy ? "gpu_memcpy"
                                   : "gpu_memset";
}

/// Without those that have no times: their device was lost.
nb::list work_list(const std::vector<DeviceWork>& works) {
  nb::list out;
  for (const DeviceWork& work : works)
    if (work.duration >= 0)
      out.append(nb::make_tuple(
          work.name, work.device, work.lane, activity_name(work.kind),
          work.bytes, work.start, work.duration, launch_object(work)));
  return out;
}

nb::list node_list(const std::vector<NodeRecord>& nodes) {
  nb::list out;
  for (const NodeRecord& node : nodes)
    out.append(nb::make_tuple(node.name, node.turn, node.sequence, node.thread,
                              node.start, node.duration));
  return out;
}

nb::list memory_list(const std::vector<MemoryRecord>& memory) {
  nb::list out;
  for (const MemoryRecord& block : memory)
    out.append(nb::make_tuple(
        block.thread, block.time, reinterpret_cast<uintptr_t>(block.data),
        block.nbytes, block.device.type == DeviceType::kCPU,
        block.device.index));
  return out;
}

/// Calls, nodes of backward passes, memory, and what is known of devices.
nb::tuple profile_records() {
  nb::list out;
  const Profile found = stop_profiling();
  for (const CallRecord& record : found.calls) {
    nb::list shapes;
    for (const Dims& shape : record.shapes) shapes.append(size_object(shape));
    out.append(nb::make_tuple(
        record.kernel->name(), record.stream, record.thread, record.start,
        record.duration, shapes,
        record.work ? work_list(record.work->parts) : nb::list()));
  }
  return nb::make_tuple(out, node_list(found.nodes), memory_list(found.memory),
                        work_list(found.devices.others), found.devices.lost,
                        found.devices.complaint);
}

}  // namespace

void init_stream(nb::module_& m) {
  set_blocking_hooks(&kHooks);
  init_event_class(m);
  init_stream_class(m);
  m.def(
      "_start_profiling",
      [](bool shapes, bool devices, bool memory) {
        start_profiling(
            {.shapes = shapes, .memory = memory, .devices = devices});
      },
      nb::arg("shapes") = false, nb::arg("devices") = false,
      nb::arg("memory") = false);
  m.def("_profile_devices", &profile_devices, nb::arg("wanted"));
  m.def("_synchronize_profiled", &synchronize_profiled);
  m.def("_stop_profiling", &profile_records);
}

}  // namespace hotaru::python
