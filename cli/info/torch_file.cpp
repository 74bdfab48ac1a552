#include "info/torch_file.h"

#include <iostream>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hotaru/core/value.h"
#include "hotaru/io/torch_file.h"
#include "json.h"
#include "text.h"

namespace hotaru::cli {
namespace {

/// The tensors of a value, by the way to them: "optimizer.state.0.step".
/// Containers nest as deep as the reader lets them.
class Contents {
 public:
  void add(const std::string& name, const Value& value) {
    const auto inside = [&](const std::string& key) {
      return name.empty() ? key : name + '.' + key;
    };
    if (value.is_tensor() && value.as_tensor().defined()) {
      tensors_.emplace_back(name, value.as_tensor());
    } else if (value.is_dict()) {
      if (!is_new(&value.as_dict())) return;
      for (const auto& [key, item] : value.as_dict().items)
        add(inside(key.is_string() ? key.as_string()
                   : key.is_int()  ? std::to_string(key.as_int())
                                   : key.type_name()),
            item);
    } else if (value.is_list()) {
      if (is_new(&value.as_list())) add_all(inside, value.as_list().items);
    } else if (value.is_tuple()) {
      if (is_new(&value.as_tuple())) add_all(inside, value.as_tuple().items);
    } else {
      ++others_;
    }
  }

  Json json() const {
    Json rows = Json::array();
    for (const auto& [name, t] : tensors_)
      rows.push_back({{"name", name},
                      {"dtype", dtype_name(t.dtype())},
                      {"shape", std::vector<int64_t>(t.sizes().begin(),
                                                     t.sizes().end())}});
    return {{"format", "torch.save"}, {"tensors", rows}, {"others", others_}};
  }

  void print() const {
    double elements = 0, bytes = 0;
    for (const auto& [name, t] : tensors_) {
      elements += double(t.numel());
      bytes += double(t.numel()) * double(itemsize(t.dtype()));
    }
    std::cout << "torch.save, " << tensors_.size() << " tensors, "
              << amount(elements, "elements") << ", " << amount(bytes, "B");
    if (others_) std::cout << ", and " << others_ << " other values";
    std::cout << "\n\n";
    for (const auto& [name, t] : tensors_)
      std::cout << shown(name) << "  " << dtype_name(t.dtype())
                << shape_text(t.sizes()) << '\n';
  }

 private:
  /// Containers count once: a file may say of one that it holds itself, or that
  /// many hold it.
  bool is_new(const void* container) { return seen_.insert(container).second; }
  template <class F>
  void add_all(const F& inside, const std::vector<Value>& items) {
    for (size_t i = 0; i < items.size(); ++i)
      add(inside(std::to_string(i)), items[i]);
  }

  std::vector<std::pair<std::string, Tensor>> tensors_;
  std::unordered_set<const void*> seen_;
  int64_t others_ = 0;
};

}  // namespace

void show_torch_file(const std::string& path, bool as_json) {
  Contents contents;
  contents.add("", io::load_torch_file(path));
  if (as_json)
    std::cout << contents.json().dump(1, ' ', false,
                                      Json::error_handler_t::replace)
              << '\n';
  else
    contents.print();
}

}  // namespace hotaru::cli
