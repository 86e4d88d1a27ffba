// Whether a kernel may write through one of its pointers. Memory that both sides see holds device values only
// where a kernel may have written it; many kernels take plain pointers to what they only read.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

bool is_pointer(const Node* n) {
  return n->type && n->type->shape == Shape::pointer;
}

// The value of `n` is the pointer, or one into the same memory.
bool is_pointer_of(const Node* n, const Variable* v) {
  n = bare(n);
  if (!n) return false;
  if (n->op == Op::variable) return n->variable == v;
  if (n->op == Op::binary && is_pointer(n))
    return is_pointer_of(n->kids[0], v) || is_pointer_of(n->kids[1], v);
  if (n->op == Op::conditional) return is_pointer_of(n->kids[1], v) || is_pointer_of(n->kids[2], v);
  if (n->op == Op::step || n->op == Op::comma) return is_pointer_of(n->kids.back(), v);
  return false;
}

// `n` denotes memory behind the pointer.
bool is_memory_of(const Node* n, const Variable* v) {
  n = bare(n);
  if (!n || n->kids.empty()) return false;
  if (n->op == Op::deref || n->op == Op::index)
    return is_pointer_of(n->kids[0], v) || is_memory_of(n->kids[0], v);
  if (n->op == Op::field) return is_memory_of(n->kids[0], v);
  return false;
}

}  // namespace

bool Questions::may_write(const Node* n, const Variable* v, int depth) {
  if (!n) return false;
  switch (n->op) {
    case Op::assign:
    case Op::compound_assign:
    case Op::step:
      if (is_memory_of(n->kids[0], v)) return true;
      if (n->op == Op::assign && is_pointer_of(n->kids[1], v)) return true;  // another name for it
      break;
    case Op::address:
      if (is_memory_of(n->kids[0], v)) return true;
      break;
    case Op::declare:
      if (!n->kids.empty() && n->kids[0]) {
        const Type* t = n->variable ? n->variable->type : n->type;
        const bool read_only = t && t->inner && t->inner->is_const;
        if (!read_only && (is_pointer_of(n->kids[0], v) ||
                           (t && t->shape == Shape::reference && is_memory_of(n->kids[0], v))))
          return true;
      }
      break;
    case Op::call: {
      Function* f = n->function;
      const size_t first = n->has_object ? 1 : 0;
      for (size_t i = 0; i < n->kids.size(); ++i) {
        const bool given = is_pointer_of(n->kids[i], v);
        const bool memory = is_memory_of(n->kids[i], v);
        if (!given && !memory) continue;
        if (!f || i < first || i - first >= f->params.size()) {
          if (given || (i < first && !(f && f->is_const))) return true;
          continue;
        }
        const Variable* p = f->params[i - first];
        const Type* t = p->type;
        if (!t || (t->shape != Shape::pointer && t->shape != Shape::reference)) {
          if (given) return true;  // wrapped into an object
          continue;
        }
        if (t->inner && t->inner->is_const) continue;
        if (given && t->shape == Shape::pointer && f->user) {
          if (writes_through(*f, i - first, depth + 1)) return true;
          continue;
        }
        return true;
      }
      break;
    }
    case Op::construct:
    case Op::list:
    case Op::give_back:
    case Op::make:
    case Op::other:
      for (const Node* kid : n->kids)
        if (kid && is_pointer_of(kid, v)) return true;
      break;
    case Op::lambda:
      lowering_.lower(*n->function);
      if (may_write(n->function->body, v, depth)) return true;
      break;
    default:
      break;
  }
  for (const Node* kid : n->kids)
    if (may_write(kid, v, depth)) return true;
  return false;
}

bool Questions::writes_through(Function& f, size_t param, int depth) {
  if (param >= f.params.size() || depth > 8 || !f.has_body) return true;
  const auto key = std::make_pair(f.id, static_cast<uint32_t>(param));
  if (const auto known = writes_.find(key); known != writes_.end()) return known->second;
  writes_[key] = false;  // a recursive call adds nothing
  lowering_.lower(f);
  const bool result = !f.body || may_write(f.body, f.params[param], depth);
  writes_[key] = result;
  return result;
}

}  // namespace capgate::lint
