#include "static_checks/dataflow/program.h"

namespace capgate::lint {

uint32_t Program::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto it = text_ids_.find(text); it != text_ids_.end()) return it->second;
  texts_.emplace_back(text);
  const auto id = static_cast<uint32_t>(texts_.size() - 1);
  text_ids_.emplace(texts_.back(), id);
  return id;
}

}  // namespace capgate::lint
