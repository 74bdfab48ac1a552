#include "bindings/comm/process_group.h"

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/comm/stores.h"
#include "bindings/gil.h"
#include "bindings/runtime/future_object.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/tensor_object.h"
#include "hotaru/comm/group/device_group.h"
#include "hotaru/comm/group/process_group.h"
#include "hotaru/comm/mesh/meeting.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/runtime/backend.h"

namespace nb = nanobind;

namespace hotaru::python {

namespace {

using comm::Collective;
using comm::CollectiveKind;
using comm::Millis;
using comm::ReduceKind;

struct PyMesh {
  Ref<comm::Mesh> mesh;
};
struct PyProcessGroup {
  Ref<comm::ProcessGroup> group;
};

PyMesh meet(const PyStore& store, int rank, int size, Millis timeout) {
  const Ref<comm::Store> kept = store.store;
  const GilRelease release;
  return {comm::meet(*kept, rank, size, timeout)};
}

PyProcessGroup open(const PyMesh& self, const std::string& name,
                    std::vector<int> ranks, int rank, Millis timeout) {
  return {make_ref<comm::ProcessGroup>(
      self.mesh, self.mesh->open(name, std::move(ranks), rank), timeout)};
}

std::vector<Tensor> tensors_of(const nb::list& list) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (nb::handle item : list) {
    HOTARU_CHECK_AS(TypeError, is_tensor(item.ptr()),
                    "Invalid function argument. Expected a list of "
                    "torch.Tensor, got ",
                    class_name(item.ptr()));
    out.push_back(tensor_of(item.ptr()));
  }
  return out;
}

comm::Work issue(const PyProcessGroup& self, CollectiveKind kind,
                 const nb::list& inputs, const nb::list& outputs,
                 ReduceKind reduction, double factor, int root, uint32_t tag,
                 int64_t timeout_ms, bool async, std::vector<int> peers) {
  const Collective collective{.kind = kind,
                              .inputs = tensors_of(inputs),
                              .outputs = tensors_of(outputs),
                              .reduction = {reduction, factor},
                              .root = root,
                              .tag = tag,
                              .peers = std::move(peers),
                              .timeout = Millis(timeout_ms),
                              .async = async};
  // Another thread of the program may be what other ranks wait for.
  const GilRelease release;
  return self.group->issue(collective);
}

void init_kinds(nb::module_& m) {
  nb::enum_<CollectiveKind>(m, "_CollectiveKind")
      .value("ALL_REDUCE", CollectiveKind::kAllReduce)
      .value("REDUCE", CollectiveKind::kReduce)
      .value("BROADCAST", CollectiveKind::kBroadcast)
      .value("ALL_GATHER", CollectiveKind::kAllGather)
      .value("GATHER", CollectiveKind::kGather)
      .value("SCATTER", CollectiveKind::kScatter)
      .value("REDUCE_SCATTER", CollectiveKind::kReduceScatter)
      .value("ALL_TO_ALL", CollectiveKind::kAllToAll)
      .value("BARRIER", CollectiveKind::kBarrier)
      .value("SEND", CollectiveKind::kSend)
      .value("RECEIVE", CollectiveKind::kReceive)
      .value("EXCHANGE", CollectiveKind::kExchange);
  nb::enum_<ReduceKind>(m, "_ReduceKind", nb::is_arithmetic())
      .value("SUM", ReduceKind::kSum)
      .value("AVG", ReduceKind::kAverage)
      .value("PRODUCT", ReduceKind::kProduct)
      .value("MIN", ReduceKind::kMin)
      .value("MAX", ReduceKind::kMax)
      .value("BAND", ReduceKind::kBitAnd)
      .value("BOR", ReduceKind::kBitOr)
      .value("BXOR", ReduceKind::kBitXor)
      .value("PREMUL_SUM", ReduceKind::kScaledSum);
}

}  // namespace

void init_process_group(nb::module_& m) {
  init_kinds(m);
  nb::class_<comm::Work>(m, "_CollectiveWork")
      .def(nb::init<>())
      .def("wait", &comm::Work::wait, nb::call_guard<GilRelease>())
      .def("wait_for", &comm::Work::wait_for, nb::arg("timeout"),
           nb::call_guard<GilRelease>())
      .def("done", &comm::Work::done)
      .def(
          "future",
          [](const comm::Work& self, nb::object result) {
            PendingFuture pending = pending_future(std::move(result));
            self.then(std::move(pending.end));
            return pending.future;
          },
          nb::arg("result"))
      .def("source", &comm::Work::source);
  nb::class_<PyProcessGroup>(m, "_CollectiveGroup")
      .def("issue", &issue, nb::arg("kind"), nb::arg("inputs"),
           nb::arg("outputs"), nb::arg("reduction") = ReduceKind::kSum,
           nb::arg("factor") = 1.0, nb::arg("root") = 0, nb::arg("tag") = 0,
           nb::arg("timeout_ms") = -1, nb::arg("async_op") = false,
           nb::arg("peers") = std::vector<int>())
      .def(
          "connect",
          [](const PyProcessGroup& self, Device device) {
            self.group->devices()->connect(resolve(device));
          },
          nb::arg("device"), nb::call_guard<GilRelease>())
      .def("stream",
           [](const PyProcessGroup& self) { return self.group->stream(); })
      .def(
          "synchronize",
          [](const PyProcessGroup& self) { self.group->synchronize(); },
          nb::call_guard<GilRelease>())
      .def(
          "shut",
          [](const PyProcessGroup& self, bool aborts) {
            self.group->shut(aborts);
          },
          nb::arg("aborts") = false, nb::call_guard<GilRelease>())
      .def_prop_rw(
          "timeout",
          [](const PyProcessGroup& self) { return self.group->timeout(); },
          [](const PyProcessGroup& self, Millis timeout) {
            self.group->set_timeout(timeout);
          })
      .def_prop_ro("ranks", [](const PyProcessGroup& self) {
        return self.group->ranks();
      });
  nb::class_<PyMesh>(m, "_Mesh")
      .def("open", &open, nb::arg("name"), nb::arg("ranks"), nb::arg("rank"),
           nb::arg("timeout"))
      .def("close", [](const PyMesh& self) {
        const Ref<comm::Mesh> mesh = self.mesh;
        const GilRelease release;
        mesh->close();
      });
  m.def("_meet", &meet, nb::arg("store"), nb::arg("rank"), nb::arg("size"),
        nb::arg("timeout"));
}

}  // namespace hotaru::python
