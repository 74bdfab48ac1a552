#include "hotaru/backend/cuda/conv/gathering.h"

#include <algorithm>

#include "hotaru/backend/cuda/devices.h"
#include "hotaru/backend/cuda/geometry.h"
#include "hotaru/backend/cuda/matmul/multiply.h"

namespace hotaru::cuda {
namespace {

constinit const Functions large("ConvLarge"), small("ConvSmall"),
    end("ConvEnd"), along("ConvTensor", "_nt"), across("ConvTensor", "_tn");

int processors() {
  return properties(launching_timeline().device()).processors;
}

/// Memory of the tables, one after another, and of what columns have besides.
size_t bytes_of(const PlacesParams& p) {
  size_t places = 0;
  for (const auto& table : p.tables) places += table_room(table.count);
  return places * sizeof(Place) +
         table_room(p.tables[2].count) * sizeof(uint32_t);
}

}  // namespace

Gathering::Gathering(const Windows& windows, int64_t samples, int64_t channels,
                     bool channels_inner)
    : windows_(windows),
      samples_(samples),
      channels_(channels),
      channels_inner_(channels_inner) {
  for (size_t d = 0; d < 3; ++d) {
    const bool checked = !windows.inside(d);
    places_.windows[d] = {int32_t(windows.scale[d]), int32_t(windows.shift[d]),
                          int32_t(windows.step[d]), int32_t(windows.limit[d]),
                          checked ? int32_t(windows.taps[d]) : 0};
  }
}

void Gathering::position_steps(Steps& to, const Laid& laid,
                               const Sides& times) const {
  for (size_t d = 0; d < 3; ++d) to[2 - d] = uint32_t(laid.side[d] * times[d]);
  to[3] = uint32_t(laid.outer);
}

void Gathering::tap_steps(Steps& to, const Laid& laid,
                          const Sides& times) const {
  const size_t first = channels_inner_;
  for (size_t d = 0; d < 3; ++d)
    to[first + 2 - d] = uint32_t(laid.side[d] * times[d]);
  to[channels_inner_ ? 0 : 3] = uint32_t(laid.channel);
}

void Gathering::set_positions(Table& table, const Laid& laid,
                              const Sides& times, int64_t first,
                              bool checked) const {
  const Sides& side = windows_.positions;
  for (size_t d = 0; d < 3; ++d)
    table.sizes[2 - d] = Divider(uint32_t(side[d]));
  table.sizes[3] = Divider(uint32_t(samples_));
  table.count = uint32_t(volume(side) * samples_);
  table.offset = uint32_t(first);
  table.kind = checked ? Table::Kind::kPositions : Table::Kind::kPlain;
  position_steps(table.steps, laid, times);
}

void Gathering::set_taps(Table& table, const Laid& laid, const Sides& times,
                         int64_t first, bool checked) const {
  const Sides& side = windows_.taps;
  table.first = channels_inner_;
  table.count = uint32_t(volume(side) * channels_);
  table.offset = uint32_t(first);
  table.kind = checked ? Table::Kind::kTaps : Table::Kind::kPlain;
  if (table.count == 0) return;
  for (size_t d = 0; d < 3; ++d)
    table.sizes[table.first + 2 - d] = Divider(uint32_t(side[d]));
  table.sizes[channels_inner_ ? 0 : 3] = Divider(uint32_t(channels_));
  tap_steps(table.steps, laid, times);
}

void Gathering::aim_positions(const Laid& out, const Sides& times,
                              int64_t first) {
  columns().target = uint32_t(first);
  position_steps(columns().target_steps, out, times);
}

void Gathering::aim_taps(const Laid& out, int64_t channels) {
  tap_steps(columns().target_steps, out, {1, 1, 1});
  if (channels_inner_) columns().without_target = uint32_t(channels);
}

void Gathering::run(DType dtype, bool chunks) {
  left().mark = products().mark = kProductsMark;
  columns().mark = kOthersMark;
  const Workspace tables(bytes_of(places_));
  auto* place = static_cast<Place*>(tables.data());
  uint32_t longest = 0;
  for (Table& table : places_.tables) {
    table.places = place;
    const uint32_t room = table_room(table.count);
    place += room;
    longest = std::max(longest, room);
  }
  columns().targets = reinterpret_cast<uint32_t*>(place);
  static const Function fill("ConvPlaces");
  launch(fill, {blocks_for(longest, kBlock), PlacesParams::kTables}, kBlock,
         places_);

  GatherParams& p = params;
  p.left.products = left().places;
  p.right.products = products().places;
  p.right.others = columns().places;
  p.targets = columns().targets;
  const auto item = int64_t(itemsize(dtype));
  plan_matmul(p, item, processors(), chunks);
  launch_product(p, dtype,
                 p.tensor  ? p.left.along ? along : across
                 : p.large ? large
                           : small,
                 end);
}

bool is_large(GatherParams p, int64_t item) {
  plan_matmul(p, item, processors(), item == 2);
  return p.large;
}

}  // namespace hotaru::cuda
