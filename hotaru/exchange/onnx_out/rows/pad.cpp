// Tensors with more around them, and pictures with their channels elsewhere.
#include "hotaru/exchange/onnx_out/rows/common.h"

namespace hotaru::exchange::onnx_out {

namespace {

// From the last dimension on, pairs of before and after: ONNX has all of the
// befores first.
std::string pads(const Lowering& l) {
  const std::vector<Symbol> given = l.at("pad").is_host()
                                        ? std::vector<Symbol>{l.at("pad")}
                                        : l.at("pad").items();
  const size_t rank = size_t(l.rank());
  std::vector<Symbol> out(2 * rank, Symbol(Value(int64_t{0})));
  for (size_t i = 0; 2 * i + 1 < given.size(); ++i) {
    out[rank - 1 - i] = given[2 * i];
    out[2 * rank - 1 - i] = given[2 * i + 1];
  }
  return l.shape(out);
}

std::string padded(const Lowering& l, const std::string& mode,
                   const std::string& value) {
  if (mode == "circular") {
    const Ints given = l.integers("pad");
    std::string x = l.tensor(0);
    for (size_t i = 0; 2 * i + 1 < given.size(); ++i) {
      const int64_t dim = l.rank() - 1 - int64_t(i);
      const int64_t before = given[2 * i], behind = given[2 * i + 1];
      if (before < 0 || behind < 0)
        x = l.slice(x, dim, std::max<int64_t>(-before, 0),
                    behind < 0 ? behind : kEnd);
      Names parts;
      if (before > 0) parts.push_back(l.slice(x, dim, -before, kEnd));
      parts.push_back(x);
      if (behind > 0) parts.push_back(l.slice(x, dim, 0, behind));
      x = l.op("Concat", parts, {attr("axis", dim)});
    }
    return x;
  }
  Names inputs = {l.tensor(0), pads(l)};
  if (!value.empty()) inputs.push_back(value);
  return l.op("Pad", inputs,
              {attr("mode", mode == "replicate" ? "edge" : mode)});
}

void pad(Lowering& l) {
  const std::string mode = l.has("mode") ? l.text("mode") : "constant";
  std::string value;
  if (mode == "constant") {
    value =
        l.given("value") ? l.tensor("value", l.dtype()) : like(l, 0, l.dtype());
  }
  l.result(padded(l, mode, value));
}

template <Text kMode>
void pad_by(Lowering& l) {
  const std::vector<Symbol> given = l.at("padding").items();
  const size_t rank = size_t(l.rank());
  std::vector<Symbol> out(2 * rank, Symbol(Value(int64_t{0})));
  for (size_t i = 0; 2 * i + 1 < given.size(); ++i) {
    out[rank - 1 - i] = given[2 * i];
    out[2 * rank - 1 - i] = given[2 * i + 1];
  }
  l.result(
      l.op("Pad", {l.tensor(0), l.shape(out)}, {attr("mode", kMode.data)}));
}

void pixel_shuffle(Lowering& l) {
  if (l.rank() != 4) l.refuse("of other than four dimensions");
  l.result(l.op(
      "DepthToSpace", {l.tensor(0)},
      {attr("blocksize", l.integer("upscale_factor")), attr("mode", "CRD")}));
}

// Sizes of an input with four dimensions.
std::string sizes4(const Lowering& l, const std::string& x, Ints known,
                   const Ints& from) {
  Names parts;
  for (size_t i = 0; i < known.size(); ++i)
    if (known[i] >= 0 || known[i] == -1)
      parts.push_back(l.ints({known[i]}));
    else
      parts.push_back(l.sizes_of(x, from[i], from[i] + 1));
  return l.op("Concat", parts, {attr("axis", 0)});
}

void pixel_unshuffle(Lowering& l) {
  if (l.rank() != 4) l.refuse("of other than four dimensions");
  const int64_t r = l.integer("downscale_factor");
  const Example& in = l.example(0);
  const Example& out = l.out();
  const std::string x = l.tensor(0);
  const auto c = in.size(1), h = out.size(2), w = out.size(3);
  if (!c || !h || !w) l.refuse("of a dynamic size other than the batch");
  const std::string six = l.op(
      "Reshape", {x, sizes4(l, x, {-2, *c, *h, r, *w, r}, {0, 0, 0, 0, 0, 0})});
  const std::string turned = l.transpose(six, {0, 1, 3, 5, 2, 4});
  l.result(l.op("Reshape", {turned, sizes4(l, x, {-2, *c * r * r, *h, *w},
                                           {0, 0, 0, 0})}));
}

void channel_shuffle(Lowering& l) {
  const int64_t groups = l.integer("groups");
  const std::optional<int64_t> channels = l.example(0).size(1);
  if (!channels) l.refuse("of a dynamic number of channels");
  const std::string x = l.tensor(0);
  const std::string shape = l.shape_of(x);
  const std::string rest = l.ints({-1});
  const std::string split =
      l.op("Concat",
           {l.sizes_of(x, 0, 1), l.ints({groups, *channels / groups}), rest},
           {attr("axis", 0)});
  const std::string turned =
      l.transpose(l.op("Reshape", {x, split}), {0, 2, 1, 3});
  l.result(l.op("Reshape", {turned, shape}));
}

constexpr Row kPadRows[] = {
    {"pad", pad},
    {"constant_pad_nd", pad},
    {"reflection_pad1d", pad_by<"reflect">},
    {"reflection_pad2d", pad_by<"reflect">},
    {"reflection_pad3d", pad_by<"reflect">},
    {"replication_pad1d", pad_by<"edge">},
    {"replication_pad2d", pad_by<"edge">},
    {"replication_pad3d", pad_by<"edge">},
    {"pixel_shuffle", pixel_shuffle},
    {"pixel_unshuffle", pixel_unshuffle},
    {"channel_shuffle", channel_shuffle},
    {"native_channel_shuffle", channel_shuffle},
};

}  // namespace

Rows pad_rows() {
  return kPadRows;
}

}  // namespace hotaru::exchange::onnx_out
