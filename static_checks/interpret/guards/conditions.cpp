// Operators and conditions: values of both sides, and the states in which a condition holds and does not.
#include <algorithm>
#include <optional>
#include <string_view>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// Of the negated value.
Tag opposite(Tag tag) {
  switch (tag) {
    case Tag::capture_status:
    case Tag::is_capturing:
      return Tag::not_capturing;
    case Tag::not_capturing:
      return Tag::is_capturing;
    case Tag::begun:
      return Tag::not_begun;
    case Tag::not_begun:
      return Tag::begun;
    case Tag::none:
      break;
  }
  return Tag::none;
}

namespace {

bool is_status_of_cuda(const Node* n) {
  const Type* type = value_type(n);
  if (!type || !type->status) return false;
  static constexpr std::string_view kLibraries[] = {"cuda",     "CU",    "cublas", "cudnn", "cusparse",
                                                    "cusolver", "cufft", "curand", "nccl"};
  std::string_view name = type->spelling;
  if (name.starts_with("enum ")) name.remove_prefix(5);
  if (name.starts_with("const ")) name.remove_prefix(6);
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

// Whether `condition` compares such a status with success, which is zero everywhere; `equal`: it asks for
// success.
bool asks_for_success(const Node* condition, bool& equal) {
  const Node* n = bare(condition);
  if (is_status_of_cuda(n) && n->op != Op::binary) {
    equal = false;
    return true;
  }
  if (n->op != Op::binary || (n->binary() != BinaryOp::eq && n->binary() != BinaryOp::ne)) return false;
  const Node* l = bare(n->kids[0]);
  const Node* r = bare(n->kids[1]);
  if (l->has_value) std::swap(l, r);
  equal = n->binary() == BinaryOp::eq;
  return is_status_of_cuda(l) && r->has_value && r->value == 0;
}

// The capture could not be begun.
void leave_region(Flow& flow) {
  flow.region = 0;
  flow.marked = 0;
  flow.relaxed_capture = 0;
}

// What a comparison with a status tells: whether a capture was begun, or goes on. Null: nothing is known of
// it.
std::optional<Tag> told_by(BinaryOp op, const Value& l, const Value& r) {
  if (l.tag == Tag::none && r.tag == Tag::none) return std::nullopt;
  const Value& tagged = l.tag != Tag::none ? l : r;
  const Value& other = l.tag != Tag::none ? r : l;
  const bool tells = op == BinaryOp::eq || op == BinaryOp::ne;
  if (other.has_constant && tells && (tagged.tag == Tag::begun || tagged.tag == Tag::not_begun)) {
    // Of a status only success says anything: another error may have been met.
    const bool equal_to_zero = other.constant == 0;
    if (!equal_to_zero && tagged.tag == Tag::not_begun && op == BinaryOp::ne) return Tag::none;
    bool begun = tagged.tag == Tag::begun;
    if (equal_to_zero) begun = !begun;
    if (op == BinaryOp::ne) begun = !begun;
    return begun ? Tag::begun : Tag::not_begun;
  }
  if (other.has_constant && tells) {
    // cudaStreamCaptureStatusNone is 0, Active 1, Invalidated 2; a bool that says "capturing" is 1.
    bool capturing = other.constant != 0;
    if (tagged.tag == Tag::not_capturing) capturing = !capturing;
    if (op == BinaryOp::ne) capturing = !capturing;
    return capturing ? Tag::is_capturing : Tag::not_capturing;
  }
  return std::nullopt;
}

std::optional<int64_t> calculated(BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::add:
      return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    case BinaryOp::sub:
      return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    case BinaryOp::bit_or:
      return a | b;
    case BinaryOp::bit_and:
      return a & b;
    case BinaryOp::lt:
      return a < b;
    case BinaryOp::gt:
      return a > b;
    case BinaryOp::le:
      return a <= b;
    case BinaryOp::ge:
      return a >= b;
    case BinaryOp::eq:
      return a == b;
    case BinaryOp::ne:
      return a != b;
    default:
      return std::nullopt;
  }
}

}  // namespace

Value Interpreter::binary(const Node* n) {
  const Value l = eval(n->kids[0]);
  const Value r = eval(n->kids[1]);
  Value v;
  const bool l_pointer = n->kids[0]->type && n->kids[0]->type->shape == Shape::pointer;
  const bool r_pointer = n->kids[1]->type && n->kids[1]->type->shape == Shape::pointer;
  const bool pointer_result = n->type && n->type->shape == Shape::pointer;
  if (pointer_result && (l_pointer || r_pointer)) {
    const Value& pointer = l_pointer ? l : r;
    const Value& offset = l_pointer ? r : l;
    std::vector<PathId> moved = targets(pointer);
    const uint32_t index = n->binary() == BinaryOp::add ? constant_index(offset) : kAny;
    for (PathId& p : moved) p = paths_.indexed(p, index);
    v.targets = target_sets_.intern(std::move(moved));
    v.taint = pointer.taint;
    if (const Trace* t = cells_.taint_of(offset)) sink(Use::pointer_arithmetic, t, n);
    return v;
  }
  v.taint = cells_.taint_of(l) ? cells_.taint_of(l) : cells_.taint_of(r);
  if (n->kids[0]->type && n->kids[0]->type->status) v.taint = nullptr;
  if (n->binary() == BinaryOp::pointer_to_member || n->binary() == BinaryOp::pointer_to_member_through)
    return v;
  const bool comparison = n->binary() >= BinaryOp::three_way && n->binary() <= BinaryOp::ne;
  if (comparison)
    if (const std::optional<Tag> tag = told_by(n->binary(), l, r)) {
      v.tag = *tag;
      return v;
    }
  Counts left = operand_of(n->kids[0], l), right = operand_of(n->kids[1], r);
  // Beside a count, how far its loop runs is no setting.
  if (comparison && left == counts::kCounted && is_bound(n->kids[1])) right = counts::kBound;
  if (comparison && right == counts::kCounted && is_bound(n->kids[0])) left = counts::kBound;
  compared_ = comparison ? counts::decided_by(left, right) : 0;
  v.count = comparison ? counts::outcome(compared_) : counts::calculated(left, right);
  if (comparison && (l_pointer || r_pointer)) {
    // Comparing addresses says nothing of what they point to.
    v.taint = l.taint ? l.taint : r.taint;
    return v;
  }
  if (l.has_constant && r.has_constant) {
    const std::optional<int64_t> result = calculated(n->binary(), l.constant, r.constant);
    v.has_constant = result.has_value();
    v.constant = result.value_or(0);
  }
  return v;
}

// Evaluates a condition; `yes` and `no` are the states in which it holds and does not.
Value Interpreter::branch(const Node* condition, State& yes, State& no) {
  const Node* n = condition;
  while (n->op == Op::convert && n->kids.size() == 1 &&
         (n->kids[0]->op == Op::logical_and || n->kids[0]->op == Op::logical_or ||
          n->kids[0]->op == Op::unary || n->kids[0]->op == Op::convert))
    n = n->kids[0];
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    const bool conjunction = n->op == Op::logical_and;
    State l_yes, l_no;
    const Flow base = s().flow;
    const Value l = branch(n->kids[0], l_yes, l_no);
    if (const Trace* t = cells_.taint_of(l)) sink(Use::short_circuit, t, n->kids[0]);
    State& goes_on = conjunction ? l_yes : l_no;
    State& stops = conjunction ? l_no : l_yes;
    s() = goes_on;
    if (!l_yes.dead && !l_no.dead && is_host_test(n->kids[0], l))
      s().flow.tests = with_test(base.tests, n->kids[0], conjunction);
    State r_yes, r_no;
    Value r;
    if (s().dead) {
      r_yes.dead = r_no.dead = true;
      r = l;
    } else {
      r = branch(n->kids[1], r_yes, r_no);
    }
    if (conjunction) {
      yes = std::move(r_yes);
      no = std::move(stops);
      join(no, r_no, paths_, target_sets_, base);
      yes.flow.tests = no.flow.tests = base.tests;
    } else {
      no = std::move(r_no);
      yes = std::move(stops);
      join(yes, r_yes, paths_, target_sets_, base);
      yes.flow.tests = no.flow.tests = base.tests;
    }
    s() = yes;
    if (s().dead) s() = no;
    Value v;
    v.taint = l.taint ? l.taint : r.taint;
    v.count = counts::outcome(decides(n, true));
    return v;
  }
  if (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
    Value v = branch(n->kids[0], no, yes);
    if (v.has_constant) v.constant = !v.constant;
    v.tag = opposite(v.tag);
    return v;
  }
  Value v = eval(n);
  note_answer(n, v);
  yes = s();
  no = s();
  const Node* stream = nullptr;
  bool not_null = true;
  // A capture on the null stream cannot begin.
  if (s().flow.region && !s().flow.marked && asks_for_stream(n, stream, not_null) && captures(stream))
    (not_null ? no : yes).dead = true;
  if (v.tag == Tag::is_capturing || v.tag == Tag::capture_status) no.flow.not_capturing = 1;
  if (v.tag == Tag::not_capturing) yes.flow.not_capturing = 1;
  if (v.tag == Tag::begun) leave_region(no.flow);
  if (v.tag == Tag::not_begun) leave_region(yes.flow);
  if (v.has_constant) (v.constant ? no : yes).dead = true;
  if (bool equal = false; asks_for_success(n, equal)) (equal ? no : yes).flow.failed = 1;
  v.taint = cells_.taint_of(v);
  return v;
}

}  // namespace capgate::lint
