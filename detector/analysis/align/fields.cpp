#include "detector/analysis/align/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include "detector/analysis/kernel_name.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {
namespace {

constexpr std::array kScalars = std::to_array<std::string_view>(
    {"bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
     "unsigned long", "long long", "unsigned long long", "float", "double", "__half", "__nv_bfloat16", "half",
     "c10::Half", "c10::BFloat16"});

bool is_scalar_type(std::string_view type) {
  return std::find(kScalars.begin(), kScalars.end(), type) != kScalars.end();
}

// No integer that programs count with, and no number in floating point that they calculate with.
bool may_be_address(uint64_t value) {
  return value >= uint64_t{1} << 32 && value < uint64_t{1} << 57;
}

uint64_t word_at(std::span<const std::byte> bytes, size_t offset, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, std::min(size, sizeof value));
  return value;
}

// PyTorch's functors that hold a number of the program's: where it lies in them. Nothing: all of a
// structure's words may be padding.
struct Functor {
  std::string_view type;
  bool only_last_half;  // the rest is an empty member and what follows it
};
constexpr std::array kFunctors = std::to_array<Functor>({{"at::native::FillFunctor<", false},
                                                         {"at::native::CUDAFunctorOnSelf_add<", false},
                                                         {"at::native::AUnaryFunctor<", true},
                                                         {"at::native::BUnaryFunctor<", true}});

// From where on the words of a structure are numbers that somebody set; its size: none are known to be.
uint32_t numbers_from(std::string_view type, uint32_t size) {
  for (const Functor& functor : kFunctors)
    if (type.starts_with(functor.type)) return functor.only_last_half ? size / 2 : 0;
  return size;
}

class Reader {
 public:
  Reader(const trace::ProcessTrace& trace, const trace::GraphNodeRecord& record)
      : record_(record),
        params_(trace::node_params(trace, record)),
        types_(kernel_parameter_types(trace.text(record.name))) {
    if (types_.size() != params_.size()) types_.assign(params_.size(), "");
  }

  std::vector<Field> fields() {
    for (uint32_t i = 0; i < 3; ++i) add({FieldKind::grid, i, 0, 4, record_.grid[i], "", true});
    for (uint32_t i = 0; i < 3; ++i) add({FieldKind::block, i, 0, 4, record_.block[i], "", true});
    add({FieldKind::shared, 0, 0, 4, record_.shared_bytes, "", true});
    for (uint32_t i = 0; i < params_.size(); ++i) parameter(i);
    return std::move(out_);
  }

  std::vector<PointerField> pointers() const {
    std::vector<PointerField> out;
    for (uint32_t i = 0; i < params_.size(); ++i) {
      const auto& bytes = params_[i].bytes;
      const bool array =
          types_[i].find("<char*") != std::string::npos;  // of operands, as PyTorch passes them
      if (!array && (bytes.size() != 8 || !is_pointer(i))) continue;
      for (uint32_t at = 0; at + 8 <= bytes.size(); at += 8)
        if (const uint64_t address = word_at(bytes, at, 8); may_be_address(address))
          out.push_back({i, at, address});
    }
    return out;
  }

 private:
  void add(Field field) { out_.push_back(std::move(field)); }

  bool is_pointer(uint32_t i) const {
    const std::string& type = types_[i];
    if (!type.empty()) return type.ends_with('*');
    return params_[i].bytes.size() == 8 && may_be_address(word_at(params_[i].bytes, 0, 8));
  }

  void parameter(uint32_t i) {
    const auto& bytes = params_[i].bytes;
    const auto size = static_cast<uint32_t>(bytes.size());
    const std::string& type = types_[i];
    if (is_pointer(i) || type.find("Philox") != std::string::npos) return;
    const bool one_word = size == 1 || size == 2 || size == 4 || size == 8;
    if (one_word && (type.empty() || is_scalar_type(type) || size <= 4)) {
      add({FieldKind::parameter, i, 0, size, word_at(bytes, 0, size), type, true});
      return;
    }
    const uint32_t from = numbers_from(type, size);
    for (uint32_t at = 0; at + 4 <= size; at += 4) {
      const uint32_t pair = at & ~7U;
      const bool address = pair + 8 <= size && may_be_address(word_at(bytes, pair, 8));
      // Both halves of what may be a pointer are left out, unless the structure is known to hold numbers.
      if (address && from >= size) continue;
      add({FieldKind::parameter, i, at, 4, word_at(bytes, at, 4), type, at >= from});
    }
  }

  const trace::GraphNodeRecord& record_;
  std::vector<trace::NodeParam> params_;
  std::vector<std::string> types_;
  std::vector<Field> out_;
};

bool is_float(const Field& field) {
  if (field.type == "float") return true;
  const bool of_floats =
      field.type.starts_with("at::native::") && field.type.find("<float") != std::string::npos;
  return of_floats && field.size == 4;
}

bool is_half(const Field& field) {
  return field.type.find("alf") != std::string::npos || field.type.find("bfloat16") != std::string::npos ||
         field.type.find("BFloat16") != std::string::npos;
}

bool is_unsigned(const Field& field) {
  return field.kind != FieldKind::parameter || field.type.starts_with("unsigned");
}

int64_t signed_value(const Field& field) {
  switch (field.size) {
    case 1:
      return static_cast<int8_t>(field.value);
    case 2:
      return static_cast<int16_t>(field.value);
    case 4:
      return static_cast<int32_t>(field.value);
    default:
      return static_cast<int64_t>(field.value);
  }
}

}  // namespace

std::vector<Field> fields_of(const trace::ProcessTrace& trace, const trace::GraphNodeRecord& record) {
  return Reader(trace, record).fields();
}

std::vector<PointerField> pointers_of(const trace::ProcessTrace& trace,
                                      const trace::GraphNodeRecord& record) {
  return Reader(trace, record).pointers();
}

std::string name_of(const Field& field) {
  constexpr std::array kAxes = {"x", "y", "z"};
  switch (field.kind) {
    case FieldKind::grid:
      return fmt::format("the grid's {}", kAxes.at(field.index));
    case FieldKind::block:
      return fmt::format("the block's {}", kAxes.at(field.index));
    case FieldKind::shared:
      return "the size of its shared memory";
    case FieldKind::bytes:
      return "the number of bytes";
    case FieldKind::parameter:
      break;
  }
  constexpr size_t kLongest = 60;
  std::string out = fmt::format("argument {}", field.index + 1);
  if (!field.type.empty())
    out += fmt::format(" ({}{})", field.type.substr(0, kLongest), field.type.size() > kLongest ? "..." : "");
  return field.offset > 0 ? out + fmt::format(", byte {}", field.offset) : out;
}

std::string value_text(const Field& field) {
  if (is_float(field)) return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(field.value)));
  if (field.type == "double") return fmt::format("{}", std::bit_cast<double>(field.value));
  if (field.type == "bool") return field.value ? "true" : "false";
  if (is_half(field)) return bits_text(field);
  return is_unsigned(field) ? std::to_string(field.value) : std::to_string(signed_value(field));
}

double number_of(const Field& field) {
  if (is_float(field)) return std::bit_cast<float>(static_cast<uint32_t>(field.value));
  if (field.type == "double") return std::bit_cast<double>(field.value);
  return is_unsigned(field) ? static_cast<double>(field.value) : static_cast<double>(signed_value(field));
}

std::string bits_text(const Field& field) {
  return fmt::format("{:#0{}x}", field.value, 2 + 2 * field.size);
}

}  // namespace capgate::analysis
