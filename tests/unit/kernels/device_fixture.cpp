#include "tests/unit/kernels/device_fixture.h"

#include <cstdio>

namespace dsv4 {

HostMatrix random_matrix(WeightFormat format, int rows, int cols, Noise& noise, bool scale_is_f32) {
  const auto kernel_format = static_cast<kernels::Format>(format);
  HostMatrix m;
  m.data.resize(static_cast<std::size_t>(kernels::data_bytes(kernel_format, rows, cols)));
  m.scale.resize(static_cast<std::size_t>(kernels::scale_bytes(kernel_format, scale_is_f32, rows, cols)));
  const std::int64_t count = std::int64_t{rows} * cols;
  switch (format) {
    case WeightFormat::kF32:
      for (std::int64_t i = 0; i < count; ++i) {
        const float v = noise.value();
        std::memcpy(m.data.data() + 4 * i, &v, 4);
      }
      break;
    case WeightFormat::kBf16:
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint16_t v = encode_bf16(noise.value());
        std::memcpy(m.data.data() + 2 * i, &v, 2);
      }
      break;
    case WeightFormat::kF16:  // any finite half up to 2
      for (std::int64_t i = 0; i < count; ++i) {
        const auto v = static_cast<std::uint16_t>(noise.bits() & 0xBFFF);
        std::memcpy(m.data.data() + 2 * i, &v, 2);
      }
      break;
    case WeightFormat::kFp8Block:
    case WeightFormat::kFp4Row:
      for (std::byte& b : m.data) {
        b = static_cast<std::byte>(noise.bits() & 0xFF);
        if (format == WeightFormat::kFp8Block && (b & std::byte{0x7F}) == std::byte{0x7F}) b = std::byte{0};
      }
      if (scale_is_f32)
        for (std::size_t i = 0; i < m.scale.size(); i += 4) {
          const float v = 0.5f + std::abs(noise.value(0.1));
          std::memcpy(m.scale.data() + i, &v, 4);
        }
      else
        for (std::byte& b : m.scale) b = static_cast<std::byte>(124 + noise.below(6));
      break;
  }
  m.view = {format, rows, cols, m.data.data(), m.scale.empty() ? nullptr : m.scale.data(), scale_is_f32};
  return m;
}

}  // namespace dsv4

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  return RUN_ALL_TESTS();
}
