// Work that is sent to the device: what it may write, and what it is given.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/rules/memory.h"

namespace capgate::lint {

// Host-visible memory that a kernel may write holds device values from here on.
void Interpreter::touch_by_device(const std::vector<Argument>& a, Function* kernel, const Node* at,
                                  size_t first) {
  const std::string name = kernel ? kernel->spelled : "a kernel";
  std::vector<PathId> written;
  for (size_t i = first; i < a.size(); ++i) {
    const Type* type =
        kernel && i - first < kernel->params.size() ? kernel->params[i - first]->type : nullptr;
    if (!type && a[i].node) type = bare(a[i].node)->type;
    const bool read_only = type && type->shape == Shape::pointer && type->inner && type->inner->is_const;
    if (read_only) continue;
    // Its body is only asked where the answer matters.
    bool shared = false;
    for (const PathId p : targets(a[i].value)) {
      const Memory m = cells_.memory_of(p);
      shared = shared || m == Memory::managed || m == Memory::pinned;
    }
    if (shared && kernel && kernel->user && !writes_through(*kernel, i - first)) continue;
    for (const PathId p : targets(a[i].value)) written.push_back(p);
    if (a[i].value.aggregate)
      for (const auto& [path, cell] : s().cells())
        if (cell.targets && paths_[path].root == paths_[a[i].value.aggregate].root)
          for (const PathId p : target_sets_[cell.targets]) written.push_back(p);
  }
  for (const PathId p : written) {
    const Memory m = cells_.memory_of(p);
    if (m != Memory::managed && m != Memory::pinned) continue;
    const std::string kind = m == Memory::managed ? "managed memory" : "mapped memory";
    cells_.write_memory(p, traces_.source(at, kind + " is written by " + name, kind), false);
  }
  for (const Variable* v : program_.managed) {
    Cell& c = s().at(paths_.root(Step::variable, v->id));
    if (c.taint) continue;
    c.taint = traces_.source(at, "'" + v->name + "' in managed memory is open to " + name, "managed memory");
    c.deep = true;
  }
}

// Remembers which memory captured work was given; a local's own host memory is a fault at once.
void Interpreter::note_scratch(const std::vector<Argument>& a, size_t first, const Node* at,
                               const std::string& receiver) {
  if (!s().flow.region || s().flow.marked || !judged()) return;
  // Provable only for this function's own locals, and only where the region outlasts the function: a graph
  // that is captured and launched here may well end before its locals do.
  const bool outlasts = s().flow.region == kCallers || regions_[s().flow.region].kind == "annotated";
  for (size_t i = first; i < a.size(); ++i)
    for (const PathId p : targets(a[i].value)) {
      const Memory m = cells_.memory_of(p);
      if (is_pageable(m)) {
        const Variable* owner = outlasts ? local_owner_of(p) : nullptr;
        if (owner) {
          add_finding("local-scratch", local_scratch({owner->name, receiver, true, false}), at, receiver,
                      nullptr, {{"object", owner->name}});
          break;
        }
        if (m != Memory::host_heap) continue;
      }
      note_use(p, at);
    }
}

// That captured work at `at` was given this memory.
void Interpreter::note_use(PathId memory, const Node* at) {
  if ((paths_[memory].step == Step::element || paths_[memory].step == Step::deref) && paths_[memory].parent)
    memory = paths_.extend(paths_[memory].parent, paths_[memory].step, kAny);
  Cell c = s().read(paths_, memory);
  c.used = at;
  s().at(memory) = c;
}

// Copies, fills and library calls of a capture use the memory that they are given as a kernel does; what the
// host lends them is another rule's matter.
void Interpreter::note_uses(const std::vector<Argument>& a, const Node* at) {
  if (!s().flow.region || s().flow.marked || !judged()) return;
  for (const Argument& one : a)
    for (const PathId p : targets(one.value))
      if (!is_pageable(cells_.memory_of(p))) note_use(p, at);
}

// A kernel's arguments that are addresses of ordinary host memory, but for a dying local's.
void Interpreter::note_host_memory(const std::vector<Argument>& a, size_t first, const Node* at,
                                   const std::string& kernel) {
  if (!s().flow.region || s().flow.marked || !judged()) return;
  const bool outlasts = s().flow.region == kCallers || regions_[s().flow.region].kind == "annotated";
  for (size_t i = first; i < a.size(); ++i) {
    const std::vector<PathId> given = targets(a[i].value);
    const bool pageable = !given.empty() && std::all_of(given.begin(), given.end(), [&](PathId p) {
      return is_pageable(cells_.memory_of(p)) && !is_of_a_handle(p) && !(outlasts && local_owner_of(p));
    });
    if (!pageable) continue;
    const std::string name = operand(a[i], given).name;
    add_finding("host-pointer", host_pointer_of_kernel({name, cells_.memory_of(given[0]), kernel}), at,
                kernel, nullptr);
  }
}

Value Interpreter::launch(const Node* n) {
  static constexpr Use kUses[3] = {Use::grid, Use::grid, Use::grid};
  std::vector<Argument> config = arguments_of(n, 0, nullptr);
  frame_->read_backs.clear();
  for (size_t i = 0; i < 3 && i < config.size(); ++i)
    if (const Trace* t = cells_.taint_of(config[i].value))
      sink(kUses[i], t, config[i].node->file ? config[i].node : n);
  static const Api kLaunch = [] {
    Api api;
    api.is = Is::launch;
    return api;
  }();
  CallEvent event = event_of(kLaunch, n->function ? n->function->spelled : "the launch");
  event.api_name = "cudaLaunchKernel";
  if (config.size() > 3) event.stream = stream_use(&config[3]);
  judge(event, n);
  note_scratch(config, 4, n, event.callee);
  note_host_memory(config, 4, n, event.callee);
  touch_by_device(config, n->function, n, 4);
  return {};
}

}  // namespace capgate::lint
