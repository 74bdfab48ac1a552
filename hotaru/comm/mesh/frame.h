// Frames that travel between two ranks.
#pragma once

#include <cstdint>
#include <tuple>

namespace hotaru::comm {

enum class FrameKind : uint32_t {
  kData = 1,  // a message of an operation
  kOffer,     // a long message between two ranks waits for its receiver
  kGo,        // the receiver of a long message has memory for it
  kWaiting,   // the sender is in this operation; its text follows
  kFault,     // the sender gives up, for the reason that follows
  kBye,       // the sender leaves and has no more to say
};

/// Before every message; in the byte order of the machine, which both sides
/// have told each other. A message is known by all that stands in its Key; the
/// fingerprint is of what its operation does, and must be the receiver's.
struct Frame {
  static constexpr uint32_t kMagic = 0x31525448;  // "HTR1"
  /// Longer ones wait until the receiver has memory for them; and the longest
  /// text.
  static constexpr uint64_t kShort = 1 << 15, kMostText = 1 << 12;

  using Key = std::tuple<uint64_t, uint64_t, uint32_t, uint32_t>;

  uint32_t magic = kMagic;
  FrameKind kind = FrameKind::kData;
  uint64_t channel = 0;      // the group
  uint64_t number = 0;       // the operation of the group
  uint32_t tag = 0;          // of messages between two ranks
  uint32_t step = 0;         // the message of the operation, by its sender
  uint32_t fingerprint = 0;  // of the operation
  uint32_t reserved = 0;
  uint64_t wanted = 0;  // by who says kGo
  uint64_t bytes = 0;   // that follow

  Key key() const { return {channel, number, tag, step}; }
  bool valid() const {
    if (magic != kMagic) return false;
    switch (kind) {
      case FrameKind::kData:
        return true;
      case FrameKind::kOffer:
      case FrameKind::kGo:
      case FrameKind::kBye:
        return bytes == 0;
      case FrameKind::kWaiting:
      case FrameKind::kFault:
        return bytes <= kMostText;
    }
    return false;
  }
};
static_assert(sizeof(Frame) == 56);

}  // namespace hotaru::comm
