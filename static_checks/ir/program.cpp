#include "static_checks/ir/program.h"

#include <algorithm>

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

bool points_to_function(const Type* type) {
  return type && type->shape == Shape::pointer && type->inner &&
         type->inner->spelling.find('(') != std::string::npos;
}

bool names_a_function(const Node* n) {
  if (!n) return false;
  return n->op == Op::function || n->op == Op::lambda ||
         std::any_of(n->kids.begin(), n->kids.end(), names_a_function);
}

bool is_relation(const Node* n) {
  return n->op == Op::binary && n->binary() >= BinaryOp::lt && n->binary() <= BinaryOp::ne;
}

bool mentions(const Node* n, const Variable* v) {
  if (!n) return false;
  if (n->op == Op::variable && n->variable == v) return true;
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) { return mentions(kid, v); });
}

bool is_number(const Type* type) {
  return type &&
         (type->shape == Shape::scalar || type->shape == Shape::boolean || type->shape == Shape::enumeration);
}

Position Program::position(const Node* n) const {
  std::vector<uint32_t>& starts = line_starts_[n->file];
  if (starts.empty()) {
    const std::string_view text = text_of ? text_of(n->file) : std::string_view();
    starts.push_back(0);
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      starts.push_back(static_cast<uint32_t>(at + 1));
  }
  const auto next = std::upper_bound(starts.begin(), starts.end(), n->offset);
  return {static_cast<int>(next - starts.begin()), static_cast<int>(n->offset - *(next - 1)) + 1};
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
