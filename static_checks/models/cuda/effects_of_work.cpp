// Calls that send work to the device: launches, libraries with handles, and what gives device values.
#include <algorithm>

#include "static_checks/models/cuda/effect.h"

namespace capgate::lint {

HandleStream Interpreter::Effect::handle_stream_of(int position) {
  HandleStream state = HandleStream::unknown;
  if (const Argument* given = at_position(a, position))
    for (const PathId p : in.places(given->node)) state = in.s().read(in.paths_, p).handle;
  return state;
}

// Of a launch: its grid, its shared memory, and all that its configuration holds.
void Interpreter::Effect::judge_sizes() {
  for (const int position : api.grid)
    if (const Argument* dimension = at_position(a, position))
      if (const Trace* t = in.cells_.taint_of(dimension->value)) in.sink(Use::grid, t, dimension->node);
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = in.cells_.taint_of(bytes->value)) in.sink(Use::grid, t, bytes->node);
  if (const Argument* config = at_position(a, api.parameters)) {
    for (const PathId p : config->places.empty() ? in.targets(config->value) : config->places)
      for (const auto& [path, cell] : Cells(in.s().cells()))
        if (cell.taint && in.paths_[path].root == in.paths_[p].root && in.paths_.below(path, p)) {
          in.sink(Use::grid, cell.taint, n);
          break;
        }
    event.stream = StreamUse::unknown;
  }
}

// What is launched, where that is one function.
Function* Interpreter::Effect::kernel() const {
  if (const Argument* given = at_position(a, api.function))
    if (const std::vector<CallablesId> callables = in.target_sets_.callables(given->value.callable);
        callables.size() == 1 && callables[0])
      return &in.program_.functions[callables[0] - 1];
  return nullptr;
}

// The kernel's arguments, where they come as an array of their addresses: by position, and those of which
// that is not known.
void Interpreter::Effect::follow_addresses(const Argument& arrays, const Function* launched,
                                           std::vector<Argument>& passed, std::vector<Argument>& unplaced) {
  for (const PathId p : in.targets(arrays.value)) {
    const PathId base = in.paths_[p].parent ? in.paths_[p].parent : p;
    for (const auto& [path, cell] : Cells(in.s().cells()))
      if (cell.targets && in.paths_[path].root == in.paths_[base].root && in.paths_.below(path, base))
        for (const PathId t : in.target_sets_[cell.targets]) {
          Argument one;
          one.node = arrays.node;
          one.value.targets = in.s().read(in.paths_, t).targets;
          if (!one.value.targets) continue;
          const Paths::Info& at = in.paths_[path];
          if (!launched || at.parent != base || at.step != Step::element || at.key == kAny) {
            unplaced.push_back(one);
            continue;
          }
          if (passed.size() <= at.key) passed.resize(at.key + 1);
          passed[at.key] = one;
        }
  }
}

void Interpreter::Effect::launches() {
  judge_sizes();
  Function* const launched = kernel();
  std::vector<Argument> passed, unplaced;
  if (const Argument* arrays = at_position(a, api.arrays))
    follow_addresses(*arrays, launched, passed, unplaced);
  else if (api.parameters >= 0)
    passed.assign(
        a.begin() + std::min<std::ptrdiff_t>(api.function + 1, static_cast<std::ptrdiff_t>(a.size())),
        a.end());
  in.judge(event, n);
  for (const std::vector<Argument>* given : {&passed, &unplaced}) {
    in.note_scratch(*given, 0, n, event.callee);
    in.note_host_memory(*given, 0, n, event.callee);
  }
  in.touch_by_device(passed, launched, n, 0);
  in.touch_by_device(unplaced, nullptr, n, 0);
}

void Interpreter::Effect::calls_host() {
  in.judge(event, n);
  std::vector<Argument> data;
  if (const Argument* given = at_position(a, api.ptr)) data.push_back(*given);
  in.note_scratch(data, 0, n, event.callee);
}

void Interpreter::Effect::creates_handle() {
  in.judge(event, n);
  for (const int out : api.out)
    for (const PathId p : out_places(out)) {
      Cell& c = in.s().at(p);
      c.handle = HandleStream::none;
    }
}

void Interpreter::Effect::sets_stream() {
  const StreamUse use = stream_use(at_position(a, api.stream));
  if (const Argument* handle = at_position(a, api.handle))
    for (const PathId p : in.places(handle->node)) {
      Cell c = in.s().read(in.paths_, p);
      c.handle = use == StreamUse::legacy ? HandleStream::none : HandleStream::set;
      in.s().at(p) = c;
    }
}

void Interpreter::Effect::works() {
  event.handle = handle_stream_of(api.handle);
  if (api.stream_last && !f.params.empty()) {
    // CUB takes the stream as its last argument, 0 by default.
    const Variable* last = f.params.back();
    if (last->type && last->type->shape == Shape::pointer && last->name.find("stream") != std::string::npos)
      event.stream = a.size() < f.params.size() ? StreamUse::none : stream_use(&a.back());
  } else if (api.handle < 0) {
    event.stream = StreamUse::unknown;
  }
  in.judge(event, n);
  in.note_uses(a, n);
  in.touch_by_device(a, nullptr, n, 0);
}

void Interpreter::Effect::sets_pointer_mode() {
  const Argument* mode = at_position(a, api.kind);
  in.s().flow.device_scalars = mode && mode->value.has_constant && mode->value.constant == 1;
}

void Interpreter::Effect::gives_value() {
  event.handle = handle_stream_of(api.handle);
  in.judge(event, n);
  if (api.scalar && in.s().flow.device_scalars) return;
  for (const int out : api.out) {
    const Argument* given = at_position(a, out);
    if (!given) continue;
    const std::vector<PathId> at = out_places(out);
    std::string where = in.text_of(given->node);
    if (where.starts_with("&")) where.erase(0, 1);
    for (const PathId p : at)
      if (in.cells_.memory_of(p) != Memory::device)
        in.cells_.write_memory(
            p,
            in.traces_.source(n, "'" + where + "' receives a device value from " + event.callee,
                              event.callee),
            at.size() == 1);
  }
  if (api.returns) v = in.source_value(n, event.callee, f.result);
}

void Interpreter::Effect::runs_algorithm() {
  event.callee = api.name;
  v = in.device_algorithm(api, n, a, event);
}

}  // namespace capgate::lint
