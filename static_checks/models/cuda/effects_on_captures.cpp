// Calls that wait, and those that begin and end captures, steps, ranges and exceptions.
#include "static_checks/models/cuda/effect.h"

namespace capgate::lint {

void Interpreter::Effect::waits() {
  in.judge(event, n, waits_for);
}

void Interpreter::Effect::begins_capture() {
  in.begin_region(n, "capture");
  if (const Argument* stream = at_position(a, api.stream))
    for (const PathId p : in.targets(stream->value)) in.s().at(p).captured = true;
  const Argument* mode = at_position(a, api.kind);
  in.s().flow.relaxed_capture = mode && mode->value.has_constant && mode->value.constant == 2;
  in.s().flow.pooled = api.pool;
  v.tag = Tag::not_begun;
  in.judge(event, n);
}

void Interpreter::Effect::ends_capture() {
  in.end_region(n);
}

void Interpreter::Effect::begins_marked() {
  if (!in.s().flow.region) in.begin_region(n, "marked");
}

void Interpreter::Effect::ends_marked() {
  if (in.s().flow.marked == 1) in.end_region(n);
}

void Interpreter::Effect::begins_range() {
  if (const Argument* name = at_position(a, api.ptr)) in.push_range(name->node, n, "");
}

void Interpreter::Effect::ends_range() {
  in.pop_range(n);
}

void Interpreter::Effect::begins_eager_break() {
  in.s().flow.eager_break = 1;
}

void Interpreter::Effect::ends_eager_break() {
  in.s().flow.eager_break = 0;
}

void Interpreter::Effect::begins_allow() {
  const Argument* rule = at_position(a, api.rule_argument);
  const Argument* reason = at_position(a, api.reason_argument);
  if (rule && reason) in.allow(rule->node, reason->node);
}

void Interpreter::Effect::ends_allow() {
  in.s().flow.allowed = 0;
}

void Interpreter::Effect::tells_status() {
  Cell c;
  c.tag = Tag::capture_status;
  for (const int out : api.out)
    for (const PathId p : out_places(out)) in.s().at(p) = c;
  if (api.returns) v.tag = Tag::capture_status;
}

void Interpreter::Effect::exchanges_mode() {
  // In: the new mode; out: the old one. Relaxed is 2; handing back what was there before ends the idiom.
  for (const PathId p : out_places(api.ptr)) {
    const Cell c = in.s().read(in.paths_, p);
    in.s().flow.relaxed_thread = c.has_constant && c.constant == 2;
    Cell old;
    in.s().at(p) = old;
  }
}

}  // namespace capgate::lint
