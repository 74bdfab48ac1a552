#include "hotaru/comm/store/file_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "hotaru/core/error.h"

namespace hotaru::comm {
namespace {

constexpr std::string_view kBegin = "hotaru store 1\n";
constexpr uint64_t kDeleted = ~uint64_t(0);  // a value's length
// Keys that programs do not see.
constexpr const char* kOpened = "\1opened";
constexpr const char* kClosed = "\1closed";

std::string number(uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Takes records apart; `at` stays where a whole one begins.
struct Records {
  std::string_view bytes;
  uint64_t at = 0;

  bool next(std::string& key, std::optional<std::string>& value) {
    uint64_t end = at, length = 0;
    if (!take_number(end, length) || bytes.size() - end < length) return false;
    key = bytes.substr(end, length);
    end += length;
    if (!take_number(end, length)) return false;
    value.reset();
    if (length != kDeleted) {
      if (bytes.size() - end < length) return false;
      value = bytes.substr(end, length);
      end += length;
    }
    at = end;
    return true;
  }

 private:
  bool take_number(uint64_t& end, uint64_t& out) const {
    if (bytes.size() - end < sizeof out) return false;
    std::memcpy(&out, bytes.data() + end, sizeof out);
    end += sizeof out;
    return true;
  }
};

}  // namespace

/// The file's lock, and the table up to date.
class FileStore::Locked {
 public:
  explicit Locked(FileStore& store)
      : store_(store), lock_(store.mutex_), file_lock_{store.file_} {
    if (::flock(store.file_, LOCK_EX) != 0) failed("cannot be locked");
    read_new();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

  KeyTable& table() { return store_.table_; }
  /// Writes what the table has under the key now.
  void write(const std::string& key) {
    const std::string* value = table().find(key);
    std::string record = number(key.size()) + key;
    record += value ? number(value->size()) + *value : number(kDeleted);
    write_bytes(record);
  }

 private:
  struct Unlocks {
    int file;
    ~Unlocks() { ::flock(file, LOCK_UN); }
  };

  [[noreturn]] void failed(const char* what) const {
    throw DistStoreError(concat("FileStore: ", store_.path_, " ", what, ": ",
                                std::strerror(errno)));
  }

  void read_new() {
    struct stat info {};
    if (::fstat(store_.file_, &info) != 0) failed("cannot be read");
    const auto size = uint64_t(info.st_size);
    if (size == 0 && store_.read_ == 0) return write_bytes(std::string(kBegin));
    std::string bytes(size - std::min(size, store_.read_), '\0');
    for (size_t got = 0; got < bytes.size();) {
      const ssize_t n = ::pread(store_.file_, bytes.data() + got,
                                bytes.size() - got, off_t(store_.read_ + got));
      if (n <= 0) failed("cannot be read");
      got += size_t(n);
    }
    Records records{bytes};
    if (store_.read_ == 0) {
      if (!bytes.starts_with(kBegin))
        throw DistStoreError(
            concat("FileStore: ", store_.path_, " is no store of hotaru's"));
      records.at = kBegin.size();
    }
    std::string key;
    std::optional<std::string> value;
    while (records.next(key, value))
      if (value)
        table().set(key, std::move(*value));
      else
        table().erase(key);
    store_.read_ += records.at;
    // Left by a writer that was killed.
    if (records.at < bytes.size() &&
        ::ftruncate(store_.file_, off_t(store_.read_)) != 0)
      failed("cannot be written");
  }

  void write_bytes(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n =
          ::pwrite(store_.file_, bytes.data() + done, bytes.size() - done,
                   off_t(store_.read_ + done));
      if (n < 0) failed("cannot be written");
      done += size_t(n);
    }
    store_.read_ += bytes.size();
  }

  FileStore& store_;
  const std::lock_guard<std::mutex> lock_;
  const Unlocks file_lock_;
};

FileStore::FileStore(std::string path, int world_size)
    : Store(kStoreTimeout), path_(std::move(path)), world_size_(world_size) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0)
    throw DistStoreError(concat("FileStore: ", path_,
                                " cannot be opened: ", std::strerror(errno)));
  try {
    Locked locked(*this);
    locked.table().add(kOpened, 1);
    locked.write(kOpened);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

FileStore::~FileStore() {
  try {
    Locked locked(*this);
    const int64_t closed = locked.table().add(kClosed, 1);
    locked.write(kClosed);
    if (world_size_ >= 0 && closed == locked.table().add(kOpened, 0))
      ::unlink(path_.c_str());
  } catch (const Error&) {  // the file is gone, or full
  }
  ::close(file_);
}

void FileStore::set(const std::string& key, const std::string& value) {
  Locked locked(*this);
  locked.table().set(key, value);
  locked.write(key);
}
int64_t FileStore::add(const std::string& key, int64_t amount) {
  Locked locked(*this);
  const int64_t sum = locked.table().add(key, amount);
  locked.write(key);
  return sum;
}
std::string FileStore::compare_set(const std::string& key,
                                   const std::string& expected,
                                   const std::string& desired) {
  Locked locked(*this);
  std::string now = locked.table().compare_set(key, expected, desired);
  if (locked.table().find(key)) locked.write(key);
  return now;
}
void FileStore::append(const std::string& key, const std::string& value) {
  Locked locked(*this);
  locked.table().append(key, value);
  locked.write(key);
}
bool FileStore::delete_key(const std::string& key) {
  Locked locked(*this);
  const bool there = locked.table().erase(key);
  if (there) locked.write(key);
  return there;
}
int64_t FileStore::num_keys() {
  Locked locked(*this);
  return locked.table().size() - locked.table().has_all({kOpened}) -
         locked.table().has_all({kClosed});
}
Keys FileStore::list_keys() {
  Locked locked(*this);
  Keys out = locked.table().keys();
  std::erase_if(out, [](const std::string& key) {
    return key == kOpened || key == kClosed;
  });
  return out;
}
bool FileStore::check(const Keys& keys) {
  return Locked(*this).table().has_all(keys);
}
std::string FileStore::get(const std::string& key) {
  wait({key}, timeout());
  Locked locked(*this);
  const std::string* value = locked.table().find(key);
  if (!value) throw DistStoreError(concat("key '", key, "' was deleted"));
  return *value;
}
void FileStore::wait(const Keys& keys, Millis timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (Millis pause{1}; !check(keys); pause = std::min(2 * pause, Millis{10})) {
    if (std::chrono::steady_clock::now() >= end) timed_out(keys, timeout);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace hotaru::comm
