// CUDA's short vectors, with the sizes and alignments that they have there.
#pragma once

#define HOTARU_SOFT_VECTORS(T, name, align2, align4) \
  struct alignas(sizeof(T)) name##1 { \
    T x; \
  }; \
  struct alignas(align2) name##2 { \
    T x, y; \
  }; \
  struct name##3 { \
    T x, y, z; \
  }; \
  struct alignas(align4) name##4 { \
    T x, y, z, w; \
  }; \
  constexpr name##1 make_##name##1(T x) { \
    return {x}; \
  } \
  constexpr name##2 make_##name##2(T x, T y) { \
    return {x, y}; \
  } \
  constexpr name##3 make_##name##3(T x, T y, T z) { \
    return {x, y, z}; \
  } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { \
    return {x, y, z, w}; \
  }

HOTARU_SOFT_VECTORS(signed char, char, 2, 4)
HOTARU_SOFT_VECTORS(unsigned char, uchar, 2, 4)
HOTARU_SOFT_VECTORS(short, short, 4, 8)
HOTARU_SOFT_VECTORS(unsigned short, ushort, 4, 8)
HOTARU_SOFT_VECTORS(int, int, 8, 16)
HOTARU_SOFT_VECTORS(unsigned, uint, 8, 16)
HOTARU_SOFT_VECTORS(float, float, 8, 16)
HOTARU_SOFT_VECTORS(long long, longlong, 16, 16)
HOTARU_SOFT_VECTORS(unsigned long long, ulonglong, 16, 16)
HOTARU_SOFT_VECTORS(double, double, 16, 16)
#undef HOTARU_SOFT_VECTORS

struct dim3 {
  unsigned x = 1, y = 1, z = 1;

  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};
