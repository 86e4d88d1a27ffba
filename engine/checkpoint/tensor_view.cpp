#include "engine/checkpoint/tensor_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace dsv4 {
namespace {

struct DTypeFacts {
  DType dtype;
  const char* name;
  std::size_t size;
};
constexpr std::array kFacts = {
    DTypeFacts{DType::kF32, "F32", 4},        DTypeFacts{DType::kBf16, "BF16", 2},
    DTypeFacts{DType::kF16, "F16", 2},        DTypeFacts{DType::kF8E4m3, "F8_E4M3", 1},
    DTypeFacts{DType::kF8E8m0, "F8_E8M0", 1}, DTypeFacts{DType::kI8, "I8", 1},
    DTypeFacts{DType::kI32, "I32", 4},        DTypeFacts{DType::kI64, "I64", 8},
};

}  // namespace

std::size_t dtype_size(DType dtype) {
  return kFacts[static_cast<std::size_t>(dtype)].size;
}
const char* dtype_name(DType dtype) {
  return kFacts[static_cast<std::size_t>(dtype)].name;
}

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const auto& facts : kFacts)
    if (name == facts.name) return facts.dtype;
  return std::nullopt;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace dsv4
