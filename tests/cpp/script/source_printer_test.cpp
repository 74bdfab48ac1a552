// Programs that no archive holds: their graphs as source, which must mean the
// same.
#include "hotaru/script/archive/source_printer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hotaru/autograd/grad_mode.h"
#include "hotaru/core/error.h"
#include "hotaru/io/zip_writer.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/archive/literal.h"
#include "hotaru/script/archive/object_pickler.h"
#include "hotaru/script/program/unit.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru::script {
namespace {

// Each method without arguments beside self gives a string.
const char* const kProgram = R"(
class Point(NamedTuple):
  x : int
  y : float
class Scales(ModuleInterface):
  def forward(self, x: Tensor) -> Tensor:
    pass
class Double(Module):
  def forward(self: __torch__.Double, x: Tensor) -> Tensor:
    return x * 2
class Guard:
  log : List[str]
  def __init__(self: __torch__.Guard, log: List[str]) -> NoneType:
    self.log = log
    return None
  def __enter__(self: __torch__.Guard) -> int:
    self.log.append("enter")
    return 5
  def __exit__(self: __torch__.Guard, a: Any, b: Any, c: Any) -> NoneType:
    self.log.append("exit")
    return None
def keyword(a: int, b: int = 3, *, scale: float = 0.5) -> float:
  return (a + b) * scale
def early(n: int) -> str:
  for i in range(n):
    if i == 4:
      return "four"
    if i % 2 == 0:
      continue
    if i > 7:
      break
  else_value = "none"
  if n < 0:
    else_value = "negative"
  return else_value
def swaps(n: int) -> Tuple[int, int]:
  a, b = 0, 1
  for i in range(n):
    a, b = b, a + b
  while a > 50 and b > 0:
    a, b = a - b, b - 3
    if a == 7:
      continue
    if b == 11:
      break
  return a, b
def guarded(log: List[str], n: int) -> int:
  with __torch__.Guard(log) as five:
    if n == 0:
      return five
    with __torch__.Guard(log):
      for i in range(n):
        if i == 2:
          break
      log.append("body")
    log.append("between")
  return n
class M(Module):
  __parameters__ = ["weight", ]
  __buffers__ = ["steps", ]
  weight : Tensor
  steps : Tensor
  training : bool
  scale : __torch__.Scales
  table : Dict[str, List[int]]
  maybe : Optional[Tensor]
  points : List[Tuple[int, str]]
  __annotations__["0"] = __torch__.Double
  limit : Final[int] = 7
  def forward(self: __torch__.M, x: Tensor) -> Tensor:
    return self.scale.forward(x) + getattr(self, "0").forward(self.weight)
  def names(self: __torch__.M) -> str:
    p = __torch__.Point(3, 0.5)
    q : Tuple[int, float] = (p.x + 1, p.y)
    for_ = [p.x, q[0]]
    return str((p.x, p.y, q, for_, self.limit, (1,)))
  def functions(self: __torch__.M) -> str:
    k = (__torch__.keyword(1), __torch__.keyword(2, 4, scale=2.0))
    e = [__torch__.early(-1), __torch__.early(3), __torch__.early(20)]
    return str((k, e, __torch__.swaps(9), __torch__.swaps(30)))
  def withs(self: __torch__.M) -> str:
    log = annotate(List[str], [])
    a = __torch__.guarded(log, 0)
    b = __torch__.guarded(log, 5)
    return "{} {} {}".format(a, b, ",".join(log))
  def optionals(self: __torch__.M) -> str:
    x : Optional[int] = None
    out = annotate(List[Optional[int]], [None, 1])
    for i in range(3):
      if x is None:
        x = i
      elif x > 0:
        x = None
      else:
        x = x + 5
      out.append(x)
    any = annotate(List[Any], [1, "b", None, (1, 2.5)])
    kinds = annotate(List[str], [])
    for v in any:
      if isinstance(v, (int, str)):
        kinds.append("simple")
      else:
        kinds.append("other")
    return str((out, kinds))
  def forks(self: __torch__.M) -> str:
    x = 4
    def local():
      if x > 3:
        return "big"
      return "small"
    futures = annotate(List[Future[float]], [])
    for i in range(3):
      futures.append(torch.jit.fork(__torch__.keyword, i, 1, scale=1.0))
    total = 0.
    for f in futures:
      total += torch.jit.wait(f)
    return "{} {}".format(total, torch.jit.wait(torch.jit.fork(local)))
  def strings(self: __torch__.M) -> str:
    odd = "q'\"\\\n\t\303\251 {}".format("x")
    numbers = [1e300, -0., 0.1, 1e-7, 123456789012., 3.]
    huge = [inf, -inf]
    return odd + str(numbers) + str(huge) + str(1.5-2.j)
  def tensors(self: __torch__.M) -> str:
    y = torch.arange(6).reshape([2, 3])
    y[0, 1] = 9
    y[1] += 2
    values, indices = torch.max(y, 1)
    z = torch.zeros([2], dtype=torch.int64) + 3 - torch.ones([2])
    same = y.dtype == torch.int64
    return str((int(y.sum()), int(values[0]), int(indices[0]), float(z[0]), same, y.shape, max(3, 4), abs(-2)))
  def containers(self: __torch__.M) -> str:
    d = {"a": 1, "b": 2}
    squares = [i * i for i in range(4) if i != 2]
    self.table["new"] = squares
    keys = annotate(List[str], [])
    for k, v in d.items():
      keys.append(k)
    a, b = [10, 20]
    for i, (s, t) in enumerate(zip(keys, squares)):
      a += i * t + len(s)
    return str((d, a, b, "a" in d)) + str((squares, self.table)) + ",".join(keys)
)";

const char* const kMethods[] = {"names", "functions", "withs",   "optionals",
                                "forks", "strings",   "tensors", "containers"};

Module make_module() {
  auto unit = CompilationUnit::create();
  unit->define(std::make_unique<Source>("test.py", kProgram), "__torch__");
  auto make = [&](const char* name) {
    return make_instance(*unit->find_type(name)->cls);
  };
  Module module(make("__torch__.M"));
  Tensor steps = zeros(Dims{2});
  module.set_attribute("weight", ones(Dims{3}));
  module.set_attribute("steps", steps);
  module.set_attribute("scale", make("__torch__.Double"));
  module.set_attribute("0", make("__torch__.Double"));
  auto table = make_ref<DictObject>();
  table->set("old", Value::int_list(Dims{1, 2}));
  module.set_attribute("table", table);
  module.set_attribute("points",
                       Value::list({Value::tuple({Value(1), Value("one")})}));
  return module;
}

std::string saved(const Module& module) {
  std::string out;
  save(
      module, [&](std::string_view bytes) { out += bytes; }, "archive");
  return out;
}

Module reloaded(const Module& module) {
  std::string text = saved(module);
  auto bytes = std::as_bytes(std::span(text));
  return load(std::vector<std::byte>(bytes.begin(), bytes.end()), "saved");
}

TEST(SourcePrinter, PrintedProgramsMeanTheSame) {
  Module again = reloaded(make_module());
  for (const char* method : kMethods) {
    SCOPED_TRACE(method);
    EXPECT_EQ(again.call(method, {}).as_string(),
              make_module().call(method, {}).as_string());
  }
  EXPECT_EQ(again.attribute("limit").as_int(), 7);
  EXPECT_EQ(again.named_parameters().size(), 1u);
  EXPECT_EQ(again.named_buffers().size(), 1u);
  Tensor y = again({ones(Dims{3})}).as_tensor();
  EXPECT_EQ(y.data<float>()[2], 4.f);
}

// An archive's module with its code printed anew, not copied.
Module reprinted(const Module& module) {
  CompilationUnit& unit = module.type().unit();
  SourcePrinter printer(unit);
  for (const auto& [name, inner] : module.named_modules())
    printer.add(inner.type().type());
  std::string out;
  io::ZipWriter zip([&](std::string_view bytes) { out += bytes; }, "r");
  auto add_pickle = [&](const std::string& name, const Value& value) {
    ObjectPickler pickler(unit);
    zip.add(name + ".pkl", pickler.pickle(value, nullptr));
    for (size_t i = 0; i < pickler.storages().size(); ++i) {
      const Storage& storage = *pickler.storages()[i].storage;
      zip.add(concat(name, "/", i),
              io::Bytes(static_cast<const std::byte*>(storage.data()),
                        storage.nbytes()));
    }
  };
  add_pickle("data", Value(module.object()));
  for (auto& [name, text] : printer.print()) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '.', '/');
    zip.add(concat("code/", path, ".py"), text);
  }
  add_pickle("constants", Value::tuple(printer.constants()));
  zip.add("version", "3\n");
  zip.finish();
  auto bytes = std::as_bytes(std::span(out));
  return load(std::vector<std::byte>(bytes.begin(), bytes.end()), "printed");
}

Module golden(const std::string& name) {
  return load(std::string(HOTARU_GOLDEN) + "/script/" + name + ".pt");
}

Module child(const Module& module, const std::string& name) {
  return Module(Ref<InstanceObject>(&module.attribute(name).as_instance()));
}

class Reprint : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Versions, Reprint, testing::Values("", "_old"),
                         [](const auto& info) {
                           return std::string(*info.param ? "v1_13" : "v2_13");
                         });

TEST_P(Reprint, PyTorchsLanguage) {
  Module all = reprinted(golden(std::string("language") + GetParam()));
  Module language = child(all, "module");
  for (const auto& [name, text] : all.attribute("expected").as_dict().items) {
    EXPECT_EQ(language.call(name.as_string(), {}).as_string(),
              text.as_string());
  }
}

TEST_P(Reprint, PyTorchsNetworks) {
  Module before = golden(std::string("networks") + GetParam());
  Module after = reprinted(before);
  const autograd::NoGrad no_grad;
  for (const auto& [name, sample] : before.named_children()) {
    SCOPED_TRACE(name);
    Value input = sample.attribute("input");
    Tensor a = sample({input}).as_tensor();
    Tensor b = child(after, name)({input}).as_tensor();
    ASSERT_TRUE(same(a.sizes(), b.sizes()) && a.is_contiguous());
    EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(),
                          size_t(a.numel()) * sizeof(float)),
              0);
  }
}

TEST(SourcePrinter, RunningChangesNoByte) {
  Module module = make_module();
  std::string before = saved(module);
  for (const char* method : kMethods)
    if (std::string_view(method) != "containers") module.call(method, {});
  EXPECT_EQ(saved(module), before);
  EXPECT_EQ(saved(make_module()), before);
}

// The printed text reads like what was compiled: control flow stays.
TEST(SourcePrinter, PrintsStatementsInPyTorchsNotation) {
  auto unit = CompilationUnit::create();
  unit->define(
      std::make_unique<Source>("test.py",
                               "def f(x: Optional[int], n: int = 2) -> int:\n"
                               "  total = 0\n"
                               "  for i in range(n):\n"
                               "    if x is not None:\n"
                               "      total += x\n"
                               "    else:\n"
                               "      break\n"
                               "  assert total >= 0, 'negative'\n"
                               "  return total\n"),
      "__torch__");
  SourcePrinter printer(*unit);
  EXPECT_EQ(print_function(*unit->find_function("__torch__.f"), printer, 0),
            "def f(x: Optional[int],\n"
            "    n: int=2) -> int:\n"
            "  total = 0\n"
            "  for _0 in range(n):\n"
            "    _1 = torch.__isnot__(x, None)\n"
            "    if _1:\n"
            "      x0 = unchecked_cast(int, x)\n"
            "      total1 = torch.add(total, x0)\n"
            "      total0 = total1\n"
            "    else:\n"
            "      total0 = uninitialized(int)\n"
            "      break\n"
            "    total = total0\n"
            "  _2 = torch.ge(total, 0)\n"
            "  if _2:\n"
            "    pass\n"
            "  else:\n"
            "    ops.prim.RaiseException(\"AssertionError: negative\", "
            "\"builtins.AssertionError\")\n"
            "  return total\n");
}

TEST(SourcePrinter, Literals) {
  TypeTable types;
  auto text = [](const Value& value, TypePtr type) {
    return literal(value, type, [](const Value&) { return "stored"; });
  };
  EXPECT_EQ(text(1e20, TypeTable::floating()), "1e+20");
  EXPECT_EQ(text(3.0, TypeTable::floating()), "3.");
  EXPECT_EQ(text(-0.0, TypeTable::floating()), "-0.");
  EXPECT_EQ(text(-INFINITY, TypeTable::floating()), "-inf");
  EXPECT_EQ(text(std::complex<double>(1, -2), TypeTable::complex()), "1.-2.j");
  EXPECT_EQ(text("a\"\\\n\x01\xff", TypeTable::string()),
            "\"a\\\"\\\\\\n\\001\\377\"");
  TypePtr ints = types.optional(types.list(TypeTable::integer()));
  EXPECT_EQ(text(Value::int_list(Dims{1, 2}), ints),
            "annotate(List[int], [1, 2])");
  EXPECT_EQ(text(Value(), ints), "None");
  TypePtr one = types.tuple({TypeTable::integer()});
  EXPECT_EQ(text(Value::tuple({Value(1)}), one), "(1,)");
  EXPECT_EQ(text(ones(Dims{1}), TypeTable::tensor()), "stored");
  EXPECT_THROW(text(Value::from_object(make_ref<Future>()), TypeTable::any()),
               TypeError);
}

TEST(SourcePrinter, WhatHasNoFormIsRefused) {
  Module module = make_module();
  auto unit = CompilationUnit::create();
  unit->define(
      std::make_unique<Source>("test.py",
                               "class M(Module):\n"
                               "  f : Future[int]\n"
                               "  def forward(self: __torch__.M) -> int:\n"
                               "    return torch.jit.wait(self.f)\n"),
      "__torch__");
  Module holder(make_instance(*unit->find_type("__torch__.M")->cls));
  holder.set_attribute("f", Value::from_object(make_ref<Future>()));
  EXPECT_THROW(saved(holder), TypeError);
  // Programs do not mix.
  module.object()->slots[0] = holder.object();
  EXPECT_THROW(saved(module), TypeError);
}

}  // namespace
}  // namespace hotaru::script
