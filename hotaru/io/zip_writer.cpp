#include "hotaru/io/zip_writer.h"

#include <zlib.h>

#include <algorithm>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/zip_format.h"

namespace hotaru::io {

namespace {

constexpr uint64_t kAlignment = 64;
// 1 January 1980, the format's first day: archives of equal contents are
// equal, byte by byte.
constexpr uint16_t kDate = (0 << 9) | (1 << 5) | 1;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint32_t saturated(uint64_t value) {
  return uint32_t(std::min<uint64_t>(value, zip::kMax32));
}

bool needs_zip64(uint64_t value) {
  return value >= zip::kMax32;
}

}  // namespace

ZipWriter::ZipWriter(std::string path, std::string root)
    : path_(std::move(path)),
      root_(std::move(root)),
      file_(std::in_place, path_),
      sink_([this](std::string_view bytes) { file_->write(bytes); }) {}

ZipWriter::ZipWriter(Sink sink, std::string root)
    : path_("archive"), root_(std::move(root)), sink_(std::move(sink)) {}

void ZipWriter::write(std::string_view bytes) {
  sink_(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(std::string_view name, Bytes contents) {
  Entry entry;
  entry.name = concat(root_, "/", name);
  entry.offset = position_;
  entry.size = contents.size();
  entry.crc = uint32_t(crc32_z(
      0, reinterpret_cast<const Bytef*>(contents.data()), contents.size()));
  HOTARU_CHECK(entry.name.size() < zip::kMax16, path_,
               ": a record's name is too long");
  HOTARU_CHECK(names_.insert(entry.name).second, path_, ": record '", name,
               "' was written before");
  std::string extra;
  if (needs_zip64(entry.size)) {
    put(extra, zip::kZip64Extra);
    put<uint16_t>(extra, 16);
    put<uint64_t>(extra, entry.size);
    put<uint64_t>(extra, entry.size);
  }
  uint64_t unpadded =
      position_ + zip::kLocalHeaderSize + entry.name.size() + extra.size() + 4;
  uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  put(extra, zip::kPaddingExtra);
  put(extra, uint16_t(padding));
  extra.append(padding, 'Z');

  std::string header;
  put(header, zip::kLocalHeader);
  put(header, zip::kVersionNeeded);
  put(header, zip::kFlagUtf8);
  put(header, zip::kStored);
  put<uint16_t>(header, 0);
  put(header, kDate);
  put(header, entry.crc);
  put(header, saturated(entry.size));
  put(header, saturated(entry.size));
  put(header, uint16_t(entry.name.size()));
  put(header, uint16_t(extra.size()));
  write(header);
  write(entry.name);
  write(extra);
  write({reinterpret_cast<const char*>(contents.data()), contents.size()});
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::central_header(const Entry& entry) const {
  std::string extra;
  std::string wide;
  if (needs_zip64(entry.size)) {
    put<uint64_t>(wide, entry.size);
    put<uint64_t>(wide, entry.size);
  }
  if (needs_zip64(entry.offset)) put<uint64_t>(wide, entry.offset);
  if (!wide.empty()) {
    put(extra, zip::kZip64Extra);
    put(extra, uint16_t(wide.size()));
    extra += wide;
  }
  std::string out;
  put(out, zip::kCentralHeader);
  put(out, zip::kVersionNeeded);
  put(out, zip::kVersionNeeded);
  put(out, zip::kFlagUtf8);
  put(out, zip::kStored);
  put<uint16_t>(out, 0);
  put(out, kDate);
  put(out, entry.crc);
  put(out, saturated(entry.size));
  put(out, saturated(entry.size));
  put(out, uint16_t(entry.name.size()));
  put(out, uint16_t(extra.size()));
  put<uint16_t>(out, 0);  // comment
  put<uint16_t>(out, 0);  // disk
  put<uint16_t>(out, 0);  // internal attributes
  put<uint32_t>(out, 0);  // external attributes
  put(out, saturated(entry.offset));
  return out + entry.name + extra;
}

void ZipWriter::finish() {
  uint64_t offset = position_;
  for (const Entry& entry : entries_) write(central_header(entry));
  uint64_t size = position_ - offset;
  uint64_t count = entries_.size();
  std::string end;
  if (needs_zip64(offset) || needs_zip64(size) || count >= zip::kMax16) {
    uint64_t end64 = position_;
    put(end, zip::kZip64End);
    put<uint64_t>(end, zip::kZip64EndSize - 12);
    put(end, zip::kVersionNeeded);
    put(end, zip::kVersionNeeded);
    put<uint32_t>(end, 0);
    put<uint32_t>(end, 0);
    put(end, count);
    put(end, count);
    put(end, size);
    put(end, offset);
    put(end, zip::kZip64Locator);
    put<uint32_t>(end, 0);
    put(end, end64);
    put<uint32_t>(end, 1);
  }
  uint16_t short_count = uint16_t(std::min<uint64_t>(count, zip::kMax16));
  put(end, zip::kEnd);
  put<uint16_t>(end, 0);
  put<uint16_t>(end, 0);
  put(end, short_count);
  put(end, short_count);
  put(end, saturated(size));
  put(end, saturated(offset));
  put<uint16_t>(end, 0);
  write(end);
  if (file_) file_->finish();
}

}  // namespace hotaru::io
