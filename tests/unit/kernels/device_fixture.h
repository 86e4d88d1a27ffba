// Buffers for testing a kernel alone: inputs fresh and random, outputs and padding poisoned.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "engine/weights/generator.h"
#include "engine/weights/weight_matrix.h"
#include "kernels/matrix.h"

namespace dsv4 {

// Different in every test, the same in every run.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : key_(mix64(seed)) {}
  std::uint64_t bits() { return element_bits(key_, next_++); }
  // Close to normal.
  float value(double deviation = 1) { return static_cast<float>(normal_sum(bits()) / 37837.0 * deviation); }
  std::vector<float> values(std::int64_t count, double deviation = 1) {
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& v : out) v = value(deviation);
    return out;
  }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }

 private:
  std::uint64_t key_, next_ = 0;
};

inline std::vector<double> doubles(std::span<const float> v) {
  return {v.begin(), v.end()};
}

// A matrix of any format in host memory.
struct HostMatrix {
  WeightMatrix view;
  std::vector<std::byte> data, scale;
};
// Moving it keeps the view right: vectors keep their storage.
HostMatrix random_matrix(WeightFormat format, int rows, int cols, Noise& noise, bool scale_is_f32 = false);

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  void TearDown() override {
    check(cudaStreamSynchronize(stream_));
    for (void* block : blocks_) cudaFree(block);
    check(cudaStreamDestroy(stream_));
  }

  static void check(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

  // Every byte 0xFF: NaN, or -1.
  template <class T>
  T* poisoned(std::int64_t count) {
    void* block = nullptr;
    check(cudaMalloc(&block, static_cast<std::size_t>(count) * sizeof(T)));
    check(cudaMemsetAsync(block, 0xFF, static_cast<std::size_t>(count) * sizeof(T), stream_));
    blocks_.push_back(block);
    return static_cast<T*>(block);
  }
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* block = poisoned<T>(static_cast<std::int64_t>(values.size()));
    write(block, values);
    return block;
  }
  template <class T>
  void write(T* block, const std::vector<T>& values) {
    check(cudaMemcpyAsync(block, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream_));
  }
  template <class T>
  std::vector<T> read(const T* block, std::int64_t count) {
    std::vector<T> out(static_cast<std::size_t>(count));
    check(cudaPeekAtLastError());
    check(cudaMemcpyAsync(out.data(), block, out.size() * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));
    return out;
  }
  kernels::Matrix upload(const HostMatrix& m) {
    kernels::Matrix out{nullptr,
                        nullptr,
                        m.view.rows,
                        m.view.cols,
                        static_cast<kernels::Format>(m.view.format),
                        m.view.scale_is_f32};
    out.data = upload(m.data);
    if (!m.scale.empty()) out.scale = upload(m.scale);
    return out;
  }

  // ||got - wanted|| / ||wanted||; infinite for a NaN.
  static double distance(std::span<const float> got, std::span<const double> wanted) {
    if (got.size() != wanted.size()) return INFINITY;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      difference += (got[i] - wanted[i]) * (got[i] - wanted[i]);
      size += wanted[i] * wanted[i];
    }
    const double out = std::sqrt(difference / (size > 0 ? size : 1));
    return out >= 0 ? out : INFINITY;
  }

  cudaStream_t stream_ = nullptr;

 private:
  std::vector<void*> blocks_;
};

inline constexpr double kExact = 3e-6;  // float32 sums against double

}  // namespace dsv4
