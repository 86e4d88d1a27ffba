// Calls that copy, set, allocate, free and register memory.
#include "static_checks/models/cuda/effect.h"

namespace capgate::lint {

void Interpreter::Effect::copies() {
  in.copy(api, n, a, event);
  if (api.is == Is::copy && api.async && !event.to_device)
    in.frame_->read_backs.push_back({n, in.stream_text(api, a)});
  in.judge(event, n);
  if (api.is == Is::copy && api.async) in.note_uses(a, n);
  if (api.returns_dst && api.dst >= 0 && static_cast<size_t>(api.dst) < a.size())
    v.targets = a[static_cast<size_t>(api.dst)].value.targets;
}

void Interpreter::Effect::sets() {
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = in.cells_.taint_of(bytes->value)) in.sink(Use::size, t, bytes->node);
  const std::vector<PathId> dst = out_places(api.dst);
  for (const PathId p : dst)
    if (in.cells_.memory_of(p) != Memory::device) in.cells_.write_memory(p, nullptr, dst.size() == 1);
  in.judge(event, n);
  if (api.async) in.note_uses(a, n);
}

void Interpreter::Effect::allocates() {
  in.judge(event, n);
  in.allocate(api, n, a);
  if (api.returns)
    v.targets = in.target_sets_.one(in.paths_.extend(in.paths_.root(Step::heap, n->id), Step::element, 0));
}

void Interpreter::Effect::reallocates_on_host() {
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = in.cells_.taint_of(bytes->value)) in.sink(Use::allocation, t, bytes->node);
  if (const Argument* old = at_position(a, api.ptr)) v.targets = old->value.targets;
}

void Interpreter::Effect::releases() {
  // Freeing nothing is how programs create a context early; CUDA refuses it in a capture all the same.
  in.judge(event, n);
}

void Interpreter::Effect::registers() {
  for (const PathId p : out_places(api.ptr))
    in.cells_.set_memory(p, api.is == Is::enlist ? Memory::pinned : Memory::mixed);
  in.judge(event, n);
}

void Interpreter::Effect::names_same_memory() {
  for (const int out : api.out)
    if (const Argument* of = at_position(a, api.ptr))
      for (const PathId p : out_places(out)) in.cells_.store_scalar(p, of->value, true, nullptr);
}

}  // namespace capgate::lint
