#include "hotaru/graph/program/program.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "hotaru/core/checks/check.h"
#include "hotaru/graph/program/order.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"
#include "hotaru/runtime/threads/admission.h"
#include "hotaru/runtime/threads/blocking.h"
#include "hotaru/runtime/threads/parallel.h"

namespace hotaru::graph {

// Bytes that a program touches from which a run takes long.
static constexpr size_t kLongBytes = 1 << 17;

Arena::Arena(size_t nbytes, Device device)
    : memory_(allocate(Dims{int64_t(nbytes)}, DType::kUInt8, device)),
      data_(static_cast<char*>(memory_.raw_data())) {}

Ref<Arena> Pool::arena(size_t nbytes, Device device) {
  const std::lock_guard lock(mutex_);
  auto at = std::find_if(arenas_.begin(), arenas_.end(), [&](auto& arena) {
    return arena->memory().device() == device;
  });
  if (at == arenas_.end())
    at = arenas_.insert(at, make_ref<Arena>(nbytes, device));
  else if ((*at)->nbytes() < nbytes)
    *at = make_ref<Arena>(nbytes, device);
  return *at;
}

GraphScratch& Pool::scratch(Device device) {
  return scratch_[device.index];
}

Pool::Turn::Turn(Pool& pool) : pool_(pool) {
  if (pool_.turn_.try_lock()) [[likely]]
    return;
  const BlockingRegion region;
  pool_.turn_.lock();
}

Pool::Turn::~Turn() {
  pool_.turn_.unlock();
}

Program::Program(Region region, Ref<Pool> pool)
    : device_(region.device), pool_(std::move(pool)) {
  std::optional<CallOrder> order;
  if (!device_.is_cpu()) order = order_of(region.nodes);
  plan_ = order ? plan_memory(region, *order) : plan_memory(region);
  nodes_ = std::move(region.nodes);
  once_ = std::move(region.once);
  stretches_ = std::move(region.stretches);
  if (plan_.nbytes > 0)
    arena_ = plan_.renewed ? make_ref<Arena>(plan_.nbytes, device_)
                           : pool_->arena(plan_.nbytes, device_);
  for (const Placement& value : plan_.placements)
    value.storage->place(arena_->data() + value.offset, arena_);
  is_long_ = touched_bytes() >= kLongBytes;
  collect_operands();
  watch();
  prepare();
  calls_.dependent_launch = region.dependent_launch;
  if (order) make_graph(std::move(*order));
}

size_t Program::touched_bytes() const {
  size_t total = 0;
  for (const auto& node : nodes_)
    for (const Operand& operand : node->call().operands())
      if (!operand.object && operand.tensor->defined())
        total +=
            size_t(operand.tensor->numel()) * itemsize(operand.tensor->dtype());
  return total;
}

void Program::make_graph(CallOrder order) {
  for (const auto& node : nodes_) calls_.calls.push_back(&node->call());
  calls_.order = std::move(order);
  const Pool::Turn turn(*pool_);
  graph_ = DeviceTable::instance()
               .backend(device_.type)
               .make_graph(device_.index, calls_, pool_->scratch(device_));
  if (!graph_) return;
  steps_.clear();
  memory_ = graph_->memory();
  for (const Tensor& memory : memory_) operands_.push_back(update(memory));
}

void Program::prepare() {
  // Results without memory get theirs.
  places_.clear();
  for (const Operand& operand : operands_) {
    if (operand.object) continue;
    const Storage* storage = operand.tensor->storage().get();
    places_.push_back({storage, storage->data(), storage->nbytes()});
  }
  once_steps_ = prepared(once_);
  if (!graph_) steps_ = prepared(nodes_);
}

Program::Steps Program::prepared(const Nodes& nodes) const {
  Steps steps;
  steps.reserve(nodes.size());
  for (const auto& node : nodes) {
    const Kernel& kernel = node->call().kernel();
    steps.push_back({kernel.on(device_.type), &node->call(),
                     kernel.prepare(device_.type, node->call())});
  }
  return steps;
}

void Program::watch() {
  std::vector<Ref<Ordered>> objects;
  std::unordered_set<const Ordered*> made;
  for (const auto& node : once_)
    for (const Operand& operand : node->call().operands()) {
      if (operand.writes()) {
        made.insert(ordered_of(operand));
      } else if (ordered_of(operand) && !made.contains(ordered_of(operand))) {
        objects.emplace_back(operand.tensor->storage().get());
        sources_.push_back(operand.tensor->storage().get());
      }
    }
  if (!once_.empty()) watch_.emplace(std::move(objects));
}

size_t Program::kept_bytes() const {
  size_t total = 0;
  for (const auto& node : once_)
    for (const Operand& operand : node->call().operands())
      if (operand.writes()) total += operand.tensor->storage()->nbytes();
  return total;
}

void Program::follow_moves() {
  bool moved = false;
  for (const Place& place : places_) {
    if (place.storage->data() == place.data &&
        place.storage->nbytes() == place.nbytes) [[likely]]
      continue;
    HOTARU_CHECK(place.storage->nbytes() >= place.nbytes,
                 "a tensor that a graph uses was resized from ", place.nbytes,
                 " to ", place.storage->nbytes(), " bytes");
    moved = true;
  }
  if (!moved) return;
  if (graph_) return tell_moves();
  prepare();
  if (watch_) watch_->set();
}

void Program::tell_moves() {
  std::vector<const Storage*> moved;
  for (Place& place : places_) {
    if (place.storage->data() != place.data) moved.push_back(place.storage);
    place.data = place.storage->data();
    place.nbytes = place.storage->nbytes();
  }
  graph_->follow_moves(moved);
}

void Program::collect_operands() {
  std::unordered_map<const Ordered*, size_t> index;
  for (const Placement& value : plan_.placements)
    if (!value.renewed) index.emplace(value.storage, SIZE_MAX);
  const auto add = [&](const Operand& operand) {
    const auto [at, fresh] =
        index.try_emplace(ordered_of(operand), operands_.size());
    if (at->second == SIZE_MAX) return;
    if (fresh)
      operands_.push_back(operand);
    else if (operands_[at->second].access != operand.access)
      operands_[at->second].access = Access::kReadWrite;
  };
  const auto for_each = [](const Nodes& nodes, const auto& f) {
    for (const auto& node : nodes)
      for (const Operand& operand : node->call().operands())
        if (ordered_of(operand)) f(operand);
  };
  for_each(once_, [&](const Operand& operand) {
    operand.writes() ? void(index.emplace(ordered_of(operand), SIZE_MAX))
                     : add(operand);
  });
  for_each(nodes_, add);
  // The CPU's replays wait for their turn.
  if (arena_ && !device_.is_cpu())
    operands_.push_back(update(arena_->memory()));
}

template <class Done>
void Program::run_all(std::span<const Step> steps, const Done& done) {
  const Step* step = steps.data();
  const Step* const end = step + steps.size();
  try {
    for (; step != end; ++step) {
      step->prepared ? step->prepared->run() : step->function(*step->call);
      done();
    }
  } catch (...) {
    std::rethrow_exception(with_call("a graph's call", *step->call));
  }
}

void Program::keep_up() {
  // Reset first: a write that comes later is seen by the next replay.
  watch_->reset();
  try {
    run_all(once_steps_, [] {});
  } catch (...) {
    watch_->set();
    throw;
  }
  for (const Storage* source : sources_)
    if (source->exposed()) watch_->set();
}

void Program::settle() {
  follow_moves();
  if (watch_ && watch_->changed()) [[unlikely]]
    keep_up();
}

void Program::run_branches(const Stretch& stretch) {
  const std::vector<size_t>& begins = stretch.begins;
  parallel_for(0, int64_t(begins.size()), 1, [&](int64_t begin, int64_t end) {
    for (size_t i = size_t(begin); i < size_t(end); ++i) {
      const size_t next = i + 1 < begins.size() ? begins[i + 1] : stretch.end;
      run_all({&steps_[begins[i]], next - begins[i]}, [] {});
    }
  });
}

void Program::run() {
  const Pool::Turn turn(*pool_);
  std::optional<AdmittedCall> call;
  if (is_long_ && !graph_) call.emplace();
  settle();
  if (graph_) return graph_->launch();
  const std::span<const Step> steps(steps_);
  size_t at = 0;
  for (const Stretch& stretch : stretches_) {
    run_all(steps.subspan(at, stretch.begins.front() - at), [] {});
    run_branches(stretch);
    at = stretch.end;
  }
  run_all(steps.subspan(at), [] {});
}

std::vector<NodeTime> Program::timed_run() {
  const auto now = [] {
    return std::chrono::steady_clock::now().time_since_epoch() /
           std::chrono::nanoseconds(1);
  };
  std::vector<NodeTime> times;
  times.reserve(steps_.size());
  const Pool::Turn turn(*pool_);
  settle();
  if (graph_) return graph_->timed_launch();
  int64_t start = now();
  run_all(steps_, [&] {
    const int64_t end = now();
    times.push_back({start, end - start});
    start = end;
  });
  return times;
}

}  // namespace hotaru::graph
