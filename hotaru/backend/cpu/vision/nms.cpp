// Which of overlapping boxes stay.
#include <vector>

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/vision/overlap.h"
#include "hotaru/backend/common/vision/regions.h"
#include "hotaru/backend/cpu/independent.h"

namespace hotaru::cpu {
namespace {

/// Columns of boxes, so that one box meets many at a time.
template <class T>
struct Boxes {
  explicit Boxes(const Tensor& rows) : count(rows.size(0)) {
    for (std::vector<T>& side : sides) side.resize(size_t(count));
    area.resize(size_t(count));
    const T* row = rows.data<T>();
    for (size_t i = 0; i < size_t(count); ++i, row += 4) {
      for (size_t s = 0; s < 4; ++s) sides[s][i] = row[s];
      area[i] = (row[2] - row[0]) * (row[3] - row[1]);
    }
  }

  /// Fells what box i covers behind it by more than `limit`.
  void cover(size_t i, T limit, std::vector<uint8_t>& fallen) const {
    const Box<T> own{sides[0][i], sides[1][i], sides[2][i], sides[3][i],
                     area[i]};
    const T *l = sides[0].data(), *t = sides[1].data(), *r = sides[2].data(),
            *b = sides[3].data(), *a = area.data();
    uint8_t* out = fallen.data();
    HOTARU_INDEPENDENT
    for (size_t j = i + 1; j < size_t(count); ++j)
      out[j] |= covers(own, Box<T>{l[j], t[j], r[j], b[j], a[j]}, limit);
  }

  int64_t count;
  std::vector<T> sides[4], area;
};

constexpr KernelTypes<FloatTypes> kTypes{2, "nms_kernel"};

void nms(const KernelCall& call) {
  const Tensor& rows = call.tensor(2);
  const double threshold = call.attributes<NmsAttributes>().threshold;
  int64_t* kept = call.tensor(0).data<int64_t>();
  int64_t* count = call.tensor(1).data<int64_t>();
  *count = 0;
  kTypes.visit(call, [&]<class T>() {
    const Boxes<T> boxes(rows);
    const T limit = not_above<T>(threshold);
    std::vector<uint8_t> fallen(size_t(boxes.count));
    for (size_t i = 0; i < fallen.size(); ++i) {
      if (fallen[i]) continue;
      kept[(*count)++] = int64_t(i);
      boxes.cover(i, limit, fallen);
    }
  });
}

HOTARU_KERNEL(kCPU, "nms", nms, check_types<kTypes>);

}  // namespace
}  // namespace hotaru::cpu
