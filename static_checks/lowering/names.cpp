// Names, files and places.
#include <algorithm>
#include <cctype>
#include <ranges>

#include "static_checks/lowering/impl.h"

namespace capgate::lint {

bool ends_with_status_word(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* tail : {"_t", "_enum"})
    if (name.ends_with(tail)) {
      name.resize(name.size() - std::string_view(tail).size());
      break;
    }
  return name.ends_with("error") || name.ends_with("result") || name.ends_with("status") ||
         name.ends_with("errc");
}

bool is_of_no_model(const std::string& name) {
  for (const char* prefix : {"nccl", "nvshmem", "nvjpeg", "nvcomp", "npp", "cuFile", "cutensor", "cudss"})
    if (name.starts_with(prefix)) return true;
  return false;
}

bool is_of_a_known_library(const std::string& name) {
  for (const char* space : {"at::", "c10::", "torch::", "thrust::", "cub::", "cuda::", "nvtx3::", "std::"})
    if (name.starts_with(space)) return true;
  return false;
}

bool is_inside_a_tensor(const std::string& name) {
  for (const char* part :
       {"at::Tensor", "at::_ops::", "c10::intrusive_ptr", "c10::Scalar", "c10::Device", "c10::impl::"})
    if (name.starts_with(part)) return true;
  return false;
}

std::string without_arguments(std::string name) {
  if (const size_t angle = name.find('<'); angle != std::string::npos && !name.starts_with("operator"))
    name.resize(angle);
  return name;
}

std::string Lowering::Impl::qualified(const clang::NamedDecl* declaration) {
  std::vector<std::string> parts;
  for (const clang::Decl* d = declaration; d && !llvm::isa<clang::TranslationUnitDecl>(d);
       d = llvm::dyn_cast_or_null<clang::Decl>(d->getDeclContext())) {
    const auto* named = llvm::dyn_cast<clang::NamedDecl>(d);
    const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(d);
    if (!named || (space && space->isInline())) continue;
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(d); record && record->isLambda()) {
      parts.assign(1, "lambda");  // its call operator has no name of its own
      continue;
    }
    std::string part = without_arguments(named->getNameAsString());
    if (space && part.empty()) part = "(anonymous namespace)";
    if (!part.empty()) parts.push_back(std::move(part));
  }
  std::string name;
  for (const std::string& part : parts | std::views::reverse) {
    if (!name.empty()) name += "::";
    name += part;
  }
  return name;
}

uint32_t Lowering::Impl::file_id(const Spot& spot) {
  if (!spot.file) return 0;
  const auto [it, fresh] = files_.try_emplace(spot.file);
  if (fresh) {
    const std::string& path = tree_.path_of(spot.file);
    const auto known = std::find(program_.files.begin(), program_.files.end(), path);
    it->second = static_cast<uint32_t>(known - program_.files.begin());
    if (known == program_.files.end()) program_.files.push_back(path);
    file_texts_.resize(program_.files.size());
    file_texts_[it->second] = spot.id;
  }
  return it->second;
}

Place Lowering::Impl::place_of(clang::SourceLocation location) {
  const Spot spot = tree_.spot(location);
  return {program_.files[file_id(spot)], tree_.line_of(spot), tree_.column_of(spot)};
}

std::string_view Lowering::Impl::text_of(uint32_t file) const {
  return file < file_texts_.size() ? tree_.text_of(file_texts_[file]) : std::string_view();
}

}  // namespace capgate::lint
