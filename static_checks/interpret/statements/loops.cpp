// Loops run until the state settles.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

constexpr int kMaxRounds = 6;

bool is_relational(const Node* n) {
  n = bare(n);
  if (n->op == Op::logical_and || n->op == Op::logical_or)
    return is_relational(n->kids[0]) || is_relational(n->kids[1]);
  return n->op == Op::binary && n->binary() >= BinaryOp::lt && n->binary() <= BinaryOp::ne;
}

}  // namespace

void Interpreter::exec_loop(const Node* n) {
  const size_t keep = frame_->locals.size();
  const bool is_for = n->op == Op::loop_for;
  const Node* condition = nullptr;
  const Node* step = nullptr;
  const Node* body = nullptr;
  const size_t counters = frame_->counters.size();
  const std::vector<PathId> swept_outside = std::move(frame_->swept);
  frame_->swept.clear();
  std::vector<std::pair<PathId, Cell>> swept;  // as a full round of the loop leaves them
  if (is_for) {
    if (n->kids.size() != 4) return;
    if (n->kids[0]) exec(n->kids[0]);
    condition = n->kids[1];
    step = n->kids[2];
    body = n->kids[3];
    note_bounds(n->kids[0]);
    if (step) {
      const Node* counted = bare(step);
      while (counted->op == Op::comma) counted = bare(counted->kids[0]);
      if (counted->op == Op::step || counted->op == Op::compound_assign) {
        const Node* target = bare(counted->kids[0]);
        if (target->op == Op::variable) frame_->counters.push_back(target->variable);
      }
    }
  } else if (n->op == Op::loop_while) {
    condition = n->kids[n->split];
    body = n->kids[n->split + 1];
  } else {
    body = n->kids[0];
    condition = n->kids[1];
  }
  note_bounds(condition);
  const Flow base = s().flow;
  State exits;
  exits.dead = true;
  ++frame_->rounds;
  for (int round = 0; round < kMaxRounds; ++round) {
    const State entry = s();
    if (entry.dead || exhausted_) break;
    State breaks, continues;
    breaks.dead = continues.dead = true;
    frame_->loops.push_back({&breaks, &continues, frame_->locals.size(), base});
    const size_t inner = frame_->locals.size();
    State no;
    no.dead = true;
    const auto test = [&] {
      if (!condition || s().dead) return;
      for (size_t i = 0; !is_for && n->op == Op::loop_while && i < n->split; ++i) exec(n->kids[i]);
      State yes;
      const Value v = branch(condition, yes, no);
      if (is_explained(condition)) explain_condition(condition, v.taint);
      if (const Trace* t = v.taint)
        sink(is_for && is_relational(condition) ? Use::loop_bound : Use::loop_condition, t, condition);
      s() = std::move(yes);
    };
    if (n->op != Op::loop_do) test();
    if (!s().dead) exec(body);
    join(s(), continues, paths_, target_sets_, base);
    swept.clear();
    if (!s().dead)
      for (const PathId p : frame_->swept) swept.emplace_back(p, s().read(paths_, p));
    if (n->op == Op::loop_do) test();
    if (step && !s().dead) {
      eval(step);
      note_stepped(step);
    }
    leave_locals(inner, n, true);
    frame_->loops.pop_back();
    join(exits, no, paths_, target_sets_, base);
    join(exits, breaks, paths_, target_sets_, base);
    State next = entry;
    join(next, s(), paths_, target_sets_, base);
    if (next.same(entry)) break;
    s() = std::move(next);
  }
  --frame_->rounds;
  frame_->counters.resize(counters);
  frame_->swept = swept_outside;
  s() = std::move(exits);
  s().flow.tests = base.tests;
  s().flow.chosen_by = base.chosen_by;
  // A loop that fills an array is taken to run over all of it: where it runs not at all, there is nothing.
  if (!s().dead)
    for (const auto& [path, cell] : swept)
      if (!cell.taint && paths_[path].parent) {
        s().erase_below(paths_, paths_[path].parent, false);
        s().at(path) = cell;
      }
  leave_locals(keep, n, true);
}

void Interpreter::exec_range(const Node* n) {
  const size_t keep = frame_->locals.size();
  const Node* range = n->kids[0];
  std::vector<PathId> at = places(range);
  if (at.empty()) at = cells_.place_or_temporary(range, eval(range));
  const Type* type = range->type;
  if (type && type->shape == Shape::reference) type = type->inner;
  const bool container = type && type->shape == Shape::record;
  if (container)
    for (const PathId p : at)
      if (const Cell* c = s().find(p); c && c->taint && !c->deep) sink(Use::loop_bound, c->taint, range);
  const Flow base = s().flow;
  State exits = s();
  ++frame_->rounds;
  if (n->variable) frame_->elements.push_back(n->variable);
  for (int round = 0; round < kMaxRounds && !exhausted_; ++round) {
    const State entry = s();
    if (entry.dead) break;
    State breaks, continues;
    breaks.dead = continues.dead = true;
    frame_->loops.push_back({&breaks, &continues, frame_->locals.size(), base});
    for (size_t i = 2; i < n->kids.size(); ++i) eval(n->kids[i]);  // begin(), end(), the iterator's operators
    for (const PathId p : at) bind(n, paths_.extend(p, Step::element, kAny));
    exec(n->kids[1]);
    join(s(), continues, paths_, target_sets_, base);
    frame_->loops.pop_back();
    join(exits, s(), paths_, target_sets_, base);
    join(exits, breaks, paths_, target_sets_, base);
    State next = entry;
    join(next, s(), paths_, target_sets_, base);
    if (next.same(entry)) break;
    s() = std::move(next);
  }
  if (n->variable) frame_->elements.pop_back();
  --frame_->rounds;
  s() = std::move(exits);
  s().flow.tests = base.tests;
  s().flow.chosen_by = base.chosen_by;
  leave_locals(keep, n, true);
}

}  // namespace capgate::lint
