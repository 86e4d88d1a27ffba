// What modelled functions do to the state, and the events that they are for the rules.
#include <algorithm>

#include "static_checks/dataflow/interpreter.h"

namespace capgate::lint {

namespace {

template <class List>
auto* at_position(List& list, int position) {
  return position >= 0 && static_cast<size_t>(position) < list.size() ? &list[static_cast<size_t>(position)]
                                                                      : nullptr;
}

bool is_host(Memory m) {
  return m == Memory::stack || m == Memory::container || m == Memory::host_heap || m == Memory::pinned;
}

// cudaMemcpyKind
enum CopyKind { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

}  // namespace

CallEvent Interpreter::event_of(const Api& api, std::string callee) {
  return {.api = api,
          .callee = std::move(callee),
          .relaxed_capture = s().flow.relaxed_capture != 0,
          .relaxed_thread = s().flow.relaxed_thread != 0,
          .capture = s().flow.marked == 0,
          .first_use = s().flow.first_use,
          .default_is_per_thread = default_is_per_thread_};
}

StreamUse Interpreter::stream_use(const Argument* stream) const {
  if (!stream || !stream->node) return StreamUse::none;
  const Node* n = bare(stream->node);
  const bool implicit = stream->node->implicit || n->implicit;
  if (stream->value.has_constant) {
    // cudaStreamLegacy is 1, cudaStreamPerThread 2.
    if (stream->value.constant == 2) return StreamUse::per_thread;
    if (stream->value.constant == 0 || stream->value.constant == 1)
      return implicit ? StreamUse::none : StreamUse::legacy;
    return StreamUse::unknown;
  }
  if (implicit && (n->op == Op::other || n->op == Op::nothing)) return StreamUse::none;
  return StreamUse::unknown;
}

Operand Interpreter::operand(const Argument& argument, const std::vector<PathId>& paths) {
  Operand o;
  o.present = true;
  o.name = text_of(argument.node);
  if (o.name.starts_with("&")) o.name.erase(0, 1);
  bool first = true;
  for (const PathId p : paths) {
    const Memory m = memory_of(p);
    o.memory = first || m == o.memory ? m : Memory::mixed;
    first = false;
    if (o.name.empty() && paths_[paths_[p].root].step == Step::variable)
      o.name = program_.variables[paths_[paths_[p].root].key - 1].name;
  }
  return o;
}

// The memory that a copy, a memset or a kernel writes: all of the array that `target` points into.
void Interpreter::write_memory(PathId target, const Trace* taint, bool strong) {
  PathId place = target;
  const Step step = paths_[target].step;
  if ((step == Step::element || step == Step::deref) && paths_[target].parent) {
    const PathId parent = paths_[target].parent;
    const bool whole = paths_[target].key == 0 || paths_[target].key == kAny;
    if (whole) {
      place = paths_.extend(parent, step, kAny);
      if (paths_[parent].summary) strong = false;
    } else if (paths_[place].summary) {
      strong = false;
    }
    const Memory memory = memory_of(target);
    if (whole && !strong && taint) {
      const std::vector<PathId> known = paths_[parent].indexed;
      for (const PathId sibling : known)
        if (paths_[sibling].step == step)
          if (const Cell* written = s().find(sibling)) {
            Cell both = *written;
            both.taint = taint;
            both.has_constant = false;
            s().at(sibling) = both;
          }
    }
    if (strong) {
      if (whole) {
        const std::vector<PathId> known = paths_[parent].indexed;
        for (const PathId sibling : known)
          if (paths_[sibling].step == step) s().erase_below(paths_, sibling, true);
      }
      s().erase_below(paths_, place, true);
    }
    Cell& c = s().at(place);
    if (strong || taint) {
      c.taint = taint;
      c.deep = taint != nullptr;
      c.has_constant = false;
      c.tag = Tag::none;
    }
    if (!(paths_[paths_[place].root].step == Step::variable && memory == Memory::stack)) c.memory = memory;
    if (!whole && taint) {  // an open-ended copy from the middle on
      Cell& rest = s().at(paths_.extend(parent, step, kAny));
      rest.taint = taint;
      rest.deep = true;
    }
    return;
  }
  if (paths_[place].summary) strong = false;
  const Cell old = s().read(paths_, place);
  if (strong) s().erase_below(paths_, place, true);
  Cell& c = s().at(place);
  c.memory = old.memory;
  c.handle = old.handle;
  if (strong || taint) {
    c.taint = taint;
    c.deep = taint != nullptr;
    c.has_constant = false;
    c.tag = Tag::none;
  }
}

Value Interpreter::source_value(const Node* at, const std::string& from, const Type* type) {
  Value v;
  if (type && type->status) return v;
  v.taint = traces_.source(at, from + " gives a device value", from);
  return v;
}

// What the named fields of a parameter object point to, or of all objects of the array that it is in.
std::vector<PathId> Interpreter::field_targets(const Argument& parameters,
                                               const std::vector<std::string>& fields, bool of_all) {
  std::vector<PathId> found, objects = targets(parameters.value);
  if (of_all)
    for (const PathId object : std::vector<PathId>(objects))
      if (paths_[object].step == Step::element)
        for (const PathId sibling : paths_[paths_[object].parent].indexed)
          if (sibling != object) objects.push_back(sibling);
  for (const PathId object : objects)
    for (const std::string& field : fields) {
      const PathId at = paths_.field(object, program_.intern(field));
      for (const auto& [path, cell] : s().cells())
        if (cell.targets && paths_[path].root == paths_[at].root && paths_.below(path, at))
          for (const PathId p : target_sets_[cell.targets]) found.push_back(p);
    }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Interpreter::copy(const Api& api, const Node* n, std::vector<Argument>& a, CallEvent& event) {
  std::vector<PathId> dst, src;
  const Argument* dst_argument = at_position(a, api.dst);
  const Argument* src_argument = at_position(a, api.src);
  if (dst_argument) dst = targets(dst_argument->value);
  if (src_argument) src = targets(src_argument->value);
  if (api.batch && api.parameters < 0) {  // arrays of pointers
    const auto through = [&](std::vector<PathId>& list) {
      std::vector<PathId> found;
      for (const PathId p : list) {
        for (const auto& [path, cell] : s().cells())
          if (cell.targets && paths_[path].root == paths_[p].root)
            for (const PathId t : target_sets_[cell.targets]) found.push_back(t);
      }
      list = std::move(found);
    };
    through(dst);
    through(src);
  }
  int64_t kind = kDefault;
  if (const Argument* parameters = at_position(a, api.parameters)) {
    dst = field_targets(*parameters, api.dst_fields, api.batch);
    src = field_targets(*parameters, api.src_fields, api.batch);
    dst_argument = src_argument = parameters;
    if (!api.kind_field.empty())
      for (const PathId object : targets(parameters->value)) {
        const Cell c = s().read(paths_, paths_.field(object, program_.intern(api.kind_field)));
        if (c.has_constant) kind = c.constant;
      }
  }
  if (const Argument* given = at_position(a, api.kind)) {
    if (given->value.has_constant) kind = given->value.constant;
    if (const Trace* t = taint_of(given->value)) sink(Use::size, t, given->node);
  }
  switch (api.direction) {
    case Direction::to_host:
      kind = kDeviceToHost;
      break;
    case Direction::to_device:
      kind = kHostToDevice;
      break;
    case Direction::on_device:
      kind = kDeviceToDevice;
      break;
    case Direction::on_host:
      kind = kHostToHost;
      break;
    case Direction::by_field:
      kind = !dst.empty() ? kDeviceToHost : !src.empty() ? kHostToDevice : kDeviceToDevice;
      break;
    case Direction::by_address:
      kind = kDefault;
      break;
    case Direction::by_kind:
      break;
  }
  event.to_host = kind == kDeviceToHost;
  event.to_device = kind == kHostToDevice;
  if (dst_argument && kind != kHostToDevice && kind != kDeviceToDevice && !dst.empty())
    event.dst = operand(*dst_argument, dst);
  if (src_argument && kind != kDeviceToHost && kind != kDeviceToDevice && !src.empty())
    event.src = operand(*src_argument, src);
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = taint_of(bytes->value)) sink(Use::size, t, bytes->node);
  if (api.is == Is::copy_node) return;

  const bool strong = dst.size() == 1;
  const auto device_value = [&](const std::string& where) {
    return traces_.source(n,
                          (where.empty() ? std::string("the host") : "'" + where + "'") +
                              " receives a device value from " + event.callee,
                          event.callee);
  };
  std::string where = dst_argument ? text_of(dst_argument->node) : "";
  if (where.starts_with("&")) where.erase(0, 1);
  if (kind == kDefault) {
    // By address: what certainly comes from the host is no device value.
    bool host_source = !src.empty();
    for (const PathId p : src) host_source = host_source && is_host(memory_of(p));
    kind = host_source ? kHostToHost : kDeviceToHost;
  }
  switch (kind) {
    case kDeviceToHost:
    case kDeviceToDevice:
      for (const PathId p : dst) {
        const Memory m = memory_of(p);
        if (m == Memory::device || (kind == kDeviceToDevice && m != Memory::managed)) continue;
        write_memory(p, device_value(where), strong);
      }
      break;
    case kHostToDevice:
    case kHostToHost: {
      const Trace* taint = nullptr;
      for (const PathId p : src) {
        const Cell c = s().read(paths_, paths_.indexed(p, kAny));
        if (c.taint) taint = c.taint;
        if (!taint) {
          Value v;
          v.targets = target_sets_.one(p);
          taint = content_of(v);
        }
        if (!taint) taint = s().read(paths_, p).taint;
      }
      for (const PathId p : dst) {
        const Memory m = memory_of(p);
        if (m == Memory::device) continue;
        if (kind == kHostToHost || m == Memory::managed)
          write_memory(p, taint ? traces_.step(taint, n, "copied by " + event.callee) : nullptr, strong);
      }
      break;
    }
    default:
      break;
  }
}

void Interpreter::allocate(const Api& api, const Node* n, std::vector<Argument>& a) {
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = taint_of(bytes->value)) sink(Use::allocation, t, bytes->node);
  const PathId object = paths_.root(Step::heap, n->id);
  if (api.out.empty() && !api.returns) return;
  s().erase_below(paths_, object, true);
  s().at(object).memory = api.memory;
  Value pointer;
  pointer.targets = target_sets_.one(paths_.extend(object, Step::element, 0));
  for (const int out : api.out)
    if (const Argument* given = at_position(a, out)) {
      const std::vector<PathId> at = given->places.empty() ? targets(given->value) : given->places;
      for (const PathId p : at) store_scalar(p, pointer, at.size() == 1, nullptr);
    }
}

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
      const Memory m = memory_of(p);
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
    const Memory m = memory_of(p);
    if (m != Memory::managed && m != Memory::pinned) continue;
    const std::string kind = m == Memory::managed ? "managed memory" : "mapped memory";
    write_memory(p, traces_.source(at, kind + " is written by " + name, kind), false);
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
  for (size_t i = first; i < a.size(); ++i) {
    std::vector<PathId> given = targets(a[i].value);
    for (const PathId p : given) {
      const Memory m = memory_of(p);
      const Paths::Info root = paths_[paths_[p].root];
      if (m == Memory::stack || m == Memory::container) {
        // Provable only for this function's own locals, and only where the region outlasts the function: a
        // graph that is captured and launched here may well end before its locals do.
        const Region& region = regions_[s().flow.region];
        const bool outlasts = s().flow.region == kCallers || region.kind == "annotated";
        if (root.step != Step::variable || !outlasts) continue;
        const Variable& v = program_.variables[root.key - 1];
        if (v.scope != Variable::Scope::local && v.scope != Variable::Scope::parameter) continue;
        if (v.name == "this") continue;
        const std::string& object = v.name;
        add_finding("local-scratch", local_scratch({object, receiver, true, false}), at, receiver, nullptr,
                    {{"object", object}});
        break;
      }
      PathId whole = p;
      if ((paths_[p].step == Step::element || paths_[p].step == Step::deref) && paths_[p].parent)
        whole = paths_.extend(paths_[p].parent, paths_[p].step, kAny);
      Cell c = s().read(paths_, whole);
      c.used = at;
      s().at(whole) = c;
    }
  }
}

void Interpreter::begin_region(const Node* at, const char* kind) {
  const Place place = program_.place(at);
  const bool marked = std::string_view(kind) == "marked";
  std::string file = place.file;  // from the root on: several programs have a main.cu
  if (file.starts_with(root_ + '/')) file.erase(0, root_.size() + 1);
  const std::string name = (marked ? "region at " : "capture at ") + file + ":" + std::to_string(place.line);
  const auto [it, fresh] = region_ids_.try_emplace(
      place.file + ':' + std::to_string(place.line) + ':' + std::to_string(place.column),
      static_cast<uint32_t>(regions_.size()));
  if (fresh) {
    std::string unique = name;
    for (const Region& r : regions_)
      if (r.name == unique) unique = name + ":" + std::to_string(place.column);
    regions_.push_back({unique, kind, frame_->function->name, place, 0});
  }
  s().flow.region = it->second;
  s().flow.marked = marked;
  s().flow.relaxed_capture = 0;
  s().flow.not_capturing = 0;
}

// A scope in which a rule is allowed, by literals.
void Interpreter::allow(const Node* rule, const Node* reason) {
  rule = bare(rule);
  reason = bare(reason);
  if (rule->op != Op::text || reason->op != Op::text) return;
  const std::pair<std::string, std::string> scope{program_.text(rule->name), program_.text(reason->name)};
  const auto known = std::find(allows_.begin(), allows_.end(), scope);
  s().flow.allowed = static_cast<uint32_t>(known - allows_.begin());
  if (known == allows_.end()) allows_.push_back(scope);
}

void Interpreter::end_region(const Node* at) {
  const uint32_t region = s().flow.region;
  if (region > kCallers && regions_[region].function == frame_->function->name)
    regions_[region].end_line = std::max(regions_[region].end_line, program_.place(at).line);
  s().flow.region = 0;
  s().flow.marked = 0;
  s().flow.relaxed_capture = 0;
  s().flow.not_capturing = 0;
}

Value Interpreter::effect(const Api& api, const Node* n, Function& function, std::vector<Argument>& a,
                          const std::vector<PathId>& object) {
  Value v;
  CallEvent event = event_of(api, function.spelled);
  for (const char* tail : {"_v2", "_v3", "_ptsz", "_ptds"})
    if (event.callee.starts_with("cu") && event.callee.ends_with(tail))
      event.callee.resize(event.callee.size() - std::string_view(tail).size());
  if (event.callee == "cudaLaunchKernelEx") event.api_name = "cudaLaunchKernelExC";
  if (api.stream >= 0) event.stream = stream_use(at_position(a, api.stream));
  if (api.stream_last && api.is == Is::copy && !a.empty()) event.stream = stream_use(&a.back());
  const auto out_places = [&](int position) -> std::vector<PathId> {
    const Argument* given = at_position(a, position);
    if (!given) return {};
    return given->places.empty() ? targets(given->value) : given->places;
  };
  const auto handle_cell = [&](int position) -> HandleStream {
    const Argument* given = at_position(a, position);
    if (!given) return HandleStream::unknown;
    HandleStream state = HandleStream::unknown;
    for (const PathId p : places(given->node)) state = s().read(paths_, p).handle;
    return state;
  };

  switch (api.is) {
    case Is::copy:
    case Is::copy_node:
      copy(api, n, a, event);
      judge(event, n);
      if (api.returns_dst && api.dst >= 0 && static_cast<size_t>(api.dst) < a.size())
        v.targets = a[static_cast<size_t>(api.dst)].value.targets;
      break;
    case Is::set: {
      if (const Argument* bytes = at_position(a, api.bytes))
        if (const Trace* t = taint_of(bytes->value)) sink(Use::size, t, bytes->node);
      const std::vector<PathId> dst = out_places(api.dst);
      for (const PathId p : dst)
        if (memory_of(p) != Memory::device) write_memory(p, nullptr, dst.size() == 1);
      judge(event, n);
      break;
    }
    case Is::allocate:
      judge(event, n);
      allocate(api, n, a);
      if (api.returns)
        v.targets = target_sets_.one(paths_.extend(paths_.root(Step::heap, n->id), Step::element, 0));
      break;
    case Is::host_reallocate:
      if (const Argument* bytes = at_position(a, api.bytes))
        if (const Trace* t = taint_of(bytes->value)) sink(Use::allocation, t, bytes->node);
      if (const Argument* old = at_position(a, api.ptr)) v.targets = old->value.targets;
      break;
    case Is::release: {
      // Freeing nothing is how programs create a context early; CUDA refuses it in a capture all the same.
      judge(event, n);
      break;
    }
    case Is::enlist:
    case Is::unlist:
      for (const PathId p : out_places(api.ptr))
        set_memory(p, api.is == Is::enlist ? Memory::pinned : Memory::mixed);
      judge(event, n);
      break;
    case Is::same_memory:
      for (const int out : api.out)
        if (const Argument* of = at_position(a, api.ptr))
          for (const PathId p : out_places(out)) store_scalar(p, of->value, true, nullptr);
      break;
    case Is::host_free:
    case Is::host_known:
      break;
    case Is::wait:
    case Is::poll:
      judge(event, n);
      break;
    case Is::begin_capture: {
      begin_region(n, "capture");
      const Argument* mode = at_position(a, api.kind);
      s().flow.relaxed_capture = mode && mode->value.has_constant && mode->value.constant == 2;
      v.tag = Tag::not_begun;
      judge(event, n);
      break;
    }
    case Is::end_capture:
      end_region(n);
      break;
    case Is::begin_region:
      if (!s().flow.region) begin_region(n, "marked");
      break;
    case Is::end_region:
      if (s().flow.marked == 1) end_region(n);
      break;
    case Is::begin_range:
      if (const Argument* name = at_position(a, api.ptr)) push_range(name->node, n);
      break;
    case Is::end_range:
      pop_range(n);
      break;
    case Is::begin_eager_break:
      s().flow.eager_break = 1;
      break;
    case Is::end_eager_break:
      s().flow.eager_break = 0;
      break;
    case Is::begin_allow: {
      const Argument* rule = at_position(a, api.rule_argument);
      const Argument* reason = at_position(a, api.reason_argument);
      if (rule && reason) allow(rule->node, reason->node);
      break;
    }
    case Is::end_allow:
      s().flow.allowed = 0;
      break;
    case Is::capture_status: {
      Cell c;
      c.tag = Tag::capture_status;
      for (const int out : api.out)
        for (const PathId p : out_places(out)) s().at(p) = c;
      if (api.returns) v.tag = Tag::capture_status;
      break;
    }
    case Is::exchange_mode: {
      // In: the new mode; out: the old one. Relaxed is 2; handing back what was there before ends the idiom.
      for (const PathId p : out_places(api.ptr)) {
        const Cell c = s().read(paths_, p);
        s().flow.relaxed_thread = c.has_constant && c.constant == 2;
        Cell old;
        s().at(p) = old;
      }
      break;
    }
    case Is::launch: {
      for (const int position : api.grid)
        if (const Argument* dimension = at_position(a, position))
          if (const Trace* t = taint_of(dimension->value)) sink(Use::grid, t, dimension->node);
      if (const Argument* bytes = at_position(a, api.bytes))
        if (const Trace* t = taint_of(bytes->value)) sink(Use::grid, t, bytes->node);
      if (const Argument* config = at_position(a, api.parameters)) {
        Value all;
        all.targets = config->value.targets;
        for (const PathId p : config->places.empty() ? targets(config->value) : config->places)
          for (const auto& [path, cell] : Cells(s().cells()))
            if (cell.taint && paths_[path].root == paths_[p].root && paths_.below(path, p)) {
              sink(Use::grid, cell.taint, n);
              break;
            }
        event.stream = StreamUse::unknown;
      }
      // The kernel's arguments, when they come as an array of their addresses.
      std::vector<Argument> passed, unplaced;
      Function* kernel = nullptr;
      if (const Argument* given = at_position(a, api.function))
        if (const uint32_t callable = given->value.callable; callable && callable != kManyCallables)
          kernel = &program_.functions[callable - 1];
      if (const Argument* arrays = at_position(a, api.arrays)) {
        for (const PathId p : targets(arrays->value)) {
          const PathId base = paths_[p].parent ? paths_[p].parent : p;
          for (const auto& [path, cell] : Cells(s().cells()))
            if (cell.targets && paths_[path].root == paths_[base].root && paths_.below(path, base))
              for (const PathId t : target_sets_[cell.targets]) {
                Argument one;
                one.node = arrays->node;
                one.value.targets = s().read(paths_, t).targets;
                if (!one.value.targets) continue;
                const Paths::Info& at = paths_[path];
                if (!kernel || at.parent != base || at.step != Step::element || at.key == kAny) {
                  unplaced.push_back(one);
                  continue;
                }
                if (passed.size() <= at.key) passed.resize(at.key + 1);
                passed[at.key] = one;
              }
        }
      } else if (api.parameters >= 0) {
        for (size_t i = static_cast<size_t>(api.function) + 1; i < a.size(); ++i) passed.push_back(a[i]);
      }
      judge(event, n);
      note_scratch(passed, 0, n, event.callee);
      note_scratch(unplaced, 0, n, event.callee);
      touch_by_device(passed, kernel, n, 0);
      touch_by_device(unplaced, nullptr, n, 0);
      break;
    }
    case Is::host_function: {
      judge(event, n);
      std::vector<Argument> data;
      if (const Argument* given = at_position(a, api.ptr)) data.push_back(*given);
      note_scratch(data, 0, n, event.callee);
      break;
    }
    case Is::create_handle:
      judge(event, n);
      for (const int out : api.out)
        for (const PathId p : out_places(out)) {
          Cell& c = s().at(p);
          c.handle = HandleStream::none;
        }
      break;
    case Is::handle_stream: {
      const StreamUse use = stream_use(at_position(a, api.stream));
      if (const Argument* handle = at_position(a, api.handle))
        for (const PathId p : places(handle->node)) {
          Cell c = s().read(paths_, p);
          c.handle = use == StreamUse::legacy ? HandleStream::none : HandleStream::set;
          s().at(p) = c;
        }
      break;
    }
    case Is::library_work: {
      event.handle = handle_cell(api.handle);
      if (api.stream_last && !function.params.empty()) {
        // CUB takes the stream as its last argument, 0 by default.
        const Variable* last = function.params.back();
        if (last->type && last->type->shape == Shape::pointer &&
            last->name.find("stream") != std::string::npos)
          event.stream = a.size() < function.params.size() ? StreamUse::none : stream_use(&a.back());
      } else if (api.handle < 0) {
        event.stream = StreamUse::unknown;
      }
      judge(event, n);
      touch_by_device(a, nullptr, n, 0);
      break;
    }
    case Is::pointer_mode: {
      const Argument* mode = at_position(a, api.kind);
      s().flow.device_scalars = mode && mode->value.has_constant && mode->value.constant == 1;
      break;
    }
    case Is::source: {
      event.handle = handle_cell(api.handle);
      judge(event, n);
      if (api.scalar && s().flow.device_scalars) break;
      for (const int out : api.out) {
        const Argument* given = at_position(a, out);
        if (!given) continue;
        const std::vector<PathId> at = out_places(out);
        std::string where = text_of(given->node);
        if (where.starts_with("&")) where.erase(0, 1);
        for (const PathId p : at)
          if (memory_of(p) != Memory::device)
            write_memory(p,
                         traces_.source(n, "'" + where + "' receives a device value from " + event.callee,
                                        event.callee),
                         at.size() == 1);
      }
      if (api.returns) v = source_value(n, event.callee, function.result);
      break;
    }
    case Is::no_return:
      s().dead = true;
      break;
    case Is::device_algorithm:
      event.callee = api.name;
      return device_algorithm(api, n, a, event);
    default:
      return tensor(api, n, a, object);
  }
  return v;
}

Value Interpreter::launch(const Node* n) {
  static constexpr Use kUses[3] = {Use::grid, Use::grid, Use::grid};
  std::vector<Argument> config = arguments_of(n, 0, nullptr);
  for (size_t i = 0; i < 3 && i < config.size(); ++i)
    if (const Trace* t = taint_of(config[i].value))
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
  touch_by_device(config, n->function, n, 4);
  return {};
}

}  // namespace capgate::lint
