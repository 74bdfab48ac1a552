#include "hotaru/script/program/upgraders.h"

#include <string>

namespace hotaru::script {
namespace {

// A rounding mode says what is meant, and complex numbers have no truncation.
constexpr std::string_view kSource =
    R"(def div_tensor(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other) or torch.is_complex(self) or torch.is_complex(other):
    out = torch.div(self, other, rounding_mode=None)
  else:
    out = torch.div(self, other, rounding_mode="trunc")
  return out
def div_scalar(self: Tensor, other: number) -> Tensor:
  if torch.is_floating_point(self) or torch.is_complex(self) or isinstance(other, float):
    out = torch.div(self, other, rounding_mode=None)
  else:
    out = torch.div(self, other, rounding_mode="trunc")
  return out
def div_out(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other) or torch.is_floating_point(out) or torch.is_complex(out):
    made = torch.div(self, other, rounding_mode=None, out=out)
  else:
    made = torch.div(self, other, rounding_mode="trunc", out=out)
  return made
def div_tensor_(self: Tensor, other: Tensor) -> Tensor:
  if torch.is_floating_point(self) or torch.is_floating_point(other) or torch.is_complex(self):
    out = torch.div_(self, other, rounding_mode=None)
  else:
    out = torch.div_(self, other, rounding_mode="trunc")
  return out
def div_scalar_(self: Tensor, other: number) -> Tensor:
  if torch.is_floating_point(self) or torch.is_complex(self) or isinstance(other, float):
    out = torch.div_(self, other, rounding_mode=None)
  else:
    out = torch.div_(self, other, rounding_mode="trunc")
  return out
def full(size: List[int], fill_value: number, names: Optional[List[str]]=None, dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None, pin_memory: Optional[bool]=None) -> Tensor:
  if torch.__is__(dtype, None) and not isinstance(fill_value, complex):
    out = torch.full(size, float(fill_value), dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
  else:
    out = torch.full(size, fill_value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
  return out
def linspace(start: number, end: number, steps: Optional[int]=None, dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None, pin_memory: Optional[bool]=None) -> Tensor:
  if torch.__is__(steps, None):
    count = 100
  else:
    count = unchecked_cast(int, steps)
  return torch.linspace(start, end, count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
def linspace_out(start: number, end: number, steps: Optional[int]=None, *, out: Tensor) -> Tensor:
  if torch.__is__(steps, None):
    count = 100
  else:
    count = unchecked_cast(int, steps)
  return torch.linspace(start, end, count, out=out)
def logspace(start: number, end: number, steps: Optional[int]=None, base: float=10., dtype: Optional[int]=None, layout: Optional[int]=None, device: Optional[Device]=None, pin_memory: Optional[bool]=None) -> Tensor:
  if torch.__is__(steps, None):
    count = 100
  else:
    count = unchecked_cast(int, steps)
  return torch.logspace(start, end, count, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory)
def logspace_out(start: number, end: number, steps: Optional[int]=None, base: float=10., *, out: Tensor) -> Tensor:
  if torch.__is__(steps, None):
    count = 100
  else:
    count = unchecked_cast(int, steps)
  return torch.logspace(start, end, count, base, out=out)
)";

// The last versions in which operators had their older meaning.
constexpr int64_t kDivision = 3;
constexpr int64_t kFull = 4;
constexpr int64_t kLinspace = 7;
constexpr int64_t kLogspace = kLastUpgraded;

}  // namespace

std::string_view upgrader_of(const OldCall& call) {
  const bool division = call.name == "div" || call.name == "div_";
  if (division) {
    if (call.version > kDivision || !call.of_tensor || call.rounding) return {};
    if (call.out) return "div_out";
    if (call.name == "div_")
      return call.other_is_tensor ? "div_tensor_" : "div_scalar_";
    return call.other_is_tensor ? "div_tensor" : "div_scalar";
  }
  if (call.name == "full" && call.version <= kFull && !call.out) return "full";
  if (call.name == "linspace" && call.version <= kLinspace)
    return call.out ? "linspace_out" : "linspace";
  if (call.name == "logspace" && call.version <= kLogspace)
    return call.out ? "logspace_out" : "logspace";
  return {};
}

std::unique_ptr<Source> upgraders_source(std::string_view module) {
  if (module != kUpgraders) return nullptr;
  return std::make_unique<Source>(std::string(module), std::string(kSource));
}

}  // namespace hotaru::script
