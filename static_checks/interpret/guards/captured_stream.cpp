// Tests of the capture's own stream, and of the condition that it was begun under.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

bool is_stream(const Node* n) {
  const Type* type = value_type(n);
  if (!type || type->shape != Shape::pointer || !type->inner) return false;
  if (type->inner->spelling.find("CUstream_st") != std::string::npos) return true;
  const Node* named = bare(n);
  if (type->inner->shape == Shape::record || named->op != Op::variable) return false;
  return named->variable->name.find("stream") != std::string::npos;
}

}  // namespace

// `condition` asks whether a stream is null; it is not where the condition is `wanted`.
bool Interpreter::asks_for_stream(const Node* condition, const Node*& stream, bool& wanted) {
  const Node* n = bare(condition);
  wanted = true;
  while (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
    wanted = !wanted;
    n = bare(n->kids[0]);
  }
  if (n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne)) {
    if (!bare(n->kids[1])->has_value || bare(n->kids[1])->value != 0) return false;
    if (n->binary() == BinaryOp::eq) wanted = !wanted;
    n = bare(n->kids[0]);
  }
  stream = n;
  return is_stream(n);
}

bool Interpreter::captures(const Node* stream) {
  const Node* n = bare(stream);
  if (n->op != Op::variable && n->op != Op::field && n->op != Op::deref && n->op != Op::index) return false;
  for (const PathId p : targets(eval(n)))
    if (const Cell* cell = s().find(p); cell && cell->captured) return true;
  return false;
}

// Where a region was begun in one arm of a test, the same test says later whether it is open.
void Interpreter::note_begun_if(const Node* condition, const State& yes, const State& no, const Flow& base) {
  if (base.region || yes.dead || no.dead || (yes.flow.region != 0) == (no.flow.region != 0)) return;
  const auto [text, plain] = without_negation(program_, condition);
  if (text.find("…") != std::string::npos) return;
  begun_if_[yes.flow.region ? yes.flow.region : no.flow.region] = {text, plain == (yes.flow.region != 0)};
}

void Interpreter::leave_where_not_begun(const Node* condition, State& yes, State& no) {
  const auto known = begun_if_.find(s().flow.region);
  if (known == begun_if_.end()) return;
  const auto [text, plain] = without_negation(program_, condition);
  if (text != known->second.first) return;
  Flow& flow = (plain == known->second.second ? no : yes).flow;
  flow.region = 0;
  flow.marked = 0;
  flow.relaxed_capture = 0;
}

}  // namespace capgate::lint
