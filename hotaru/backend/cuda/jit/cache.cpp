#include "hotaru/backend/cuda/jit/cache.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "hotaru/core/checks/check.h"

namespace hotaru::cuda::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "hotaruK1", kSuffix = ".kernel",
                           kUnfinished = ".new";

/// FNV-1a, 64 bits (Fowler, Noll and Vo).
uint64_t hash_of(std::string_view bytes,
                 uint64_t hash = 0xCBF29CE484222325ull) {
  for (const char c : bytes)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return hash;
}

std::string hexadecimal(uint64_t number) {
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; number >>= 4)
    out[i] = "0123456789abcdef"[number & 15];
  return out;
}

/// A file: magic, hash of what follows, lengths of three parts, the parts.
struct Header {
  char magic[8];
  uint64_t hash;
  uint64_t lengths[3];
};

std::string lengths_of(const Header& header) {
  return {reinterpret_cast<const char*>(header.lengths),
          sizeof(header.lengths)};
}

std::string file_of(std::string_view key, const Image& image) {
  Header header{{}, 0, {key.size(), image.symbol.size(), image.code.size()}};
  std::memcpy(header.magic, kMagic.data(), sizeof(header.magic));
  std::string body(key);
  body += image.symbol;
  body += image.code;
  header.hash = hash_of(body, hash_of(lengths_of(header)));
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         body;
}

std::optional<Image> image_of(std::string_view file, std::string_view key) {
  Header header;
  if (file.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof(header));
  const std::string_view body = file.substr(sizeof(header));
  uint64_t left = body.size();
  for (const uint64_t length : header.lengths) {
    if (length > left) return std::nullopt;
    left -= length;
  }
  const auto [key_size, symbol_size, code_size] = header.lengths;
  if (left != 0 || kMagic != std::string_view(header.magic, 8) ||
      header.hash != hash_of(body, hash_of(lengths_of(header))) ||
      body.substr(0, key_size) != key)
    return std::nullopt;
  return Image{std::string(body.substr(key_size + symbol_size)),
               std::string(body.substr(key_size, symbol_size))};
}

}  // namespace

fs::path ImageCache::path_of(std::string_view key) const {
  const uint64_t first = hash_of(key);
  return folder_ / (hexadecimal(first) + hexadecimal(hash_of(key, first)) +
                    std::string(kSuffix));
}

std::optional<Image> ImageCache::find(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = path_of(key);
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  std::optional<Image> image = image_of(file, key);
  std::error_code error;
  if (image) fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return image;
}

void ImageCache::put(std::string_view key, const Image& image) const {
  if (folder_.empty()) return;
  static std::atomic<unsigned> count{0};
  std::error_code error;
  if (fs::create_directories(folder_, error))
    fs::permissions(folder_, fs::perms::owner_all, error);
  const fs::path path = path_of(key);
  const fs::path part =
      concat(path.string(), ".", getpid(), ".", count++, kUnfinished);
  std::ofstream out(part, std::ios::binary);
  const std::string file = file_of(key, image);
  out.write(file.data(), std::streamsize(file.size()));
  out.close();
  if (out.fail())
    fs::remove(part, error);
  else
    fs::rename(part, path, error);
  trim();
}

void ImageCache::trim() const {
  struct Kept {
    fs::file_time_type when;
    uintmax_t bytes;
    fs::path path;
  };
  std::vector<Kept> all;
  uintmax_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    const auto when = entry.last_write_time(error);
    // Left by a process that ended amid writing.
    if (name.ends_with(kUnfinished) && now - when > std::chrono::hours(1))
      fs::remove(entry.path(), error);
    if (!name.ends_with(kSuffix)) continue;
    const uintmax_t bytes = entry.file_size(error);
    if (error) continue;  // another process took it away
    all.push_back({when, bytes, entry.path()});
    total += bytes;
  }
  std::sort(all.begin(), all.end(),
            [](const Kept& a, const Kept& b) { return a.when < b.when; });
  for (const Kept& kept : all) {
    if (total <= most_bytes_) break;
    fs::remove(kept.path, error);
    total -= kept.bytes;
  }
}

fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const fs::path own = variable("HOTARU_CACHE"); !own.empty()) return own;
  if (const fs::path all = variable("XDG_CACHE_HOME"); !all.empty())
    return all / "hotaru" / "kernels";
  const fs::path home = variable("HOME");
  return home.empty() ? home : home / ".cache" / "hotaru" / "kernels";
}

}  // namespace hotaru::cuda::jit
