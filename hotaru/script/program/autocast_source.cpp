#include "hotaru/script/program/autocast_source.h"

#include <string>

#include "hotaru/core/error.h"

namespace hotaru::script {
namespace {

// Attributes have PyTorch's names, since archives may hold instances. Entering
// and leaving swap the thread's state with the instance's.
constexpr std::string_view kAttributes = R"(class autocast:
  fast_dtype : int
  _enabled : bool
  device : str
)";

constexpr std::string_view kScope =
    R"(  def _swap(self, scopes: int) -> NoneType:
    device = self.device
    enabled = torch.is_autocast_enabled(device)
    dtype = torch.get_autocast_dtype(device)
    torch._set_autocast(device, self._enabled, self.fast_dtype, scopes)
    self._enabled = enabled
    self.fast_dtype = dtype
    return None
  def __enter__(self) -> NoneType:
    self._swap(1)
    return None
  def __exit__(self, kind: Any, value: Any, traceback: Any) -> NoneType:
    self._swap(-1)
    return None
)";

constexpr std::string_view kPlainScope = R"(  def __enter__(self) -> NoneType:
    return None
  def __exit__(self, kind: Any, value: Any, traceback: Any) -> NoneType:
    return None
)";

constexpr std::string_view kAnyDevice =
    R"(  def __init__(self, device_type: str, dtype: Optional[int]=None, enabled: bool=True, cache_enabled: Optional[bool]=None) -> NoneType:
    self.device = device_type
    self._enabled = enabled
    if torch.__is__(dtype, None):
      self.fast_dtype = torch.get_autocast_dtype(device_type)
    else:
      self.fast_dtype = unchecked_cast(int, dtype)
    return None
)";

constexpr std::string_view kOneDevice =
    R"(  def __init__(self, enabled: bool=True, dtype: int=$DTYPE, cache_enabled: bool=True) -> NoneType:
    self.device = "$DEVICE"
    self._enabled = enabled
    self.fast_dtype = dtype
    return None
)";

std::string of_device(std::string_view device, std::string_view dtype) {
  std::string text(kOneDevice);
  text.replace(text.find("$DTYPE"), 6, dtype);
  text.replace(text.find("$DEVICE"), 7, device);
  return text;
}

/// How instances are made, or empty for modules of other classes.
std::string init_of(std::string_view module) {
  if (module == "__torch__.torch.amp.autocast_mode")
    return std::string(kAnyDevice);
  if (module == "__torch__.torch.cpu.amp.autocast_mode")
    return of_device("cpu", "15");
  if (module == "__torch__.torch.cuda.amp.autocast_mode")
    return of_device("cuda", "5");
  return {};
}

}  // namespace

std::unique_ptr<Source> autocast_source(std::string_view module) {
  const std::string init = init_of(module);
  if (init.empty()) return nullptr;
  return std::make_unique<Source>(std::string(module),
                                  concat(kAttributes, kScope, init));
}

std::string autocast_text(std::string_view class_name) {
  constexpr std::string_view kName = ".autocast";
  if (!class_name.ends_with(kName)) return {};
  class_name.remove_suffix(kName.size());
  const std::string init = init_of(class_name);
  return init.empty() ? init : concat(kAttributes, kPlainScope, init);
}

}  // namespace hotaru::script
