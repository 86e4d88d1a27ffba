// As much of libtorch's interface as the labels need, with its layout: a tensor is a counted pointer, its methods are
// inline and hand over to functions of at::_ops whose bodies are in a library.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace c10 {
class intrusive_ptr_target {
 public:
  virtual ~intrusive_ptr_target() = default;
  mutable size_t refcount_ = 0;
};
template <class T>
class intrusive_ptr final {
 public:
  intrusive_ptr() noexcept : target_(nullptr) {}
  intrusive_ptr(const intrusive_ptr& other) : target_(other.target_) { retain_(); }
  intrusive_ptr(intrusive_ptr&& other) noexcept : target_(other.target_) { other.target_ = nullptr; }
  ~intrusive_ptr() noexcept { reset_(); }
  intrusive_ptr& operator=(const intrusive_ptr& other) & noexcept {
    intrusive_ptr copy(other);
    std::swap(target_, copy.target_);
    return *this;
  }
  T* operator->() const noexcept { return target_; }
  T* get() const noexcept { return target_; }
  size_t use_count() const noexcept { return target_ ? target_->refcount_ : 0; }

 private:
  void retain_() {
    if (target_ != nullptr) ++target_->refcount_;
  }
  void reset_() noexcept {
    if (target_ != nullptr && --target_->refcount_ == 0) delete target_;
    target_ = nullptr;
  }
  T* target_;
};

template <class T>
class ArrayRef final {
 public:
  ArrayRef() : data_(nullptr), length_(0) {}
  ArrayRef(const T& one) : data_(&one), length_(1) {}
  ArrayRef(const std::vector<T>& list) : data_(list.data()), length_(list.size()) {}
  ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), length_(list.size()) {}
  const T* begin() const { return data_; }
  const T* end() const { return data_ + length_; }
  size_t size() const { return length_; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  const T* data_;
  size_t length_;
};
using IntArrayRef = ArrayRef<int64_t>;

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
enum class ScalarType : int8_t { Byte, Int, Long, Half, Float, Bool };
enum class MemoryFormat : int8_t { Contiguous, Preserve };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr ScalarType kInt = ScalarType::Int;
constexpr ScalarType kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kBool = ScalarType::Bool;

struct Device final {
  Device(DeviceType type, int8_t index = -1) : type_(type), index_(index) {}
  Device(const std::string& name);
  bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
  int8_t index() const { return index_; }
  DeviceType type_;
  int8_t index_;
};

class Scalar {
 public:
  Scalar(double value) : number_(value) {}
  Scalar(int64_t value) : number_(static_cast<double>(value)) {}
  Scalar(int value) : number_(value) {}
  template <class T>
  T to() const;
  double toDouble() const { return number_; }
  bool toBool() const { return number_ != 0; }
  double number_;
};
template <>
inline int Scalar::to<int>() const {
  return static_cast<int>(number_);
}
template <>
inline float Scalar::to<float>() const {
  return static_cast<float>(number_);
}
template <>
inline bool Scalar::to<bool>() const {
  return number_ != 0;
}

struct TensorOptions {
  TensorOptions() = default;
  TensorOptions(Device device) : device_(device) {}
  TensorOptions(DeviceType type) : device_(type) {}
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions device(Device device) const {
    TensorOptions copy = *this;
    copy.device_ = device;
    return copy;
  }
  TensorOptions dtype(ScalarType type) const {
    TensorOptions copy = *this;
    copy.type_ = type;
    return copy;
  }
  std::optional<Device> device_;
  std::optional<ScalarType> type_;
};

struct TensorImpl : intrusive_ptr_target {
  int64_t numel() const { return numel_; }
  IntArrayRef sizes() const { return sizes_; }
  Device device() const { return *options_.device_; }
  void* data_ = nullptr;
  int64_t numel_ = 0;
  std::vector<int64_t> sizes_;
  TensorOptions options_;
};

namespace detail {
[[noreturn]] void torchCheckFail(const char* function, const char* file, uint32_t line, const char* message);
}
}  // namespace c10

#define TORCH_CHECK(condition, ...) \
  if (!(condition)) ::c10::detail::torchCheckFail(__func__, __FILE__, __LINE__, "" __VA_ARGS__)

namespace at {
using c10::Device;
using c10::IntArrayRef;
using c10::kBool;
using c10::kCPU;
using c10::kCUDA;
using c10::kFloat;
using c10::kHalf;
using c10::kInt;
using c10::MemoryFormat;
using c10::Scalar;
using c10::ScalarType;
using c10::TensorOptions;
class Tensor;

namespace indexing {
struct Slice {};
struct TensorIndex {
  TensorIndex(int64_t position);
  TensorIndex(Slice slice);
  TensorIndex(Tensor tensor);
};
}  // namespace indexing

namespace _ops {
struct item {
  static Scalar call(const Tensor& self);
};
struct is_nonzero {
  static bool call(const Tensor& self);
};
struct equal {
  static bool call(const Tensor& self, const Tensor& other);
};
struct to_device {
  static Tensor call(const Tensor& self, Device device, ScalarType type, bool non_blocking, bool copy);
};
struct to_options {
  static Tensor call(const Tensor& self, TensorOptions options, bool non_blocking, bool copy);
};
struct nonzero {
  static Tensor call(const Tensor& self);
};
struct masked_select {
  static Tensor call(const Tensor& self, const Tensor& mask);
};
struct index_Tensor {
  static Tensor call(const Tensor& self, c10::ArrayRef<indexing::TensorIndex> indices);
};
struct copy_ {
  static Tensor& call(Tensor& self, const Tensor& from, bool non_blocking);
};
struct gt_Scalar {
  static Tensor call(const Tensor& self, const Scalar& other);
};
struct sum {
  static Tensor call(const Tensor& self);
};
struct add_Tensor {
  static Tensor call(const Tensor& self, const Tensor& other);
};
struct index_select {
  static Tensor call(const Tensor& self, int64_t dim, const Tensor& index);
};
struct select {
  static Tensor call(const Tensor& self, int64_t dim, int64_t index);
};
struct view {
  static Tensor call(const Tensor& self, IntArrayRef size);
};
struct clone {
  static Tensor call(const Tensor& self);
};
struct unique2 {
  static std::tuple<Tensor, Tensor, Tensor> call(const Tensor& self);
};
struct where {
  static std::vector<Tensor> call(const Tensor& condition);
};
struct _local_scalar_dense {
  static Scalar call(const Tensor& self);
};
struct allclose {
  static bool call(const Tensor& self, const Tensor& other);
};
struct argwhere {
  static Tensor call(const Tensor& self);
};
struct unique {
  static std::tuple<Tensor, Tensor> call(const Tensor& self);
};
struct unique_consecutive {
  static std::tuple<Tensor, Tensor, Tensor> call(const Tensor& self);
};
struct unique_dim {
  static std::tuple<Tensor, Tensor, Tensor> call(const Tensor& self, int64_t dim);
};
struct nonzero_numpy {
  static std::vector<Tensor> call(const Tensor& self);
};
}  // namespace _ops

class TensorBase {
 public:
  TensorBase() = default;
  TensorBase(const TensorBase&) = default;
  TensorBase(TensorBase&&) noexcept = default;
  TensorBase& operator=(const TensorBase&) & = default;
  int64_t dim() const { return static_cast<int64_t>(impl_->sizes().size()); }
  int64_t size(int64_t d) const { return impl_->sizes()[static_cast<size_t>(d)]; }
  IntArrayRef sizes() const { return impl_->sizes(); }
  int64_t numel() const { return impl_->numel(); }
  bool defined() const { return impl_.get() != nullptr; }
  bool is_cuda() const { return impl_->device().type_ == c10::kCUDA; }
  bool is_contiguous() const { return true; }
  Device device() const { return impl_->device(); }
  ScalarType scalar_type() const { return *impl_->options_.type_; }
  TensorOptions options() const { return impl_->options_; }
  size_t use_count() const { return impl_.use_count(); }
  bool is_same(const TensorBase& other) const { return impl_.get() == other.impl_.get(); }
  template <class T>
  T* data_ptr() const {
    return static_cast<T*>(impl_->data_);
  }

 protected:
  c10::intrusive_ptr<c10::TensorImpl> impl_;
};

class Tensor : public TensorBase {
 public:
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor& other) & noexcept {
    impl_ = other.impl_;
    return *this;
  }
  Scalar item() const { return _ops::item::call(const_cast<Tensor&>(*this)); }
  template <class T>
  T item() const;
  bool is_nonzero() const { return _ops::is_nonzero::call(const_cast<Tensor&>(*this)); }
  bool equal(const Tensor& other) const { return _ops::equal::call(const_cast<Tensor&>(*this), other); }
  Tensor to(TensorOptions options = {}, bool non_blocking = false, bool copy = false) const {
    return _ops::to_options::call(*this, options, non_blocking, copy);
  }
  Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const {
    return _ops::to_device::call(*this, device, type, non_blocking, copy);
  }
  Tensor cpu() const { return to(TensorOptions(c10::kCPU)); }
  Tensor cuda() const { return to(TensorOptions(c10::kCUDA)); }
  Tensor nonzero() const { return _ops::nonzero::call(const_cast<Tensor&>(*this)); }
  bool allclose(const Tensor& other) const { return _ops::allclose::call(*this, other); }
  Tensor argwhere() const { return _ops::argwhere::call(*this); }
  std::vector<Tensor> nonzero_numpy() const { return _ops::nonzero_numpy::call(*this); }
  std::tuple<Tensor, Tensor, Tensor> unique_consecutive() const { return _ops::unique_consecutive::call(*this); }
  Tensor masked_select(const Tensor& mask) const { return _ops::masked_select::call(*this, mask); }
  Tensor index(c10::ArrayRef<indexing::TensorIndex> indices) const { return _ops::index_Tensor::call(*this, indices); }
  Tensor index_select(int64_t dim, const Tensor& index) const { return _ops::index_select::call(*this, dim, index); }
  Tensor& copy_(const Tensor& from, bool non_blocking = false) const {
    return _ops::copy_::call(const_cast<Tensor&>(*this), from, non_blocking);
  }
  Tensor gt(const Scalar& other) const { return _ops::gt_Scalar::call(*this, other); }
  Tensor sum() const { return _ops::sum::call(*this); }
  Tensor add(const Tensor& other) const { return _ops::add_Tensor::call(*this, other); }
  Tensor view(IntArrayRef size) const { return _ops::view::call(*this, size); }
  Tensor clone() const { return _ops::clone::call(*this); }
  Tensor operator~() const;
  Tensor operator[](int64_t index) const { return _ops::select::call(*this, 0, index); }
  Tensor operator[](Tensor index) const { return (*this)[static_cast<int64_t>(index.item().toDouble())]; }
};
template <>
inline int Tensor::item<int>() const {
  return item().to<int>();
}
template <>
inline float Tensor::item<float>() const {
  return item().to<float>();
}
template <>
inline bool Tensor::item<bool>() const {
  return item().to<bool>();
}

inline Tensor operator>(const Tensor& self, const Scalar& other) {
  return self.gt(other);
}
inline bool equal(const Tensor& self, const Tensor& other) {
  return _ops::equal::call(self, other);
}
inline Scalar _local_scalar_dense(const Tensor& self) {
  return _ops::_local_scalar_dense::call(self);
}
inline bool is_nonzero(const Tensor& self) {
  return _ops::is_nonzero::call(self);
}
inline bool allclose(const Tensor& self, const Tensor& other) {
  return _ops::allclose::call(self, other);
}
inline Tensor nonzero(const Tensor& self) {
  return _ops::nonzero::call(self);
}
inline Tensor argwhere(const Tensor& self) {
  return _ops::argwhere::call(self);
}
inline Tensor masked_select(const Tensor& self, const Tensor& mask) {
  return _ops::masked_select::call(self, mask);
}
inline Tensor index(const Tensor& self, c10::ArrayRef<indexing::TensorIndex> indices) {
  return _ops::index_Tensor::call(self, indices);
}
inline std::vector<Tensor> nonzero_numpy(const Tensor& self) {
  return _ops::nonzero_numpy::call(self);
}
inline std::tuple<Tensor, Tensor> _unique(const Tensor& self) {
  return _ops::unique::call(self);
}
inline std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self) {
  return _ops::unique_consecutive::call(self);
}
inline std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim) {
  return _ops::unique_dim::call(self, dim);
}
inline std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self) {
  return _ops::unique2::call(self);
}
inline std::vector<Tensor> where(const Tensor& condition) {
  return _ops::where::call(condition);
}
Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);
Tensor zeros(IntArrayRef size, TensorOptions options = {});
Tensor empty(IntArrayRef size, TensorOptions options = {});
Tensor empty_like(const Tensor& self);
}  // namespace at

namespace c10::cuda {
class CUDAStream {
 public:
  void synchronize() const;
  bool query() const;
};
void device_synchronize();
void stream_synchronize(void* stream);
}  // namespace c10::cuda
namespace at::cuda {
struct CUDAEvent {
  void synchronize() const;
  bool query() const;
};
struct CUDAGraph {
  void capture_begin();
  void capture_end();
};
using c10::cuda::CUDAStream;
}  // namespace at::cuda

namespace torch {
using namespace at;  // NOLINT
at::Tensor tensor(std::initializer_list<int> values);
inline at::Tensor empty(at::IntArrayRef size, at::TensorOptions options = {}) {
  return at::zeros(size, options);
}
namespace indexing {
using at::indexing::Slice;
}
namespace cuda {
void synchronize(int64_t device = -1);
}
}  // namespace torch
