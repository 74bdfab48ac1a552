// A store in a file, for the processes that share a folder.
#pragma once

#include <mutex>

#include "hotaru/comm/store/key_table.h"

namespace hotaru::comm {

/// A log of what was set, behind a lock of the file (flock). A record that a
/// killed writer left unfinished is cut off by the next. The last of the
/// handles on it takes the file away if a world's size was given.
class FileStore final : public Store {
 public:
  /// DistStoreError for a file that is no store or cannot be opened.
  FileStore(std::string path, int world_size);
  ~FileStore() override;

  const std::string& path() const { return path_; }

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void append(const std::string& key, const std::string& value) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  Keys list_keys() override;
  bool check(const Keys& keys) override;
  /// Looks at the file every few milliseconds.
  void wait(const Keys& keys, Millis timeout) override;

 private:
  class Locked;

  const std::string path_;
  const int world_size_;
  int file_ = -1;
  std::mutex mutex_;  // guards the rest
  KeyTable table_;
  uint64_t read_ = 0;  // bytes of the file that table_ knows
};

}  // namespace hotaru::comm
