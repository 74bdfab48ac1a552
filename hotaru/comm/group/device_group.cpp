#include "hotaru/comm/group/device_group.h"

#include <array>
#include <cstring>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/error.h"
#include "hotaru/core/host.h"
#include "hotaru/runtime/accelerator.h"

namespace hotaru::comm {

using Kind = CollectiveKind;

namespace {

// Tag of the messages in which two ranks agree on a communicator; no program's.
constexpr uint32_t kKeyTag = 0xFFFFFF00;

Tensor bytes_of(const std::string& text) {
  const std::array size{int64_t(text.size())};
  Tensor out = allocate(size, DType::kUInt8, {});
  std::memcpy(host_bytes(out, "c10d"), text.data(), text.size());
  return out;
}
std::string string_of(const Tensor& bytes) {
  return {host_data<const char>(bytes, "c10d"), size_t(bytes.numel())};
}

/// Sizes of what a rank tells the others before they connect: the key, where it
/// is the one that makes it, and which device it has.
constexpr size_t kKeyBytes = 256, kPlaceBytes = 64;

std::string padded(std::string text, size_t bytes) {
  text.resize(bytes, '\0');
  return text;
}

}  // namespace

DeviceGroup::DeviceGroup(ProcessGroup& group)
    : group_(group),
      channel_(group.mesh()->open(concat(group.name(), "/devices"),
                                  group.ranks(), group.rank())),
      watch_(std::make_unique<DeviceWatch>(group.mesh(), channel_)) {}

DeviceGroup::~DeviceGroup() {
  if (watch_->left_behind())
    (void)watch_.release();  // NOLINT: what waits in there stayed behind, too
  else
    watch_->stop();
  group_.mesh()->shut(*channel_);
}

void DeviceGroup::connect(Device device) {
  link(device, -1);
}

const DeviceGroup::Link& DeviceGroup::link(Device device, int peer) {
  const Key key{device.index, peer};
  std::unique_lock lock(mutex_);
  // Only one of the threads that need a link at once connects.
  connected_.wait(lock, [&] { return !connecting_.contains(key); });
  if (const auto found = links_.find(key); found != links_.end())
    return found->second;
  connecting_.insert(key);
  lock.unlock();
  std::optional<Link> made;
  std::exception_ptr error;
  try {
    made = make_link(device, peer);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  connecting_.erase(key);
  connected_.notify_all();
  if (error) std::rethrow_exception(error);
  return links_.emplace(key, std::move(*made)).first->second;
}

DeviceGroup::Link DeviceGroup::make_link(Device device, int peer) {
  Accelerator& there = accelerator(device.type);
  const std::string key = exchange_key(device, peer);
  const bool pair = peer >= 0;
  const int rank = pair ? int(group_.rank() > peer) : group_.rank();
  return {there.make_communicator(key, rank, pair ? 2 : group_.size(),
                                  device.index),
          there.make_stream(device.index, 0)};
}

/// Throws, and has the others told, where the library is missing.
void DeviceGroup::check_library(Device device) {
  for (const DeviceLibrary& found :
       accelerator(device.type).libraries("NCCL")) {
    if (found.why_not.empty()) continue;
    const std::string why = concat(
        "tensors of ", device.str(), " need NCCL: ", found.why_not,
        ". It is in the package nvidia-nccl-cu13 (or -cu12); the backend "
        "'gloo' goes by the host's memory and needs none.");
    group_.mesh()->give_up(
        *group_.channel(),
        concat("on rank ", group_.mesh()->rank(), ", ", why));
    throw Error(why);
  }
}

namespace {

void check_places(const std::vector<std::string>& cards, Device device) {
  for (size_t i = 0; i < cards.size(); ++i)
    for (size_t j = i + 1; j < cards.size(); ++j)
      HOTARU_CHECK_AS(
          ValueError, cards[i].substr(kKeyBytes) != cards[j].substr(kKeyBytes),
          "ranks ", i, " and ", j, " of the group use the same GPU (",
          cards[i].substr(kKeyBytes).c_str(), ", here ", device.str(),
          "): each needs one of its own, chosen by "
          "torch.cuda.set_device(local_rank)");
}

}  // namespace

/// Every rank's card, so that all have come before the library waits for them
/// without an end; the key is the first one's.
std::string DeviceGroup::exchange_key(Device device, int peer) {
  check_library(device);
  const bool pair = peer >= 0;
  Accelerator& there = accelerator(device.type);
  const bool first = pair ? group_.rank() < peer : group_.rank() == 0;
  const std::string mine =
      padded(first ? there.communicator_key() : "", kKeyBytes) +
      padded(there.properties(device.index).uuid, kPlaceBytes);
  std::vector<std::string> cards;
  try {
    for (const Tensor& card : exchange(bytes_of(mine), peer))
      cards.push_back(string_of(card));
  } catch (const DistBackendError& error) {
    throw DistBackendError(
        concat("connecting ", device.str(), " with ",
               pair ? concat("rank ", peer) : std::string("all ranks"),
               ", which call a collective for that: ", error.what()));
  }
  if (pair) cards.insert(first ? cards.begin() : cards.end(), mine);
  if (!there.in_software()) check_places(cards, device);
  return cards[0].substr(0, kKeyBytes);
}

/// The other rank's bytes, or everybody's.
std::vector<Tensor> DeviceGroup::exchange(const Tensor& mine, int peer) {
  std::vector<Tensor> theirs;
  const size_t count = peer >= 0 ? 1 : size_t(group_.size());
  for (size_t i = 0; i < count; ++i)
    theirs.push_back(allocate(mine.sizes(), DType::kUInt8, {}));
  if (peer < 0) {
    group_.issue(
        {.kind = Kind::kAllGather, .inputs = {mine}, .outputs = theirs});
    return theirs;
  }
  const Work sent = group_.issue({.kind = Kind::kSend,
                                  .inputs = {mine},
                                  .root = peer,
                                  .tag = kKeyTag,
                                  .async = true});
  group_.issue({.kind = Kind::kReceive,
                .outputs = theirs,
                .root = peer,
                .tag = kKeyTag});
  sent.wait();
  return theirs;
}

Work DeviceGroup::issue(const Collective& collective, IssuedCollective issued,
                        std::vector<Operand> operands) {
  const Device device = operands.front().tensor->device();
  const bool message = is_message(collective.kind);
  HOTARU_CHECK_AS(ValueError, !message || collective.root != kAnyRank,
                  name_of(collective.kind), ": tensors of ", device.str(),
                  " are received from a rank that is named");
  Mesh& mesh = *group_.mesh();
  if (const std::exception_ptr error = mesh.failure(*group_.channel()))
    std::rethrow_exception(error);
  const Link& link = this->link(device, message ? collective.root : -1);
  if (const std::exception_ptr error = link.communicator->error())
    std::rethrow_exception(error);
  WatchedCollective watched{
      .communicator = link.communicator,
      .what = text_of(operands, issued),
      .peers = message ? std::vector{collective.root} : collective.peers,
      .timeout = issued.timeout};
  // Ranks of a pair: the lower one is 0.
  if (message) issued.root = int(group_.rank() < collective.root);
  operands.push_back(update(*link.communicator));
  const KernelCall call(kernel_of(collective.kind), operands, issued);
  const Stream here = current_stream(device);
  if (here.diverted()) {
    here.enqueue(call);
    return {};
  }
  // Others do not take part in messages, which so have no number.
  if (watched.peers.empty())
    watched.number = mesh.note(*channel_, watched.what);
  const Stream& stream = collective.async ? link.stream : here;
  stream.enqueue(call);
  Event event(false, device);
  stream.record(event);
  watched.event = event;
  watch_->add(std::move(watched));
  return {stream, std::move(event),
          std::make_shared<const int>(message ? collective.root : -1),
          link.communicator};
}

void DeviceGroup::synchronize() {
  std::vector<Link> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, link] : links_) all.push_back(link);
  }
  for (const Link& link : all) {
    const Device device = link.communicator->device();
    accelerator(device.type).synchronize(device.index);
    if (const std::exception_ptr error = link.communicator->error())
      std::rethrow_exception(error);
  }
}

void DeviceGroup::shut() {
  try {
    synchronize();
  } catch (const Error&) {  // what was aborted is closed, too
  }
  std::map<Key, Link> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(links_);
  }
  for (const auto& [key, link] : all) link.communicator->close();
}

}  // namespace hotaru::comm
