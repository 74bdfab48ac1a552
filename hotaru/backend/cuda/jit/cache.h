// Machine code on disk: one file for what was compiled once, in the folder
// $HOTARU_CACHE or hotaru/kernels below the user's cache folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hotaru/backend/cuda/jit/compiler.h"

namespace hotaru::cuda::jit {

/// Files appear whole under their name or not at all, so processes share a
/// folder without locks. A file that cannot be read, or that is damaged, counts
/// as none; nothing here throws for what the file system does.
class ImageCache {
 public:
  static constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;

  /// No folder: keeps nothing. When more than `most_bytes` lie in it, those
  /// that were asked for longest ago go.
  explicit ImageCache(std::filesystem::path folder,
                      uintmax_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// `key` is all that decides what the image is, and compared as a whole.
  std::optional<Image> find(std::string_view key) const;
  void put(std::string_view key, const Image& image) const;

  /// Where an image of the key lies.
  std::filesystem::path path_of(std::string_view key) const;

 private:
  void trim() const;

  std::filesystem::path folder_;
  uintmax_t most_bytes_;
};

/// The folder that the environment says; empty if it names none.
std::filesystem::path cache_folder();

}  // namespace hotaru::cuda::jit
