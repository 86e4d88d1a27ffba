// Statements that choose: both ways are run, and joined.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

void Interpreter::exec_when(const Node* n) {
  const size_t keep = frame_->locals.size();
  for (size_t i = 0; i < n->split; ++i) exec(n->kids[i]);
  const Node* condition = n->kids[n->split];
  Flow base = s().flow;
  State yes, no;
  const size_t temporaries = frame_->temporaries.size();
  const bool closed = base.region && !n->sub && closed_behind(condition);
  const Value v = branch(condition, yes, no);
  if (frame_->temporaries.size() > temporaries) {
    const std::vector<Temporary> made(frame_->temporaries.begin() + static_cast<long>(temporaries),
                                      frame_->temporaries.end());
    for (State* way : {&yes, &no}) {
      frame_->temporaries.resize(temporaries);
      frame_->temporaries.insert(frame_->temporaries.end(), made.begin(), made.end());
      s() = std::move(*way);
      end_temporaries(temporaries);
      *way = std::move(s());
    }
  }
  // Whether a capture was begun is what it asks: on the way on there may be one.
  if (yes.flow.region != no.flow.region) base.region = 0;
  if (is_explained(condition)) explain_condition(condition, v.taint);
  if (const Trace* t = v.taint) sink(Use::condition, t, condition);
  if (n->has_value) (n->value ? no : yes).dead = true;
  const uint32_t yes_region = yes.flow.region, no_region = no.flow.region;
  leave_where_not_begun(condition, yes, no);
  const bool left_yes = yes.flow.region != yes_region, left_no = no.flow.region != no_region;
  if (!yes.dead && !no.dead) {
    yes.flow.chosen_by = counts::chosen_by(decides(condition, true), base.chosen_by);
    no.flow.chosen_by = counts::chosen_by(decides(condition, false), base.chosen_by);
  }
  if (!n->sub && !left_yes && !left_no && !yes.dead && !no.dead && is_host_test(condition, v)) {
    yes.flow.tests = with_test(yes.flow.tests, condition, true);
    no.flow.tests = with_test(no.flow.tests, condition, false);
  }
  forget_keys(condition, true, {n->kids[n->split + 1]}, yes);
  if (yes.flow.region) check_once(n);
  if (yes.flow.region && base.first_use == FirstUse::none) {
    yes.flow.first_use = closed ? FirstUse::once : closes_guard(condition, true, {n->kids[n->split + 1]});
    if (n->kids[n->split + 2]) no.flow.first_use = closes_guard(condition, false, {n->kids[n->split + 2]});
  }
  const bool open_choice = n->sub && base.region && yes.flow.region;
  if (open_choice) {
    open_constexpr(n);
    yes.flow.not_capturing = no.flow.not_capturing = 1;
  }
  s() = std::move(yes);
  if (!s().dead) exec(n->kids[n->split + 1]);
  State after = std::move(s());
  s() = std::move(no);
  if (!s().dead && n->kids[n->split + 2]) exec(n->kids[n->split + 2]);
  note_begun_if(condition, after, s(), base);
  // In the other arm the capture goes on: there was none to end in this one.
  const Flow& other = left_yes ? s().flow : after.flow;
  const bool goes_on = (left_yes || left_no) && other.region == base.region && !(left_yes ? s() : after).dead;
  const Flow going_on = other;
  join(after, s(), paths_, target_sets_, base);
  s() = std::move(after);
  if (goes_on) {
    s().flow.region = going_on.region;
    s().flow.marked = going_on.marked;
    s().flow.relaxed_capture = going_on.relaxed_capture;
    s().flow.pooled = going_on.pooled;
  }
  s().flow.first_use = base.first_use;
  s().flow.tests = base.tests;
  s().flow.chosen_by = base.chosen_by;
  if (open_choice && s().flow.region == base.region) s().flow.not_capturing = base.not_capturing;
  leave_locals(keep, n, true);
}

void Interpreter::exec_choose(const Node* n) {
  const size_t keep = frame_->locals.size();
  for (size_t i = 0; i < n->split; ++i) exec(n->kids[i]);
  const Node* condition = n->kids[n->split];
  const Value v = eval(condition);
  if (is_explained(condition)) explain_condition(condition, cells_.taint_of(v));
  if (const Trace* t = cells_.taint_of(v)) sink(Use::choice, t, condition);
  const Node* body = n->kids[n->split + 1];
  const State entry = s();
  const Flow base = entry.flow;
  State breaks, continues;
  breaks.dead = continues.dead = true;
  State* outer_continue = frame_->loops.empty() ? &continues : frame_->loops.back().continues;
  const size_t outer_locals = frame_->loops.empty() ? keep : frame_->locals.size();
  frame_->loops.push_back({&breaks, outer_continue, outer_locals, base});
  bool has_default = false, taken = false;
  const Counts chosen_by = operand_of(condition, v);
  s().dead = true;
  std::vector<const Node*> statements;
  if (body->op == Op::block)
    for (const Node* kid : body->kids) statements.push_back(kid);
  else
    statements.push_back(body);
  for (const Node* kid : statements) {
    while (kid && (kid->op == Op::label_case || kid->op == Op::label_default)) {
      const bool is_default = kid->op == Op::label_default;
      has_default = has_default || is_default;
      const bool excluded = v.has_constant && !is_default && kid->has_value && kid->value != v.constant;
      const bool matches = v.has_constant && !is_default && kid->has_value && kid->value == v.constant;
      taken = taken || matches;
      if (!excluded && !(is_default && taken)) {
        State begins = entry;
        if (!v.has_constant)
          begins.flow.chosen_by =
              counts::chosen_by(counts::decided_by(chosen_by, counts::kConstant), base.chosen_by);
        if (v.tag == Tag::capture_status && kid->has_value && kid->value == 0)
          begins.flow.not_capturing = 1;  // cudaStreamCaptureStatusNone
        if (!is_default && is_host_test(condition, v)) {
          choices_[kid] = condition;
          frame_->answers[kid] = counts::decided_by(chosen_by, counts::kConstant);
          begins.flow.tests = with_test(base.tests, kid, true);
        }
        join(s(), begins, paths_, target_sets_, base);
      }
      kid = kid->kids.empty() ? nullptr : kid->kids[0];
    }
    if (kid && !s().dead) exec(kid);
  }
  frame_->loops.pop_back();
  leave_locals(keep, n, true);
  join(s(), breaks, paths_, target_sets_, base);
  if (!has_default && !taken) join(s(), entry, paths_, target_sets_, base);
  s().flow.tests = base.tests;
  s().flow.chosen_by = base.chosen_by;
}

}  // namespace capgate::lint
