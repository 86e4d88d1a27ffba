#include "static_checks/sources/library_names.h"

namespace capgate::lint {

const Record* record_of(const Node* n) {
  n = bare(n);
  const Type* t = n ? n->type : nullptr;
  while (t && t->shape == Shape::reference) t = t->inner;
  return t ? t->record : nullptr;
}

bool is_pointer_like(const std::string& name) {
  return name.ends_with("unique_ptr") || name.ends_with("shared_ptr") ||
         name.ends_with("__shared_ptr_access") || name.ends_with("__shared_ptr") ||
         name.ends_with("iterator") || name.ends_with("iterator_base") || name.ends_with("optional") ||
         name.ends_with("reference_wrapper") || name.ends_with("_Iterator") ||
         name.ends_with("iterator_adaptor") || name.ends_with("iterator_facade") ||
         name.ends_with("device_ptr") || name.ends_with("thrust::pointer");
}

bool holds_a_callable(const Type* type) {
  if (!type) return false;
  if (type->shape == Shape::pointer) return points_to_function(type);
  if (type->shape != Shape::record || !type->record) return false;
  static constexpr std::array<std::string_view, 8> kHolders{
      "std::function",          "std::move_only_function",
      "std::copyable_function", "std::function_ref",
      "std::packaged_task",     "std::_Bind",
      "std::_Bind_front",       "std::_Mem_fn"};
  return is_one_of(type->record->name, kHolders);
}

bool is_harmless_callable(const std::string& name) {
  static constexpr std::array<std::string_view, 24> kObjects{
      "std::plus",        "std::minus",          "std::multiplies",    "std::divides",
      "std::modulus",     "std::negate",         "std::equal_to",      "std::not_equal_to",
      "std::greater",     "std::less",           "std::greater_equal", "std::less_equal",
      "std::logical_and", "std::logical_or",     "std::logical_not",   "std::bit_and",
      "std::bit_or",      "std::bit_xor",        "std::bit_not",       "std::hash",
      "std::identity",    "std::default_delete", "std::random_device", "std::owner_less"};
  return is_one_of(name, kObjects) || name.ends_with("_distribution") || name.ends_with("_engine") ||
         name.ends_with("_hash") || !name.starts_with("std::");
}

bool returns_a_code(const Function& function) {
  const std::string& name = function.name;
  if (name.starts_with("MPI_") || name.starts_with("PMPI_") || name.starts_with("nccl")) return true;
  if (!name.starts_with("nvshmem") && !name.starts_with("shmem_")) return false;
  for (const char* collective : {"reduce", "collect", "broadcast", "alltoall", "barrier", "sync", "put"})
    if (name.find(collective) != std::string::npos) return true;
  return false;
}

bool is_device_container(const std::string& name) {
  return name == "thrust::device_vector" || name == "thrust::universal_vector";
}

bool is_device_reference(const std::string& name) {
  return name == "thrust::device_reference" || name == "thrust::reference" ||
         name == "thrust::tagged_reference";
}

namespace {

// Whether each template argument but the first begins with this.
bool other_arguments_are(const Type* type, std::string_view wanted) {
  if (!type) return false;
  const std::string& s = type->spelling;
  int depth = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '<') ++depth;
    if (s[i] == '>') --depth;
    if (s[i] == ',' && depth == 1) {
      const std::string_view rest = std::string_view(s).substr(i + 1);
      const size_t word = rest.find_first_not_of(' ');
      if (word == std::string_view::npos || !rest.substr(word).starts_with(wanted)) return false;
    }
  }
  return true;
}

}  // namespace

bool has_default_allocator(const Type* type) {
  return other_arguments_are(type, "std::allocator");
}

bool has_default_deleter(const Type* type) {
  return other_arguments_are(type, "std::default_delete");
}

}  // namespace capgate::lint
