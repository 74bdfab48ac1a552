#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "hotaru/core/error.h"
#include "hotaru/io/zip_reader.h"
#include "hotaru/io/zip_writer.h"

namespace hotaru::io {
namespace {

std::string temporary(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) /
          (name + std::to_string(::getpid())))
      .string();
}

std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::byte> out(text.size());
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}

// A small archive, as bytes to damage.
std::vector<std::byte> sample() {
  std::string path = temporary("zip_sample");
  ZipWriter writer(path, "root");
  writer.add("version", "3\n");
  writer.add("data/0", std::string(100, 'x'));
  writer.add("data/1", "y");
  writer.finish();
  std::vector<std::byte> bytes = file_bytes(path);
  std::filesystem::remove(path);
  return bytes;
}

ZipReader open(std::vector<std::byte> bytes) {
  return ZipReader(MappedFile::from_bytes(std::move(bytes), "test.pt"));
}

std::string error_of(std::vector<std::byte> bytes) {
  try {
    ZipReader reader = open(std::move(bytes));
    for (const ZipRecord& record : reader.records()) reader.read(record);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

size_t find(const std::vector<std::byte>& bytes, std::string_view what,
            size_t from = 0) {
  std::string_view all(reinterpret_cast<const char*>(bytes.data()),
                       bytes.size());
  return all.find(what, from);
}

void put32(std::vector<std::byte>& bytes, size_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

TEST(Zip, RoundTripIsAlignedAndComplete) {
  ZipReader reader = open(sample());
  EXPECT_EQ(reader.root(), "root");
  ASSERT_EQ(reader.records().size(), 3u);
  EXPECT_EQ(reader.read(reader.get("version")), "3\n");
  const ZipRecord& data = reader.get("data/0");
  EXPECT_EQ(data.offset % 64, 0u);
  EXPECT_EQ(reader.stored(data).size(), 100u);
  EXPECT_EQ(reader.find("data/2"), nullptr);
  EXPECT_THROW(reader.get("data/2"), Error);
}

TEST(Zip, StoredRecordsAreNotCopied) {
  Ref<MappedFile> file = MappedFile::from_bytes(sample(), "test.pt");
  ZipReader reader(file);
  const ZipRecord& data = reader.get("data/0");
  EXPECT_EQ(reader.stored(data).data(), file->data() + data.offset);
}

TEST(Zip, UnfinishedArchiveLeavesNothingBehind) {
  std::string path = temporary("zip_unfinished");
  {
    ZipWriter writer(path, "root");
    writer.add("version", "3\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Zip, EveryTruncationIsRejected) {
  std::vector<std::byte> bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + size);
    EXPECT_NE(error_of(cut), "") << "cut to " << size;
  }
}

TEST(Zip, EveryFlippedPayloadBitIsACrcError) {
  std::vector<std::byte> bytes = sample();
  size_t payload = open(bytes).get("data/0").offset;
  for (size_t i = 0; i < 100; ++i) {
    std::vector<std::byte> damaged = bytes;
    damaged[payload + i] ^= std::byte{1};
    EXPECT_NE(error_of(damaged).find("CRC"), std::string::npos);
  }
}

// One field of the directory or a local header changed at a time.
TEST(Zip, DisagreementsAreRejected) {
  std::vector<std::byte> bytes = sample();
  size_t local = find(bytes, "root/data/0") - 30;
  size_t central = find(bytes, "root/data/0", local + 60) - 46;
  struct Damage {
    const char* what;
    size_t at;
    uint32_t value;
    const char* text;
  };
  const Damage damages[] = {
      {"local crc", local + 14, 1, "disagree"},
      {"local size", local + 22, 99, "disagree"},
      {"local signature", local, 0, "no local header"},
      {"local name", local + 30, 0x41414141, "disagree"},
      {"central size", central + 24, 101, "two sizes"},
      {"header beyond the file", central + 42, 0x7fffffff, "beyond"},
      {"header of another record", central + 42, 0, "disagree"},
  };
  for (const Damage& damage : damages) {
    std::vector<std::byte> damaged = bytes;
    put32(damaged, damage.at, damage.value);
    std::string error = error_of(damaged);
    EXPECT_NE(error.find(damage.text), std::string::npos)
        << damage.what << ": " << error;
    EXPECT_NE(error.find("test.pt"), std::string::npos) << damage.what;
  }
}

// Python's zipfile, from 3.13 on, writes so what others appended to.
TEST(Zip, ADirectoryMayNotSayThatPlainNamesAreUtf8) {
  std::vector<std::byte> bytes = sample();
  const size_t local = find(bytes, "root/data/0") - 30;
  const size_t central = find(bytes, "root/data/0", local + 60) - 46;
  constexpr std::byte kUtf8{0x08};  // of the second byte
  ASSERT_NE(bytes[local + 7] & kUtf8, std::byte{0});
  bytes[central + 9] &= ~kUtf8;
  EXPECT_EQ(error_of(bytes), "");
  bytes[central + 8] ^= std::byte{0x02};
  EXPECT_NE(error_of(bytes).find("disagree"), std::string::npos);
}

TEST(Zip, RecordsMustNotOverlap) {
  std::vector<std::byte> bytes = sample();
  size_t local = find(bytes, "root/version") - 30;
  size_t central = find(bytes, "root/version", local + 60) - 46;
  // The first record is said, in both places, to reach over the second.
  for (size_t at : {local + 18, local + 22, central + 20, central + 24})
    put32(bytes, at, 150);
  EXPECT_NE(error_of(bytes).find("over what begins"), std::string::npos);
}

TEST(Zip, DuplicatesAndSecondRootsAreRejected) {
  std::vector<std::byte> twice = sample();
  for (size_t at = find(twice, "root/data/1"); at != std::string::npos;
       at = find(twice, "root/data/1", at + 1))
    std::memcpy(twice.data() + at, "root/data/0", 11);
  EXPECT_NE(error_of(twice).find("occurs twice"), std::string::npos);
  std::vector<std::byte> roots = sample();
  for (size_t at = find(roots, "root/data/0"); at != std::string::npos;
       at = find(roots, "root/data/0", at + 1))
    std::memcpy(roots.data() + at, "toor", 4);
  EXPECT_NE(error_of(roots).find("outside of the archive's root"),
            std::string::npos);
  ZipWriter writer(temporary("zip_twice"), "root");
  writer.add("a", "1");
  EXPECT_THROW(writer.add("a", "2"), Error);
}

TEST(Zip, NamesThatLeaveTheArchiveAreRejected) {
  for (const char* name :
       {"root/../../x", "/oot/data/0", "root//ata/0", "root/da\\a/0"}) {
    std::vector<std::byte> bytes = sample();
    for (size_t at = find(bytes, "root/data/0"); at != std::string::npos;
         at = find(bytes, "root/data/0", at + 1))
      std::memcpy(bytes.data() + at, name, 11);
    EXPECT_NE(error_of(bytes), "") << name;
  }
}

TEST(Zip, OldFormatIsNamed) {
  std::vector<std::byte> bytes(200);
  const unsigned char magic[] = {0x80, 0x02, 0x8a, 0x0a};
  std::memcpy(bytes.data(), magic, sizeof magic);
  EXPECT_NE(error_of(bytes).find("before version 1.6"), std::string::npos);
}

TEST(MappedFile, WritesStayInMemory) {
  std::string path = temporary("mapped");
  std::ofstream(path) << "abc";
  Ref<MappedFile> file = MappedFile::open(path);
  file->data()[0] = std::byte{'x'};
  EXPECT_EQ(file_bytes(path)[0], std::byte{'a'});
  std::filesystem::remove(path);
  EXPECT_THROW(MappedFile::open(path), Error);
  EXPECT_THROW(MappedFile::open("/"), ValueError);
}

}  // namespace
}  // namespace hotaru::io
