// A tensor as a file (or a generator) holds it: type, shape and bytes that someone else owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dsv4 {

enum class DType : std::uint8_t { kF32, kBf16, kF16, kF8E4m3, kF8E8m0, kI8, kI32, kI64 };

std::size_t dtype_size(DType dtype);
const char* dtype_name(DType dtype);  // safetensors' name
std::optional<DType> dtype_from_name(std::string_view name);

struct TensorView {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;  // row-major
  const std::byte* data = nullptr;  // no alignment is promised
  std::size_t bytes = 0;
};

std::string shape_text(const std::vector<std::int64_t>& shape);  // "[4, 128]"

// Where a model's tensors come from, asked for by their upstream names ("layers.0.attn.wq_a.weight").
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // The views stay valid as long as the source lives.
  virtual std::optional<TensorView> find(const std::string& upstream_name) const = 0;
  // Two names under which it holds this tensor with different data; nothing where there is no such doubt.
  virtual std::optional<std::pair<std::string, std::string>> contradiction(const std::string&) const {
    return std::nullopt;
  }
  // Names the source in errors.
  virtual std::string description() const = 0;
};

}  // namespace dsv4
