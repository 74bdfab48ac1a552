#include "hotaru/backend/cuda/cupti/cupti_records.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "hotaru/core/printing/concat.h"

namespace hotaru::cuda {
namespace {

using namespace cupti;

// CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind, by the names that
// PyTorch's traces have for them.
constexpr const char* kWays[] = {"Unknown", "HtoD", "DtoH", "HtoA",
                                 "AtoH",    "AtoA", "AtoD", "DtoA",
                                 "DtoD",    "HtoH", "PtoP"};
constexpr const char* kPlaces[] = {"Unknown",       "Pageable",      "Pinned",
                                   "Device",        "Array",         "Managed",
                                   "Device Static", "Managed Static"};

template <size_t kCount>
const char* name_at(const char* const (&names)[kCount], size_t i) {
  return names[i < kCount ? i : 0];
}

/// Reads what all records have.
template <class R>
void read_place(const R& r, DeviceWork& work) {
  work.device = int(r.device);
  work.lane = int64_t(r.stream);
  work.start = int64_t(r.start);
  work.duration =
      r.start == 0 || r.end < r.start ? -1 : int64_t(r.end - r.start);
  work.correlation = r.correlation;
  work.graph = r.graph;
  work.graph_node = r.graph_node;
}

template <class R>
void read_copy(const R& r, DeviceWork& work) {
  read_place(r, work);
  work.kind = WorkKind::kCopy;
  work.bytes = int64_t(r.bytes);
  work.name =
      concat("Memcpy ", name_at(kWays, r.way), " (", name_at(kPlaces, r.from),
             " -> ", name_at(kPlaces, r.to), ")");
}

void read_fill(const FillRecord& r, DeviceWork& work) {
  read_place(r, work);
  work.kind = WorkKind::kFill;
  work.bytes = int64_t(r.bytes);
  work.name = concat("Memset (", name_at(kPlaces, r.memory), ")");
}

void read_kernel(const KernelRecord& r, DeviceWork& work) {
  read_place(r, work);
  work.kind = WorkKind::kKernel;
  std::copy(std::begin(r.grid), std::end(r.grid), work.grid.begin());
  std::copy(std::begin(r.block), std::end(r.block), work.block.begin());
  work.registers = r.registers;
  work.shared_memory = r.static_shared + r.dynamic_shared;
}

template <class R>
const R& as(const Record& record) {
  return reinterpret_cast<const R&>(record);
}

}  // namespace

const std::string& RecordReader::name_of(const char* symbol) {
  const auto [at, is_new] = names_.try_emplace(symbol);
  if (is_new && symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> plain(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
    at->second = plain ? plain.get() : symbol;
  }
  return at->second;
}

bool RecordReader::read(const Record& record, DeviceWork& work) {
  switch (record.kind) {
    case kKernel:
      read_kernel(as<KernelRecord>(record), work);
      work.name = name_of(as<KernelRecord>(record).name);
      return true;
    case kCopy:
      read_copy(as<CopyRecord>(record), work);
      return true;
    case kPeerCopy:
      read_copy(as<PeerCopyRecord>(record), work);
      return true;
    case kFill:
      read_fill(as<FillRecord>(record), work);
      return true;
    default:
      return false;
  }
}

}  // namespace hotaru::cuda
