#include "hotaru/io/unpickler.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "hotaru/core/checks/check.h"
#include "hotaru/core/printing/hex.h"
#include "hotaru/io/byte_reader.h"
#include "hotaru/io/pickle_global.h"

namespace hotaru::io {

namespace {

// Opcodes (Python's Lib/pickletools.py describes each).
enum Opcode : uint8_t {
  kProto = 0x80,
  kStop = '.',
  kMark = '(',
  kPop = '0',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kEmptyDict = '}',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinFloat = 'G',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kList = 'l',
  kDict = 'd',
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kGlobal = 'c',
  kNewObj = 0x81,
  kBuild = 'b',
  kReduce = 'R',
  kBinPersId = 'Q',
};

constexpr int kMaxProtocol = 2;
constexpr size_t kMaxGlobalName = 1024;

// Estimates of what one of each costs, allocation included.
constexpr size_t kValueCost = 16;
constexpr size_t kContainerCost = 80;
constexpr size_t kDictItemCost = 120;
constexpr size_t kTensorCost = 400;
// Values that sharing may make of few.
constexpr uint64_t kSharedBase = 1 << 20;

class Unpickler {
 public:
  Unpickler(std::string_view bytes, PickleHost& host,
            const PickleLimits& limits)
      : in_(std::as_bytes(std::span(bytes)), "the pickle"),
        host_(host),
        limits_(limits) {}

  // Breaks the links between containers, so that nothing is destroyed
  // recursively however deeply it was nested, and cycles don't leak.
  ~Unpickler() {
    if (!finished_)
      for (const Value& container : containers_) clear(container);
  }

  Value run() {
    while (step()) {
    }
    HOTARU_CHECK(stack_.size() == 1 && marks_.empty(), "the pickle ends with ",
                 stack_.size(), " values on its stack instead of 1");
    check_result(stack_[0]);
    finished_ = true;
    return std::move(stack_[0]);
  }

  uint64_t offset() const { return in_.position(); }

 private:
  static void clear(const Value& container) {
    if (container.is_list()) container.as_list().items.clear();
    if (container.is_tuple()) container.as_tuple().items.clear();
    if (container.is_instance()) container.as_instance().slots.clear();
    if (container.is_dict()) container.as_dict().clear();
  }

  void charge(size_t bytes) {
    HOTARU_CHECK(bytes <= limits_.memory - used_,
                 "the pickle's values need more than ", limits_.memory,
                 " bytes");
    used_ += bytes;
  }

  void push(Value value) {
    charge(kValueCost);
    stack_.push_back(std::move(value));
  }

  void push_container(Value value, size_t items) {
    charge(kContainerCost + items * kValueCost);
    containers_.push_back(value);
    push(std::move(value));
  }

  // The lowest index that may be popped: values below a mark are safe.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Value pop() {
    HOTARU_CHECK(stack_.size() > floor(), "the pickle's stack is empty");
    Value value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }

  Value& top() {
    HOTARU_CHECK(stack_.size() > floor(), "the pickle's stack is empty");
    return stack_.back();
  }

  std::vector<Value> pop_mark() {
    HOTARU_CHECK(!marks_.empty(), "the pickle has no mark on its stack");
    auto begin = stack_.begin() + std::ptrdiff_t(marks_.back());
    std::vector<Value> items(std::make_move_iterator(begin),
                             std::make_move_iterator(stack_.end()));
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }

  void push_tuple(size_t count) {
    HOTARU_CHECK(stack_.size() - floor() >= count,
                 "the pickle's stack is empty");
    std::vector<Value> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    push_container(Value::tuple(std::move(items)), count);
  }

  void put(uint32_t index) {
    charge(kValueCost * 4);
    memo_[index] = top();
  }

  void get(uint32_t index) {
    auto found = memo_.find(index);
    HOTARU_CHECK(found != memo_.end(), "the pickle refers to memo ", index,
                 ", which it has not set");
    push(found->second);
  }

  void append(std::vector<Value> items) {
    Value& list = top();
    HOTARU_CHECK(list.is_list(), "APPEND to a value of type ",
                 list.type_name());
    charge(items.size() * kValueCost);
    std::vector<Value>& out = list.as_list().items;
    out.insert(out.end(), std::make_move_iterator(items.begin()),
               std::make_move_iterator(items.end()));
  }

  void set_items(const std::vector<Value>& items) {
    HOTARU_CHECK(items.size() % 2 == 0, "SETITEMS with a key without value");
    Value& dict = top();
    HOTARU_CHECK(dict.is_dict(), "SETITEM on a value of type ",
                 dict.type_name());
    for (size_t i = 0; i < items.size(); i += 2) {
      const Value& key = items[i];
      HOTARU_CHECK(key.is_none() || key.is_int() || key.is_double() ||
                       key.is_bool() || key.is_string() || key.is_tensor() ||
                       key.is_complex() || key.is_device(),
                   "a value of type ", key.type_name(),
                   " cannot be a dict's key");
      charge(kDictItemCost);
      dict.as_dict().set(key, items[i + 1]);
    }
  }

  std::string line() {
    std::string out;
    for (;;) {
      char c = char(in_.number<uint8_t>());
      if (c == '\n') return out;
      HOTARU_CHECK(out.size() < kMaxGlobalName, "a global's name is too long");
      out.push_back(c);
    }
  }

  int64_t long1() {
    size_t size = in_.number<uint8_t>();
    HOTARU_CHECK(size <= 8, "an integer of ", size,
                 " bytes does not fit 64 bits");
    std::string_view bytes = in_.text(size);
    bool negative = size > 0 && (bytes[size - 1] & 0x80);
    uint64_t value = negative ? ~uint64_t{0} : 0;
    std::memcpy(&value, bytes.data(), size);
    return int64_t(value);
  }

  void string(uint64_t size) {
    std::string_view text = in_.text(size);
    charge(kContainerCost + text.size());
    push(std::string(text));
  }

  double big_endian_double() {
    uint64_t bits = __builtin_bswap64(in_.number<uint64_t>());
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  void reduce() {
    Value arguments = pop();
    Value callee = pop();
    const PickleGlobal* global = as_global(callee);
    if (global && global->kind == GlobalKind::kClass && !arguments.is_tuple())
      return push_enum_member(*global, arguments);
    HOTARU_CHECK(global && arguments.is_tuple(),
                 "REDUCE needs a global and a tuple");
    Value result = call_global(*global, arguments.as_tuple().items, host_);
    if (result.is_tensor()) charge(kTensorCost);
    if (result.is_dict()) {
      charge(result.as_dict().items.size() * kDictItemCost);
      push_container(std::move(result), 0);
    } else {
      push(std::move(result));
    }
  }

  void push_enum_member(const PickleGlobal& cls, const Value& value) {
    charge(kContainerCost + 2 * kValueCost);
    Value member = host_.enum_member(cls.name, value);
    HOTARU_CHECK(member.is_instance(), "the archive defines no Enum class '",
                 cls.name, "'");
    push(std::move(member));
  }

  void new_object() {
    Value arguments = pop();
    Value callee = pop();
    const PickleGlobal* global = as_global(callee);
    HOTARU_CHECK(global && global->kind == GlobalKind::kClass &&
                     arguments.is_tuple() && arguments.as_tuple().items.empty(),
                 "NEWOBJ needs a class and an empty tuple");
    Value instance = host_.instance(global->name);
    HOTARU_CHECK(instance.is_instance(), "the archive defines no class '",
                 global->name, "'");
    size_t slots = instance.as_instance().slots.size();
    push_container(std::move(instance), slots);
  }

  void build() {
    Value state = pop();
    Value& object = top();
    // A dict's state is its Python attributes, such as _metadata.
    if (object.is_dict()) return;
    HOTARU_CHECK(object.is_instance(), "BUILD on a value of type ",
                 object.type_name());
    host_.set_state(object, std::move(state));
  }

  bool step();
  void check_result(const Value& root) const;

  ByteReader in_;
  PickleHost& host_;
  PickleLimits limits_;
  size_t used_ = 0;
  bool finished_ = false;
  std::vector<Value> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Value> memo_;
  std::vector<Value> containers_;
};

bool Unpickler::step() {
  uint8_t opcode = in_.number<uint8_t>();
  switch (opcode) {
    case kProto: {
      int protocol = in_.number<uint8_t>();
      HOTARU_CHECK(protocol <= kMaxProtocol, "pickle protocol ", protocol,
                   " is not supported, only ", kMaxProtocol, " and below");
      return true;
    }
    case kStop:
      return false;
    case kMark:
      charge(sizeof(size_t));
      marks_.push_back(stack_.size());
      return true;
    case kPop:
      pop();
      return true;
    case kEmptyList:
      return push_container(Value::list({}), 0), true;
    case kEmptyTuple:
      return push_container(Value::tuple({}), 0), true;
    case kEmptyDict:
      return push_container(make_ref<DictObject>(), 4), true;
    case kBinPut:
      return put(in_.number<uint8_t>()), true;
    case kLongBinPut:
      return put(in_.number<uint32_t>()), true;
    case kBinGet:
      return get(in_.number<uint8_t>()), true;
    case kLongBinGet:
      return get(in_.number<uint32_t>()), true;
    case kNewTrue:
    case kNewFalse:
      return push(opcode == kNewTrue), true;
    case kNone:
      return push({}), true;
    case kBinInt:
      return push(int64_t{in_.number<int32_t>()}), true;
    case kBinInt1:
      return push(int64_t{in_.number<uint8_t>()}), true;
    case kBinInt2:
      return push(int64_t{in_.number<uint16_t>()}), true;
    case kLong1:
      return push(long1()), true;
    case kBinUnicode:
      return string(in_.number<uint32_t>()), true;
    case kShortBinUnicode:
      return string(in_.number<uint8_t>()), true;
    case kBinFloat:
      return push(big_endian_double()), true;
    case kTuple: {
      std::vector<Value> items = pop_mark();
      size_t count = items.size();
      return push_container(Value::tuple(std::move(items)), count), true;
    }
    case kTuple1:
    case kTuple2:
    case kTuple3:
      return push_tuple(size_t{1} + opcode - kTuple1), true;
    case kList: {
      std::vector<Value> items = pop_mark();
      size_t count = items.size();
      return push_container(Value::list(std::move(items)), count), true;
    }
    case kDict: {
      std::vector<Value> items = pop_mark();
      push_container(make_ref<DictObject>(), 4);
      return set_items(items), true;
    }
    case kAppend: {
      std::vector<Value> items;
      items.push_back(pop());
      return append(std::move(items)), true;
    }
    case kAppends: {
      std::vector<Value> items = pop_mark();
      return append(std::move(items)), true;
    }
    case kSetItem: {
      Value value = pop();
      Value key = pop();
      return set_items({std::move(key), std::move(value)}), true;
    }
    case kSetItems: {
      std::vector<Value> items = pop_mark();
      return set_items(items), true;
    }
    case kGlobal: {
      std::string module = line();
      std::string name = line();
      charge(kContainerCost + module.size() + name.size());
      return push(find_global(module, name)), true;
    }
    case kNewObj:
      return new_object(), true;
    case kBuild:
      return build(), true;
    case kReduce:
      return reduce(), true;
    case kBinPersId:
      charge(kContainerCost);
      return push(load_persistent(pop(), host_)), true;
    default:
      fail("pickle opcode 0x", hex_text(opcode), " is not supported");
  }
}

// Walks the result without recursion: no cycles, no deep nesting, nothing
// left that stands for something outside, and not so much sharing that a walk
// that doesn't know of it would take forever.
void Unpickler::check_result(const Value& root) const {
  struct Visit {
    const Value* value;
    std::vector<const Value*> children;
    size_t next;
    int height;
    uint64_t expanded;  // values below, shared ones counted each time
  };
  struct Seen {
    int height;  // -1 while it is being visited
    uint64_t expanded;
  };
  std::unordered_map<const void*, Seen> seen;
  uint64_t values = 0;
  auto identity = [](const Value& v) -> const void* {
    if (v.is_list()) return &v.as_list();
    if (v.is_tuple()) return &v.as_tuple();
    if (v.is_dict()) return &v.as_dict();
    return v.is_instance() ? &v.as_instance() : nullptr;
  };
  auto open = [this](const Value& v) {
    Visit visit{&v, {}, 0, 1, 1};
    auto add_all = [&](const std::vector<Value>& items) {
      for (const Value& item : items) visit.children.push_back(&item);
    };
    if (v.is_list()) add_all(v.as_list().items);
    if (v.is_tuple()) add_all(v.as_tuple().items);
    if (v.is_instance() && !host_.is_opaque(v)) add_all(v.as_instance().slots);
    if (v.is_dict()) {
      for (const auto& entry : v.as_dict().items) {
        visit.children.push_back(&entry.second);
      }
    }
    return visit;
  };
  std::vector<Visit> path;
  if (identity(root)) {
    seen[identity(root)] = {-1, 0};
    path.push_back(open(root));
  }
  HOTARU_CHECK(!root.is_object(),
               "the pickle holds something that is no "
               "value");
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next == visit.children.size()) {
      Seen done{visit.height, visit.expanded};
      seen[identity(*visit.value)] = done;
      path.pop_back();
      if (!path.empty()) {
        Visit& parent = path.back();
        parent.height = std::max(parent.height, done.height + 1);
        parent.expanded += done.expanded;
      }
      continue;
    }
    const Value& child = *visit.children[visit.next++];
    HOTARU_CHECK(!child.is_object(),
                 "the pickle holds something that is no "
                 "value");
    const void* id = identity(child);
    ++values;
    if (!id) {
      ++visit.expanded;
      continue;
    }
    auto [found, added] = seen.emplace(id, Seen{-1, 0});
    if (!added) {
      const Seen& known = found->second;
      HOTARU_CHECK(known.height >= 0,
                   "the pickle's values contain "
                   "themselves");
      visit.height = std::max(visit.height, known.height + 1);
      visit.expanded += known.expanded;
      HOTARU_CHECK(visit.expanded <= kSharedBase + 8 * values,
                   "the pickle's values share each other too often");
    } else {
      path.push_back(open(child));
    }
    HOTARU_CHECK(path.size() <= size_t(limits_.depth) &&
                     path.back().height <= limits_.depth,
                 "the pickle's values are nested more than ", limits_.depth,
                 " levels deep");
  }
}

}  // namespace

Value unpickle(std::string_view bytes, const std::string& where,
               PickleHost& host, const PickleLimits& limits) {
  Unpickler unpickler(bytes, host, limits);
  try {
    return unpickler.run();
  } catch (const std::exception& error) {
    fail(where, ", at byte ", unpickler.offset(),
         " of the pickle: ", error.what());
  }
}

}  // namespace hotaru::io
