// What modelled functions do to the state, and the events that they are for the rules.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"

namespace capgate::lint {

CallEvent Interpreter::event_of(const Api& api, std::string callee) {
  return {.api = api,
          .callee = std::move(callee),
          .relaxed_capture = s().flow.relaxed_capture != 0,
          .relaxed_thread = s().flow.relaxed_thread != 0,
          .capture = s().flow.marked == 0,
          .pooled = s().flow.pooled != 0,
          .first_use = s().flow.first_use,
          .default_is_per_thread = default_is_per_thread_,
          .api_name = {}};
}

StreamUse Interpreter::stream_use(const Argument* stream) {
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

Value Interpreter::source_value(const Node* at, const std::string& from, const Type* type) {
  Value v;
  if (type && type->status) return v;
  v.taint = traces_.source(at, from + " gives a device value", from);
  return v;
}

void Interpreter::allocate(const Api& api, const Node* n, std::vector<Argument>& a) {
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = cells_.taint_of(bytes->value)) sink(Use::allocation, t, bytes->node);
  const PathId object = paths_.root(Step::heap, n->id);
  if (api.out.empty() && !api.returns) return;
  s().erase_below(paths_, object, true);
  s().at(object).memory = api.memory;
  Value pointer;
  pointer.targets = target_sets_.one(paths_.extend(object, Step::element, 0));
  for (const int out : api.out)
    if (const Argument* given = at_position(a, out)) {
      const std::vector<PathId> at = given->places.empty() ? targets(given->value) : given->places;
      for (const PathId p : at) cells_.store_scalar(p, pointer, at.size() == 1, nullptr);
    }
}

std::string Interpreter::stream_text(const Api& api, const std::vector<Argument>& a) const {
  const Argument* stream = at_position(a, api.stream);
  if (!stream && api.stream_last && !a.empty()) stream = &a.back();
  return stream ? text_of(stream->node) : "";
}

// The copies to the host that a wait is for: those of its stream that no other work was queued behind.
std::vector<Place> Interpreter::follow_read_back(const Api& api, const std::vector<Argument>& a,
                                                 const CallEvent& event) {
  std::vector<Place> found;
  switch (api.is) {
    case Is::copy:
      if (!api.async) frame_->read_backs.clear();
      return found;
    case Is::poll:
    case Is::host_known:
    case Is::host_free:
    case Is::same_memory:
    case Is::capture_status:
    case Is::exchange_mode:
    case Is::no_return:
      return found;
    case Is::wait: {
      const std::string stream = stream_text(api, a);
      const bool whole_device = event.callee == "cudaDeviceSynchronize" ||
                                event.callee == "cudaThreadSynchronize" || event.callee == "cuCtxSynchronize";
      for (const ReadBack& copy : frame_->read_backs)
        if (whole_device || (!stream.empty() && stream == copy.stream))
          found.push_back(program_.place(copy.copy));
      break;
    }
    default:
      break;
  }
  frame_->read_backs.clear();
  return found;
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

  const std::vector<Place> waits_for = follow_read_back(api, a, event);
  switch (api.is) {
    case Is::copy:
    case Is::copy_node:
      copy(api, n, a, event);
      if (api.is == Is::copy && api.async && !event.to_device)
        frame_->read_backs.push_back({n, stream_text(api, a)});
      judge(event, n);
      if (api.is == Is::copy && api.async) note_uses(a, n);
      if (api.returns_dst && api.dst >= 0 && static_cast<size_t>(api.dst) < a.size())
        v.targets = a[static_cast<size_t>(api.dst)].value.targets;
      break;
    case Is::set: {
      if (const Argument* bytes = at_position(a, api.bytes))
        if (const Trace* t = cells_.taint_of(bytes->value)) sink(Use::size, t, bytes->node);
      const std::vector<PathId> dst = out_places(api.dst);
      for (const PathId p : dst)
        if (cells_.memory_of(p) != Memory::device) cells_.write_memory(p, nullptr, dst.size() == 1);
      judge(event, n);
      if (api.async) note_uses(a, n);
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
        if (const Trace* t = cells_.taint_of(bytes->value)) sink(Use::allocation, t, bytes->node);
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
        cells_.set_memory(p, api.is == Is::enlist ? Memory::pinned : Memory::mixed);
      judge(event, n);
      break;
    case Is::same_memory:
      for (const int out : api.out)
        if (const Argument* of = at_position(a, api.ptr))
          for (const PathId p : out_places(out)) cells_.store_scalar(p, of->value, true, nullptr);
      break;
    case Is::host_free:
    case Is::host_known:
      break;
    case Is::wait:
    case Is::poll:
      judge(event, n, waits_for);
      break;
    case Is::begin_capture: {
      begin_region(n, "capture");
      if (const Argument* stream = at_position(a, api.stream))
        for (const PathId p : targets(stream->value)) s().at(p).captured = true;
      const Argument* mode = at_position(a, api.kind);
      s().flow.relaxed_capture = mode && mode->value.has_constant && mode->value.constant == 2;
      s().flow.pooled = api.pool;
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
      if (const Argument* name = at_position(a, api.ptr)) push_range(name->node, n, "");
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
          if (const Trace* t = cells_.taint_of(dimension->value)) sink(Use::grid, t, dimension->node);
      if (const Argument* bytes = at_position(a, api.bytes))
        if (const Trace* t = cells_.taint_of(bytes->value)) sink(Use::grid, t, bytes->node);
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
        if (const std::vector<CallablesId> callables = target_sets_.callables(given->value.callable);
            callables.size() == 1 && callables[0])
          kernel = &program_.functions[callables[0] - 1];
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
      for (const std::vector<Argument>* given : {&passed, &unplaced}) {
        note_scratch(*given, 0, n, event.callee);
        note_host_memory(*given, 0, n, event.callee);
      }
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
      note_uses(a, n);
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
          if (cells_.memory_of(p) != Memory::device)
            cells_.write_memory(
                p,
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

}  // namespace capgate::lint
