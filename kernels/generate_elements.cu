#include "kernels/generate_elements.h"

#include <algorithm>

namespace dsv4::kernels {
namespace {

constexpr int kThreads = 256;

template <DType type>
__device__ auto element(const ElementRule& rule, std::uint64_t index) {
  if constexpr (type == DType::kF32) return f32_element(rule, index);
  if constexpr (type == DType::kBf16) return bf16_element(rule, index);
  if constexpr (type == DType::kF8E4m3) return fp8_element(rule, index);
  if constexpr (type == DType::kF8E8m0) return e8m0_element(rule, index);
  if constexpr (type == DType::kI8) return fp4_pair_element(rule, index);
}

template <DType type, class T>
__global__ void __launch_bounds__(kThreads)
    generate_kernel(const ElementRule rule, std::int64_t count, T* out) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    out[i] = element<type>(rule, static_cast<std::uint64_t>(i));
}

template <DType type, class T>
void launch(cudaStream_t stream, const ElementRule& rule, std::int64_t count, void* out) {
  const std::int64_t blocks = std::min<std::int64_t>((count + kThreads - 1) / kThreads, 132 * 64);
  if (blocks > 0)
    generate_kernel<type, T>
        <<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(rule, count, static_cast<T*>(out));
}

}  // namespace

void generate_elements(cudaStream_t stream, const ElementRule& rule, DType type, std::int64_t count,
                       void* out) {
  switch (type) {
    case DType::kF32:
      return launch<DType::kF32, float>(stream, rule, count, out);
    case DType::kBf16:
      return launch<DType::kBf16, std::uint16_t>(stream, rule, count, out);
    case DType::kF8E4m3:
      return launch<DType::kF8E4m3, std::uint8_t>(stream, rule, count, out);
    case DType::kF8E8m0:
      return launch<DType::kF8E8m0, std::uint8_t>(stream, rule, count, out);
    case DType::kI8:
      return launch<DType::kI8, std::uint8_t>(stream, rule, count, out);
    default:
      return;
  }
}

}  // namespace dsv4::kernels
