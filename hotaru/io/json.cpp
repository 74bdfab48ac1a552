#include "hotaru/io/json.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "hotaru/core/error.h"

namespace hotaru::io {

namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDepth = 200;
constexpr size_t kMemoryBase = size_t{64} << 20;
constexpr size_t kMemoryPerByte = 16;
// A node of an object's tree, beside key and value; the pieces of memory that
// a container or a long string takes.
constexpr size_t kNodeSize = 48;
constexpr size_t kPieceSize = 48;

/// Walks the text and tells how far the parser has come.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor() = default;
  Cursor(const char* at, const char** furthest)
      : at_(at), furthest_(furthest) {}

  const char& operator*() const { return *(*furthest_ = at_); }
  Cursor& operator++() {
    ++at_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++at_;
    return before;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }

 private:
  const char* at_ = nullptr;
  const char** furthest_ = nullptr;
};

/// Builds the value from the parser's events, within the limits.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& where, uint64_t base)
      : text_(text), where_(where), base_(base), at_(text.data()) {}

  Json build() {
    const char* end = text_.data() + text_.size();
    // The parser takes a zero for the end of the text.
    if (const size_t zero = text_.find('\0'); zero != text_.npos)
      fail(where_, ": offset ", base_ + zero, ": no JSON: a zero byte");
    Json::sax_parse(Cursor(text_.data(), &at_), Cursor(end, &at_), this);
    return std::move(root_);
  }

  bool null() override { return leaf(nullptr); }
  bool boolean(bool value) override { return leaf(value); }
  bool number_integer(int64_t value) override { return leaf(value); }
  bool number_unsigned(uint64_t value) override { return leaf(value); }
  bool number_float(double value, const std::string&) override {
    return leaf(value);
  }
  bool string(std::string& value) override {
    charge(kPieceSize + value.size());
    return leaf(std::move(value));
  }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    charge(kNodeSize + sizeof(std::string) + name.size());
    auto& members = open_.back()->get_ref<Json::object_t&>();
    auto [place, added] = members.try_emplace(std::move(name));
    if (!added) {
      fail_here("the key '", std::string_view(place->first).substr(0, 80),
                "' stands twice in one object");
    }
    member_ = &place->second;
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    std::string_view reason = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const size_t colon = reason.find(": ");
    if (colon != reason.npos) reason.remove_prefix(colon + 2);
    fail(where_, ": offset ", base_ + (position > 0 ? position - 1 : 0),
         ": no JSON: ", reason);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail_here(const Args&... args) const {
    fail(where_, ": offset ", base_ + uint64_t(at_ - text_.data()), ": ",
         args...);
  }

  void charge(size_t bytes) {
    memory_ += bytes;
    if (memory_ > kMemoryBase + kMemoryPerByte * text_.size()) {
      fail_here("the values of this JSON would take more than ",
                kMemoryBase + kMemoryPerByte * text_.size(), " bytes");
    }
  }

  /// Puts a value where the next one belongs.
  Json* place(Json value) {
    charge(2 * sizeof(Json));  // vectors grow by doubling
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      auto& items = open_.back()->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      return &items.back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool leaf(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() == kMaxDepth)
      fail_here("JSON nests deeper than ", kMaxDepth, " levels");
    charge(kPieceSize);
    open_.push_back(place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  uint64_t base_;
  const char* at_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // of the innermost object, whose value comes next
  size_t memory_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& where,
                uint64_t base) {
  return Builder(text, where, base).build();
}

}  // namespace hotaru::io
