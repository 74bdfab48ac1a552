// The messages between a TCP store and its clients: PyTorch's, so that either
// side can be PyTorch's own. A byte that says what, then numbers in the
// machine's order, and strings behind their lengths (8 bytes).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hotaru::comm {

enum class Query : uint8_t {
  kValidate,  // the number below; no answer
  kSet,
  kCompareSet,
  kGet,
  kAdd,
  kCheck,
  kWait,
  kNumKeys,
  kDeleteKey,
  kAppend,
  kMultiGet,
  kMultiSet,
  kCancelWait,
  kPing,  // 4 bytes, which come back
  kQueuePush,
  kQueuePop,  // a count, 0 or 1, and so many values
  kQueueLen,
  kListKeys,
  kBarrier,  // how many have to come; answered as kWait
};
inline constexpr uint32_t kStoreMagic = 0x3C85F7CE;
// Answers of kCheck and kWait.
inline constexpr uint8_t kReady = 0, kNotReady = 1;
inline constexpr uint8_t kStopWaiting = 0, kWaitCanceled = 1;
// Limits of what a server takes from a client.
inline constexpr uint64_t kMaxKeys = 128 << 10;
inline constexpr uint64_t kMaxKeyBytes = 8 << 10;
inline constexpr uint64_t kMaxValueBytes = 8 << 20;

/// A message in the making.
class Message {
 public:
  Message() = default;
  explicit Message(Query query) { number(query); }

  template <class T>
  Message& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Message& text(std::string_view value) {
    number(uint64_t(value.size()));
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace hotaru::comm
