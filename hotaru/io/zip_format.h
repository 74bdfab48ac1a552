// Constants of the zip format (PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5).
#pragma once

#include <cstdint>

namespace hotaru::io::zip {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kCentralHeader = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kZip64End = 0x06064b50;
constexpr uint32_t kZip64Locator = 0x07064b50;

constexpr uint64_t kLocalHeaderSize = 30;
constexpr uint64_t kCentralHeaderSize = 46;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kZip64EndSize = 56;
constexpr uint64_t kZip64LocatorSize = 20;

constexpr uint16_t kZip64Extra = 0x0001;
/// PyTorch's padding field, "FB".
constexpr uint16_t kPaddingExtra = 0x4246;

constexpr uint16_t kMax16 = 0xFFFF;
constexpr uint32_t kMax32 = 0xFFFFFFFF;

constexpr uint16_t kFlagEncrypted = 1 << 0;
/// Sizes and CRC follow the payload; the local header holds zeros.
constexpr uint16_t kFlagDescriptor = 1 << 3;
constexpr uint16_t kFlagUtf8 = 1 << 11;

constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

/// Version 4.5: zip64.
constexpr uint16_t kVersionNeeded = 45;

}  // namespace hotaru::io::zip
