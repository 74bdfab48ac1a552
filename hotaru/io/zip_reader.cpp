#include "hotaru/io/zip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "hotaru/core/checks/check.h"
#include "hotaru/io/byte_reader.h"
#include "hotaru/io/zip_format.h"

namespace hotaru::io {

namespace {

// Deflate stores at best 258 bytes in two bits.
constexpr uint64_t kMaxRatio = 1032;
// Limit of all deflated records of a file together, with so many bytes for each
// of the file's. PyTorch deflates source code alone; who packs an archive again
// deflates everything.
constexpr uint64_t kInflatedBase = uint64_t{80} << 20;
constexpr uint64_t kInflatedPerByte = 32;
constexpr size_t kMaxNameLength = 4096;

std::string_view printable(std::string_view name) {
  return name.substr(0, 80);
}

bool has_bad_component(std::string_view name) {
  while (!name.empty()) {
    size_t slash = name.find('/');
    std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
    if (name.empty()) return true;
  }
  return true;
}

// The 64-bit values of a zip64 extra field replace those that are saturated.
void apply_zip64(std::string_view extra, std::string_view what,
                 std::initializer_list<uint64_t*> values) {
  bool needed = std::any_of(values.begin(), values.end(),
                            [](uint64_t* v) { return *v == zip::kMax32; });
  if (!needed) return;
  ByteReader fields(std::as_bytes(std::span(extra)), what);
  while (fields.remaining() >= 4) {
    uint16_t id = fields.number<uint16_t>();
    ByteReader body(fields.take(fields.number<uint16_t>()), what);
    if (id != zip::kZip64Extra) continue;
    for (uint64_t* value : values)
      if (*value == zip::kMax32) *value = body.number<uint64_t>();
    return;
  }
}

}  // namespace

ZipReader::ZipReader(Ref<MappedFile> file, Root root) : file_(std::move(file)) {
  Directory directory = find_directory();
  read_directory(directory);
  check_overlaps(directory.offset);
  strip_root(root);
}

std::string ZipReader::where(const ZipRecord& record) const {
  return concat(file_->name(), ": record '", printable(record.name),
                "' at offset ", record.header_offset);
}

ZipReader::Directory ZipReader::find_directory() const {
  Bytes all = file_->bytes();
  const std::string& name = file_->name();
  constexpr unsigned char kLegacyPickle[] = {0x80, 0x02, 0x8a, 0x0a};
  if (all.size() >= sizeof kLegacyPickle &&
      std::memcmp(all.data(), kLegacyPickle, sizeof kLegacyPickle) == 0) {
    fail(name,
         ": this is PyTorch's file format from before version 1.6; "
         "load it in PyTorch and save it again");
  }
  HOTARU_CHECK(all.size() >= zip::kEndSize, name, ": ", all.size(),
               " bytes are too few for a zip archive");
  // The end record is followed by a comment of up to 65,535 bytes.
  uint64_t last = all.size() - zip::kEndSize;
  uint64_t first = last - std::min<uint64_t>(last, zip::kMax16);
  for (uint64_t at = last + 1; at-- > first;) {
    ByteReader end(all.subspan(at), name, at);
    if (end.number<uint32_t>() != zip::kEnd) continue;
    uint16_t disk = end.number<uint16_t>();
    uint16_t directory_disk = end.number<uint16_t>();
    uint16_t entries_here = end.number<uint16_t>();
    Directory found;
    found.entries = end.number<uint16_t>();
    found.size = end.number<uint32_t>();
    found.offset = end.number<uint32_t>();
    if (end.number<uint16_t>() != end.remaining()) continue;
    bool zip64 = found.entries == zip::kMax16 || found.size == zip::kMax32 ||
                 found.offset == zip::kMax32;
    uint64_t limit = at;
    if (at >= zip::kZip64LocatorSize + zip::kZip64EndSize) {
      uint64_t locator_at = at - zip::kZip64LocatorSize;
      ByteReader locator(all.subspan(locator_at, zip::kZip64LocatorSize), name,
                         locator_at);
      if (locator.number<uint32_t>() == zip::kZip64Locator) {
        locator.skip(4);
        uint64_t end64_at = locator.number<uint64_t>();
        HOTARU_CHECK(end64_at <= locator_at - zip::kZip64EndSize, name,
                     ": the zip64 end record is said to be at offset ",
                     end64_at, ", which leaves no room for it");
        ByteReader end64(all.subspan(end64_at, zip::kZip64EndSize), name,
                         end64_at);
        HOTARU_CHECK(end64.number<uint32_t>() == zip::kZip64End, name,
                     ": no zip64 end record at offset ", end64_at);
        end64.skip(8 + 2 + 2 + 4 + 4 + 8);
        Directory wide;
        wide.entries = end64.number<uint64_t>();
        wide.size = end64.number<uint64_t>();
        wide.offset = end64.number<uint64_t>();
        bool agrees =
            (found.entries == zip::kMax16 || found.entries == wide.entries) &&
            (found.size == zip::kMax32 || found.size == wide.size) &&
            (found.offset == zip::kMax32 || found.offset == wide.offset);
        HOTARU_CHECK(agrees, name,
                     ": the end record and the zip64 end record disagree");
        found = wide;
        entries_here = uint16_t(wide.entries);
        limit = end64_at;
        zip64 = false;
      }
    }
    HOTARU_CHECK(!zip64, name, ": the end record at offset ", at,
                 " asks for a zip64 record that is not there");
    HOTARU_CHECK((disk == 0 || disk == zip::kMax16) &&
                     (directory_disk == 0 || directory_disk == zip::kMax16) &&
                     entries_here == uint16_t(found.entries),
                 name, ": archives over several disks are not supported");
    HOTARU_CHECK(found.offset <= limit && found.size <= limit - found.offset,
                 name, ": the directory (offset ", found.offset, ", ",
                 found.size, " bytes) reaches beyond offset ", limit);
    HOTARU_CHECK(found.entries <= found.size / zip::kCentralHeaderSize, name,
                 ": a directory of ", found.size, " bytes cannot hold ",
                 found.entries, " records");
    return found;
  }
  fail(name, ": not a zip archive: no end-of-directory record");
}

void ZipReader::read_directory(const Directory& directory) {
  const std::string& name = file_->name();
  HOTARU_CHECK(directory.entries > 0, name, ": the archive is empty");
  ByteReader in(file_->bytes().subspan(directory.offset, directory.size), name,
                directory.offset);
  records_.reserve(directory.entries);
  uint64_t inflated = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    uint64_t at = in.offset();
    HOTARU_CHECK(in.number<uint32_t>() == zip::kCentralHeader, name,
                 ": no directory entry at offset ", at, " (entry ", i, " of ",
                 directory.entries, ")");
    in.skip(4);  // versions
    uint16_t flags = in.number<uint16_t>();
    uint16_t method = in.number<uint16_t>();
    in.skip(4);  // time and date
    ZipRecord record;
    record.crc = in.number<uint32_t>();
    record.stored_size = in.number<uint32_t>();
    record.size = in.number<uint32_t>();
    uint16_t name_size = in.number<uint16_t>();
    uint16_t extra_size = in.number<uint16_t>();
    uint16_t comment_size = in.number<uint16_t>();
    in.skip(2 + 2 + 4);  // disk, attributes
    record.header_offset = in.number<uint32_t>();
    record.name = in.text(name_size);
    std::string_view extra = in.text(extra_size);
    in.skip(comment_size);
    apply_zip64(extra, name,
                {&record.size, &record.stored_size, &record.header_offset});
    HOTARU_CHECK(name_size <= kMaxNameLength &&
                     record.name.find_first_of(std::string_view("\0\\", 2)) ==
                         std::string::npos &&
                     !has_bad_component(record.name),
                 name, ": directory entry at offset ", at,
                 " has an unusable name '", printable(record.name), "'");
    HOTARU_CHECK(!(flags & zip::kFlagEncrypted), where(record),
                 " is encrypted");
    HOTARU_CHECK(method == zip::kStored || method == zip::kDeflated,
                 where(record), " uses compression method ", method,
                 "; only stored (0) and deflate (8) are supported");
    record.deflated = method == zip::kDeflated;
    if (record.deflated) {
      HOTARU_CHECK(record.size / kMaxRatio <= record.stored_size, where(record),
                   " claims to inflate from ", record.stored_size, " to ",
                   record.size, " bytes, which deflate cannot do");
      inflated += record.size;
      const uint64_t most = kInflatedBase + kInflatedPerByte * file_->size();
      HOTARU_CHECK(inflated <= most, name,
                   ": compressed records would inflate to more than ", most,
                   " bytes; the last one read is '", printable(record.name),
                   "'");
    } else {
      HOTARU_CHECK(record.size == record.stored_size, where(record),
                   " is stored, but its two sizes are ", record.stored_size,
                   " and ", record.size);
    }
    check_local_header(record, flags);
    records_.push_back(std::move(record));
  }
  HOTARU_CHECK(in.remaining() == 0, name, ": ", in.remaining(),
               " bytes follow the directory's last entry");
}

void ZipReader::check_local_header(ZipRecord& record, uint16_t flags) const {
  Bytes all = file_->bytes();
  HOTARU_CHECK(record.header_offset <= all.size() &&
                   all.size() - record.header_offset >= zip::kLocalHeaderSize,
               where(record), " lies beyond the file's ", all.size(), " bytes");
  ByteReader in(all.subspan(record.header_offset), file_->name(),
                record.header_offset);
  HOTARU_CHECK(in.number<uint32_t>() == zip::kLocalHeader, where(record),
               " has no local header there");
  in.skip(2);
  uint16_t local_flags = in.number<uint16_t>();
  uint16_t method = in.number<uint16_t>();
  in.skip(4);
  uint32_t crc = in.number<uint32_t>();
  uint64_t stored_size = in.number<uint32_t>();
  uint64_t size = in.number<uint32_t>();
  uint16_t name_size = in.number<uint16_t>();
  uint16_t extra_size = in.number<uint16_t>();
  std::string_view name = in.text(name_size);
  apply_zip64(in.text(extra_size), file_->name(), {&size, &stored_size});
  bool later = (flags & zip::kFlagDescriptor) != 0;
  bool sizes_agree = size == record.size && stored_size == record.stored_size &&
                     crc == record.crc;
  bool left_out = later && crc == 0 && size == 0 && stored_size == 0;
  // Python's zipfile that appends writes the directory anew, and says no more
  // of plain names that they are UTF-8.
  const bool flags_agree = ((local_flags ^ flags) & ~zip::kFlagUtf8) == 0;
  HOTARU_CHECK(name == record.name && flags_agree &&
                   (method == zip::kDeflated) == record.deflated &&
                   (sizes_agree || left_out),
               where(record), ": the directory and the local header disagree");
  record.offset = in.offset();
  HOTARU_CHECK(record.stored_size <= in.remaining(), where(record), " of ",
               record.stored_size, " bytes reaches beyond the file's ",
               all.size(), " bytes");
}

void ZipReader::check_overlaps(uint64_t directory_offset) const {
  std::vector<const ZipRecord*> order;
  order.reserve(records_.size());
  for (const ZipRecord& record : records_) order.push_back(&record);
  std::sort(order.begin(), order.end(),
            [](const ZipRecord* a, const ZipRecord* b) {
              return a->header_offset < b->header_offset;
            });
  for (size_t i = 0; i < order.size(); ++i) {
    uint64_t end = order[i]->offset + order[i]->stored_size;
    uint64_t limit =
        i + 1 < order.size() ? order[i + 1]->header_offset : directory_offset;
    HOTARU_CHECK(end <= limit, where(*order[i]), " ends at ", end,
                 ", over what begins at ", limit);
  }
}

// Removes the common root folder from the names.
void ZipReader::strip_root(Root root) {
  std::string_view first = records_[0].name;
  size_t slash = first.find('/');
  if (root == Root::kOptional && slash == std::string_view::npos)
    return index();
  HOTARU_CHECK(slash != std::string_view::npos, where(records_[0]),
               " lies in no folder; not a PyTorch archive");
  root_ = first.substr(0, slash);
  std::string prefix = root_ + "/";
  for (ZipRecord& record : records_) {
    HOTARU_CHECK(record.name.starts_with(prefix), where(record),
                 " lies outside of the archive's root folder '", root_, "'");
    record.name.erase(0, prefix.size());
  }
  index();
}

void ZipReader::index() {
  by_name_.reserve(records_.size());
  for (size_t i = 0; i < records_.size(); ++i) {
    HOTARU_CHECK(by_name_.emplace(records_[i].name, i).second,
                 where(records_[i]), " occurs twice");
  }
}

const ZipRecord* ZipReader::find(std::string_view name) const {
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &records_[found->second];
}

const ZipRecord& ZipReader::get(std::string_view name) const {
  const ZipRecord* record = find(name);
  HOTARU_CHECK(record, file_->name(), ": the archive has no record '",
               printable(name), "'");
  return *record;
}

void ZipReader::check_crc(const ZipRecord& record, Bytes contents) const {
  uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(contents.data()),
                      contents.size());
  HOTARU_CHECK(crc == record.crc, where(record),
               " is damaged: its checksum (CRC-32) is ", crc, " instead of ",
               record.crc);
}

Bytes ZipReader::stored(const ZipRecord& record) const {
  Bytes contents = unverified(record);
  check_crc(record, contents);
  return contents;
}

Bytes ZipReader::unverified(const ZipRecord& record) const {
  HOTARU_CHECK(!record.deflated, where(record),
               " is compressed, but must be stored");
  return file_->bytes().subspan(record.offset, record.size);
}

std::string ZipReader::read(const ZipRecord& record) const {
  if (!record.deflated) {
    Bytes contents = stored(record);
    return std::string(reinterpret_cast<const char*>(contents.data()),
                       contents.size());
  }
  constexpr uint64_t kMaxInput = std::numeric_limits<uInt>::max();
  HOTARU_CHECK(record.stored_size <= kMaxInput && record.size <= kMaxInput,
               where(record),
               ": compressed records of 4 GiB and more are not "
               "supported");
  std::string out(record.size, '\0');
  z_stream stream = {};
  HOTARU_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, where(record),
               ": cannot start to inflate");
  stream.next_in = const_cast<Bytef*>(
      reinterpret_cast<const Bytef*>(file_->data() + record.offset));
  stream.avail_in = static_cast<uInt>(record.stored_size);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  int status = inflate(&stream, Z_FINISH);
  bool complete =
      status == Z_STREAM_END && stream.avail_in == 0 && stream.avail_out == 0;
  inflateEnd(&stream);
  HOTARU_CHECK(complete, where(record),
               " is damaged: it does not inflate to its ", record.size,
               " bytes");
  check_crc(record, std::as_bytes(std::span(out)));
  return out;
}

}  // namespace hotaru::io
