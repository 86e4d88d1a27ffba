#include "static_checks/dataflow/program.h"

namespace capgate::lint {

const Node* bare(const Node* n) {
  while (n && n->op == Op::convert && n->kids.size() == 1) n = n->kids[0];
  return n;
}

const Type* value_type(const Node* n) {
  n = bare(n);
  const Type* t = n ? n->type : nullptr;
  while (t && t->shape == Shape::reference) t = t->inner;
  return t;
}

uint32_t Program::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto it = text_ids_.find(text); it != text_ids_.end()) return it->second;
  texts_.emplace_back(text);
  const auto id = static_cast<uint32_t>(texts_.size() - 1);
  text_ids_.emplace(texts_.back(), id);
  return id;
}

}  // namespace capgate::lint
