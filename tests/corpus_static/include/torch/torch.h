// As much of libtorch's interface as the labels need; the real headers are a gigabyte of dependencies.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
struct Device {
  DeviceType type;
  Device(DeviceType t) : type(t) {}
};
struct Scalar {
  template <class T>
  T to() const;
  bool toBool() const;
};
struct TensorOptions {
  TensorOptions device(Device) const;
};
}  // namespace c10

namespace at {
constexpr c10::DeviceType kCPU = c10::DeviceType::CPU;
constexpr c10::DeviceType kCUDA = c10::DeviceType::CUDA;

class Tensor {
 public:
  Tensor();
  ~Tensor();
  Tensor(const Tensor&);
  Tensor& operator=(const Tensor&);
  c10::Scalar item() const;
  template <class T>
  T item() const;
  bool is_nonzero() const;
  bool equal(const Tensor&) const;
  Tensor cpu() const;
  Tensor to(c10::Device) const;
  Tensor nonzero() const;
  Tensor masked_select(const Tensor&) const;
  Tensor index(std::initializer_list<Tensor>) const;
  Tensor operator>(double) const;
  Tensor sum() const;
  int64_t size(int64_t) const;
  int64_t numel() const;
  int64_t dim() const;
  bool is_cuda() const;
  template <class T>
  T* data_ptr() const;
};
Tensor zeros(std::initializer_list<int64_t>, c10::TensorOptions = {});
}  // namespace at

namespace torch {
using at::kCPU;
using at::kCUDA;
using at::Tensor;
Tensor tensor(std::initializer_list<int>);
namespace cuda {
void synchronize(int64_t device = -1);
}
}  // namespace torch
