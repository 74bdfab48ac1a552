// Devices beside the CPU: questions, memory, streams of others, pinned memory.
#include "bindings/runtime/accelerator.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/autograd/held.h"
#include "bindings/runtime/generator_object.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/runtime/accelerator.h"
#include "hotaru/runtime/library_settings.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru::python {
namespace {

// Call that _when_cuda_begins was given; lives as long as the process.
nb::handle begin_call;

nb::dict count_dict(const MemoryCount& c) {
  nb::dict out;
  out["current"] = c.current;
  out["peak"] = c.peak;
  out["allocated"] = c.allocated;
  out["freed"] = c.freed;
  return out;
}

/// A counter as PyTorch nests it.
nb::dict pools_dict(const MemoryCounts& counts) {
  nb::dict out;
  out["all"] = count_dict(counts.all());
  out["small_pool"] = count_dict(counts.of[0]);
  out["large_pool"] = count_dict(counts.of[1]);
  return out;
}

nb::dict stats_dict(const MemoryStats& s) {
  nb::dict out;
  out["allocation"] = pools_dict(s.blocks);
  out["segment"] = pools_dict(s.segments);
  out["allocated_bytes"] = pools_dict(s.allocated);
  out["reserved_bytes"] = pools_dict(s.reserved);
  out["requested_bytes"] = pools_dict(s.requested);
  out["num_alloc_retries"] = s.retries;
  out["num_ooms"] = s.out_of_memory;
  return out;
}

nb::list snapshot_list(int device) {
  nb::list out;
  for (const MemorySegment& segment : accelerator().memory_snapshot(device)) {
    nb::dict entry;
    nb::list blocks;
    size_t allocated = 0, requested = 0;
    for (const MemoryBlock& block : segment.blocks) {
      nb::dict b;
      b["address"] = block.address;
      b["size"] = block.bytes;
      b["requested_size"] = block.requested;
      b["state"] = block.used ? "active_allocated" : "inactive";
      if (block.used) {
        allocated += block.bytes;
        requested += block.requested;
      }
      blocks.append(b);
    }
    entry["device"] = device;
    entry["address"] = segment.address;
    entry["total_size"] = segment.bytes;
    entry["allocated_size"] = allocated;
    entry["active_size"] = allocated;
    entry["requested_size"] = requested;
    entry["stream"] = segment.stream;
    entry["segment_type"] =
        segment.pool == MemoryPool::kSmall ? "small" : "large";
    entry["is_expandable"] = true;
    entry["blocks"] = blocks;
    out.append(entry);
  }
  return out;
}

nb::dict properties_dict(int device) {
  const DeviceProperties& p = accelerator().properties(device);
  nb::dict out;
  out["name"] = p.name;
  out["major"] = p.major;
  out["minor"] = p.minor;
  out["total_memory"] = p.total_memory;
  out["multi_processor_count"] = p.processors;
  out["max_threads_per_multi_processor"] = p.threads_per_processor;
  out["regs_per_multiprocessor"] = p.registers_per_processor;
  out["shared_memory_per_block"] = p.shared_per_block;
  out["shared_memory_per_block_optin"] = p.shared_per_block_optin;
  out["shared_memory_per_multiprocessor"] = p.shared_per_processor;
  out["L2_cache_size"] = p.l2_cache;
  out["is_integrated"] = int(p.integrated);
  out["is_multi_gpu_board"] = 0;
  out["warp_size"] = 32;
  out["uuid"] = p.uuid;
  out["pci_bus_id"] = p.pci_bus;
  out["pci_device_id"] = p.pci_device;
  out["pci_domain_id"] = p.pci_domain;
  return out;
}

bool is_pinned(const Tensor& t) {
  DeviceTable& table = DeviceTable::instance();
  return t.device().is_cpu() && table.loaded(DeviceType::kCUDA) &&
         accelerator().initialized() &&
         accelerator().is_pinned(t.storage()->data());
}

}  // namespace

Tensor pin_memory(const Tensor& t) {
  HOTARU_CHECK(t.device().is_cpu(), "cannot pin 'torch.cuda.",
               scalar_type_name(t.dtype()),
               "Tensor' only dense CPU tensors can be pinned");
  accelerator().initialize();
  if (is_pinned(t)) return t;
  const size_t bytes =
      storage_bytes(t.sizes(), t.strides(), itemsize(t.dtype()));
  const Tensor out = make_tensor(
      make_ref<Storage>(accelerator().pinned_allocator(), bytes, Device{}),
      t.dtype(), t.sizes(), t.strides(), 0);
  return copy_(out, t);
}

namespace {

void init_memory_functions(nb::module_& m) {
  m.def("_cuda_memory_info",
        [](int device) { return accelerator().memory_info(device); });
  m.def("_cuda_memory_stats", [](int device) {
    return stats_dict(accelerator().memory_stats(device));
  });
  m.def("_cuda_memory_snapshot", &snapshot_list);
  m.def("_cuda_reset_peak_stats",
        [](int device) { accelerator().reset_peak_stats(device); });
  m.def("_cuda_reset_accumulated_stats",
        [](int device) { accelerator().reset_accumulated_stats(device); });
  m.def("_cuda_set_memory_fraction", [](int device, double fraction) {
    accelerator().set_memory_fraction(device, fraction);
  });
  m.def("_cuda_empty_cache", [] {
    if (DeviceTable::instance().loaded(DeviceType::kCUDA))
      accelerator().release_unused();
  });
  m.def("_is_pinned", &is_pinned);
  m.def("_pin_memory", &pin_memory);
}

}  // namespace

void init_accelerator(nb::module_& m) {
  m.def("_cuda_initialized", [] {
    return DeviceTable::instance().loaded(DeviceType::kCUDA) &&
           accelerator().initialized();
  });
  m.def("_cuda_init", [] { accelerator().initialize(); });
  m.def("_cuda_in_software", [] { return accelerator().in_software(); });
  m.def("_cuda_driver_version", [] { return accelerator().driver_version(); });
  m.def("_cuda_architectures", [] { return accelerator().architectures(); });
  m.def(
      "_cuda_libraries",
      [](const std::string& name) {
        nb::list out;
        for (const DeviceLibrary& l : accelerator().libraries(name)) {
          nb::dict row;
          row["name"] = l.name;
          row["version"] = l.version;
          row["path"] = l.path;
          row["why_not"] = l.why_not;
          out.append(row);
        }
        return out;
      },
      nb::arg("name") = "");
  m.def("_cuda_add_library_root", [](std::string folder) {
    accelerator().add_library_root(std::move(folder));
  });
  m.def("_cuda_fft_plans", [](int device) {
    const FftPlans plans = accelerator().fft_plans(device);
    return std::pair(plans.kept, plans.most);
  });
  m.def("_cuda_limit_fft_plans", [](int device, int64_t most) {
    accelerator().limit_fft_plans(device, most);
  });
  m.def("_set_allows_tf32", [](const std::string& kind, bool allows) {
    set_allows_tf32(kind == "conv" ? Tf32::kConv : Tf32::kMatmul, allows);
  });
  m.def("_set_allows_bf16",
        [](int family, bool allows) { set_allows_bf16(Bf16(family), allows); });
  m.def("_set_cudnn", [](bool enabled, bool benchmark, bool deterministic) {
    set_cudnn_settings({enabled, benchmark, deterministic});
  });
  m.def("_when_cuda_begins", [](nb::object call) {
    begin_call = call.release();
    set_begin_hook([] { with_interpreter([] { begin_call(); }); });
  });
  m.def("_cuda_current_device", [] { return accelerator().current_device(); });
  m.def("_cuda_set_device",
        [](int device) { accelerator().set_current_device(device); });
  m.def("_cuda_synchronize",
        [](int device) { accelerator().synchronize(device); });
  m.def("_cuda_properties", &properties_dict);
  m.def("_cuda_can_access_peer", [](int device, int peer) {
    return accelerator().can_access_peer(device, peer);
  });
  m.def("_cuda_stream_handle", [](const Stream& stream) {
    return accelerator().stream_handle(stream);
  });
  m.def("_cuda_external_stream", [](int device, uint64_t handle) {
    return accelerator().external_stream(device, handle);
  });
  m.def("_cuda_default_stream",
        [](int device) { return accelerator().default_stream(device); });
  m.def("_cuda_priority_range", [] { return accelerator().priority_range(); });
  m.def("_cuda_generator", [](int device) {
    Generator& generator = accelerator().default_generator(device);
    return nb::steal(
        generator_to_python(Value::from_object(Ref<Generator>(&generator))));
  });
  init_memory_functions(m);
}

}  // namespace hotaru::python
