// A slice of weights (tiles.h) times 256 columns of one to four float32 vectors, by tensor cores.
//
// A vector becomes limbs whose products with a weight are exact in float32: two halves, x = s (h + l / 2048)
// with s a power of two by the largest of the 256 values, for FP4 and FP8, which are exact as halves; three
// bfloat16, x = h + m + l, for BF16. A limb is a column of the mma's B. What is lost of x is below 2^-24 of
// the largest of the 256. Sums are float32, in the tensor core over 32 (FP4), 128 (FP8) or 256 columns,
// outside beyond. A vector with a NaN or an infinity gives NaN; an E8M0 scale of NaN gives NaN or infinity,
// one of 2^-127 counts as 0.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/dequantise.cuh"
#include "kernels/tiles.h"

namespace dsv4::kernels {

// How a format is streamed: pieces of a slice, one after the other; `kRows` vectors at once.
template <Format F>
struct Streamed {
  static constexpr int kPieces = F == Format::kBf16 ? 2 : 1;
  static constexpr int kBytes = kSliceBytes<F> / kPieces;
  static constexpr int kBlocks = 8 / kPieces;  // of 32 columns, in a piece
  static constexpr int kStages = F == Format::kFp4Row ? 3 : 2;
  static constexpr int kAtFirst = 2;  // stages asked for before the vector: more of them stand in its way
  static constexpr int kLimbs = F == Format::kBf16 ? 3 : 2;
  static constexpr int kRows = F == Format::kBf16 ? 2 : 4;
  static constexpr int kLimbWords = 32 * kLimbs;  // 16-byte words of the limbs of 256 values
};

template <Format F>
__device__ inline void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (F == Format::kBf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

// Eight codes of a word, as halves that are smaller by kE2m1Unit: two multiplications put sign and magnitude
// of those in place that a shift cannot bring there (no carry reaches the mask).
__device__ inline void decode_fp4(unsigned w, unsigned (&a)[4]) {
  constexpr unsigned kCode = 0x8E008E00u;
  a[0] = w & kCode;
  a[1] = w * 8u & kCode;
  a[2] = (w & 0x40384038u) * 66u & kCode;
  a[3] = (w & 0x603F603Fu) * 516u & kCode;
}
__device__ inline float power_of_two(unsigned bytes, int i) {
  return __uint_as_float((i == 3 ? bytes >> 1 : bytes * (1u << (23 - 8 * i))) & 0x7F800000u);
}
__device__ inline unsigned e4m3_halves(unsigned two) {
  const __half2_raw raw =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(two & 0xFFFFu), __NV_E4M3);
  return static_cast<unsigned>(raw.x) | static_cast<unsigned>(raw.y) << 16;
}

// A lane's share of a piece. `kApart` is of Sums.
template <Format F, bool kApart>
struct Bits {
  static constexpr int kWords = F == Format::kFp4Row ? 4 : 8;
  uint4 v[kWords], scale;
  __device__ void fetch(const std::byte* p, int lane) {
    const int g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int q = 0; q < kWords; ++q) v[q] = *reinterpret_cast<const uint4*>(p + q * 512 + lane * 16);
    if constexpr (F == Format::kFp4Row) {
      const std::byte* const scales = p + kWords * 512 + g * 16;
      if constexpr (kApart) {
        scale.x = *reinterpret_cast<const std::uint16_t*>(scales + t * 2);
        scale.y = *reinterpret_cast<const std::uint16_t*>(scales + t * 2 + 8);
      } else {
        scale = *reinterpret_cast<const uint4*>(scales);
      }
    } else if constexpr (F == Format::kFp8Block) {
      scale = *reinterpret_cast<const uint4*>(p + kWords * 512);
    }
  }
};

// What a lane adds up of a slice: for output rows g and g + 8, of the limbs in columns 2 t and 2 t + 1.
// FP4: the scale is of 32 columns, so that sums leave the tensor core there. With one vector six of the eight
// columns would be idle: block i of 32 columns has its limbs in columns 2 (i % 4) and + 1, where the others
// have zeros (kApart), and the sums of four blocks are scaled together. With more vectors the blocks are
// added up by i % 4, too: a vector gets the same bits either way.
template <Format F, bool kApart>
struct Sums {
  static constexpr int kClasses = F == Format::kFp4Row && !kApart ? 4 : 1;
  float s[kClasses][4] = {};

  // `b`: the limbs of the piece's columns.
  __device__ void add(const Bits<F, kApart>& bits, const uint4* b) {
    if constexpr (F == Format::kFp4Row) {
      constexpr int kTogether = kApart ? 4 : 1;
#pragma unroll
      for (int first = 0; first < 8; first += kTogether) {
        float c[4] = {};
#pragma unroll
        for (int block = first; block < first + kTogether; ++block) {
          unsigned a[4];
          decode_fp4(word(bits.v[block / 2], 2 * (block % 2)), a);
          multiply<F>(c, a, b[block].x, b[block].y);
          decode_fp4(word(bits.v[block / 2], 2 * (block % 2) + 1), a);
          multiply<F>(c, a, b[block].z, b[block].w);
        }
        const unsigned scales = word(bits.scale, kApart ? first / 4 : first / 2);
        const int byte = kApart ? 0 : 2 * (first % 2);
        scaled(c, power_of_two(scales, byte), power_of_two(scales, byte + 1), s[kApart ? 0 : first % 4]);
      }
    } else if constexpr (F == Format::kFp8Block) {
      float c[2][4] = {};  // of the halves, which have scales of their own
      const auto multiply_two = [&](int half, unsigned first, unsigned second, unsigned b0, unsigned b1) {
        multiply<F>(
            c[half],
            {e4m3_halves(first), e4m3_halves(first >> 16), e4m3_halves(second), e4m3_halves(second >> 16)},
            b0, b1);
      };
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint4 v = bits.v[4 * half + q], x = b[4 * half + q];
          multiply_two(half, v.x, v.y, x.x, x.y);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const uint4 v = bits.v[4 * half + q], x = b[4 * half + q];
          multiply_two(half, v.z, v.w, x.z, x.w);
        }
      }
#pragma unroll
      for (int half = 0; half < 2; ++half)
        scaled(c[half], __uint_as_float(word(bits.scale, 2 * half)),
               __uint_as_float(word(bits.scale, 2 * half + 1)), s[0]);
    } else {
#pragma unroll
      for (int block = 0; block < 4; ++block) {
        const uint4 v = bits.v[2 * block], w = bits.v[2 * block + 1];
        multiply<F>(s[0], {v.x, v.y, v.z, v.w}, b[block].x, b[block].y);
        multiply<F>(s[0], {w.x, w.y, w.z, w.w}, b[block].z, b[block].w);
      }
    }
  }

  // Of output row g (half 0) or g + 8 (1), in units of the vector's scale; by all lanes. The vector is the
  // one that row_of says.
  __device__ float total(int half) const {
    if constexpr (F == Format::kBf16) {
      const float v = s[0][2 * half] + s[0][2 * half + 1];
      return v + __shfl_xor_sync(~0u, v, 1);
    } else {
      float v[kClasses];
#pragma unroll
      for (int i = 0; i < kClasses; ++i) v[i] = fmaf(s[i][2 * half + 1], 1.0f / 2048, s[i][2 * half]);
      if constexpr (F == Format::kFp8Block) {
        return v[0];
      } else if constexpr (kApart) {
        v[0] += __shfl_xor_sync(~0u, v[0], 1);
        return (v[0] + __shfl_xor_sync(~0u, v[0], 2)) * kE2m1Unit;
      } else {
        return ((v[0] + v[1]) + (v[2] + v[3])) * kE2m1Unit;
      }
    }
  }

 private:
  static __device__ void scaled(const float (&c)[4], float low, float high, float (&to)[4]) {
    to[0] = fmaf(c[0], low, to[0]);
    to[1] = fmaf(c[1], low, to[1]);
    to[2] = fmaf(c[2], high, to[2]);
    to[3] = fmaf(c[3], high, to[3]);
  }
};

// The vector whose sums lane t of four has at the end.
template <Format F>
__device__ inline int row_of(int t) {
  return F == Format::kBf16 ? t >> 1 : t;
}

// Eight values as limbs, each limb's in a word of its own; gives back the unit of the sums.
template <Format F>
__device__ inline float limbs_of(const float4 (&v)[2], uint4 (&limb)[Streamed<F>::kLimbs]) {
  const float x[8] = {v[0].x, v[0].y, v[0].z, v[0].w, v[1].x, v[1].y, v[1].z, v[1].w};
  unsigned out[Streamed<F>::kLimbs][4];
  float unit = 1;
  if constexpr (F == Format::kBf16) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float p = x[2 * i], q = x[2 * i + 1];
#pragma unroll
      for (int n = 0; n < 3; ++n) {
        const __nv_bfloat162 both = __floats2bfloat162_rn(p, q);
        const float2 back = __bfloat1622float2(both);
        p -= back.x;
        q -= back.y;
        out[n][i] = *reinterpret_cast<const unsigned*>(&both);
      }
    }
  } else {
    float most = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) most = fmaxf(most, fabsf(x[i]));
    // fmaxf passes over a NaN; it becomes a limb all the same.
    const unsigned exponent = min(max(__reduce_max_sync(~0u, __float_as_uint(most)) >> 23, 1u), 253u);
    const float inverse = __uint_as_float((254u - exponent) << 23);
    unit = __uint_as_float(exponent << 23);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float p = x[2 * i] * inverse, q = x[2 * i + 1] * inverse;
      const __half2 high = __floats2half2_rn(p, q);
      const float2 back = __half22float2(high);
      const __half2 low = __floats2half2_rn((p - back.x) * 2048.0f, (q - back.y) * 2048.0f);
      out[0][i] = *reinterpret_cast<const unsigned*>(&high);
      out[1][i] = *reinterpret_cast<const unsigned*>(&low);
    }
  }
#pragma unroll
  for (int n = 0; n < Streamed<F>::kLimbs; ++n) limb[n] = {out[n][0], out[n][1], out[n][2], out[n][3]};
  return unit;
}

// The 256 columns of up to kRows vectors as B fragments, block by block of 32. `x(r, v)` gives a lane the
// eight values of vector r from column 8 * lane on, `change(r, v)` may then change them; `room` holds
// kLimbWords words of this warp's own.
template <Format F, bool kApart, class X, class Change>
__device__ inline float load_fragments(uint4 (&b)[8], uint4* room, int rows, int lane, const X& x,
                                       const Change& change) {
  using S = Streamed<F>;
  constexpr int kMost = kApart ? 1 : S::kRows;
  const int g = lane >> 2, t = lane & 3;
  float4 v[kMost][2];
#pragma unroll
  for (int r = 0; r < kMost; ++r)
    if (r < rows) x(r, v[r]);
  float unit = 1;
  const int row = F == Format::kBf16 ? g >> 2 : g >> 1, n = F == Format::kBf16 ? g & 3 : g & 1;
#pragma unroll
  for (int r = 0; r < kMost; ++r) {
    if (r >= rows) break;
    change(r, v[r]);
    uint4 limb[S::kLimbs];
    const float its_unit = limbs_of<F>(v[r], limb);
    if (kApart || row_of<F>(t) == r) unit = its_unit;
#pragma unroll
    for (int i = 0; i < S::kLimbs; ++i) room[(g * S::kLimbs + i) * 4 + t] = limb[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if constexpr (kApart && F == Format::kFp4Row) {
        b[i] = i % 4 == row ? room[(i * S::kLimbs + n) * 4 + t] : uint4{};
      } else {
        const bool own = row == r && n < S::kLimbs;
        if (own)
          b[i] = room[(i * S::kLimbs + n) * 4 + t];
        else if (r == 0)
          b[i] = uint4{};
      }
    }
    __syncwarp();
  }
  return unit;
}

}  // namespace dsv4::kernels
