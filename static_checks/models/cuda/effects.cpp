// What modelled functions do to the state, and the events that they are for the rules.
#include <algorithm>
#include <array>
#include <utility>

#include "base/cuda_names.h"
#include "static_checks/models/cuda/effect.h"

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

Interpreter::Effect::Handler Interpreter::Effect::handler_of(Is is) {
  static constexpr std::array<std::pair<Is, Handler>, 34> kHandlers{{
      {Is::copy, &Effect::copies},
      {Is::copy_node, &Effect::copies},
      {Is::set, &Effect::sets},
      {Is::allocate, &Effect::allocates},
      {Is::host_reallocate, &Effect::reallocates_on_host},
      {Is::release, &Effect::releases},
      {Is::enlist, &Effect::registers},
      {Is::unlist, &Effect::registers},
      {Is::same_memory, &Effect::names_same_memory},
      {Is::host_free, &Effect::does_nothing},
      {Is::host_known, &Effect::does_nothing},
      {Is::wait, &Effect::waits},
      {Is::poll, &Effect::waits},
      {Is::begin_capture, &Effect::begins_capture},
      {Is::end_capture, &Effect::ends_capture},
      {Is::begin_region, &Effect::begins_marked},
      {Is::end_region, &Effect::ends_marked},
      {Is::begin_range, &Effect::begins_range},
      {Is::end_range, &Effect::ends_range},
      {Is::begin_eager_break, &Effect::begins_eager_break},
      {Is::end_eager_break, &Effect::ends_eager_break},
      {Is::begin_allow, &Effect::begins_allow},
      {Is::end_allow, &Effect::ends_allow},
      {Is::capture_status, &Effect::tells_status},
      {Is::exchange_mode, &Effect::exchanges_mode},
      {Is::launch, &Effect::launches},
      {Is::host_function, &Effect::calls_host},
      {Is::create_handle, &Effect::creates_handle},
      {Is::handle_stream, &Effect::sets_stream},
      {Is::library_work, &Effect::works},
      {Is::pointer_mode, &Effect::sets_pointer_mode},
      {Is::source, &Effect::gives_value},
      {Is::no_return, &Effect::never_returns},
      {Is::device_algorithm, &Effect::runs_algorithm},
  }};
  const auto* known =
      std::find_if(kHandlers.begin(), kHandlers.end(), [&](const auto& one) { return one.first == is; });
  return known == kHandlers.end() ? nullptr : known->second;
}

Value Interpreter::effect(const Api& api, const Node* n, Function& function, std::vector<Argument>& a,
                          const std::vector<PathId>& object) {
  Effect call{*this, api, n, function, a, event_of(api, function.spelled)};
  CallEvent& event = call.event;
  if (event.callee.starts_with("cu")) event.callee.resize(without_variant(event.callee).size());
  if (event.callee == "cudaLaunchKernelEx") event.api_name = "cudaLaunchKernelExC";
  if (api.stream >= 0) event.stream = stream_use(at_position(a, api.stream));
  if (api.stream_last && api.is == Is::copy && !a.empty()) event.stream = stream_use(&a.back());
  call.waits_for = follow_read_back(api, a, event);
  const Effect::Handler handler = Effect::handler_of(api.is);
  if (!handler) return tensor(api, n, a, object);
  (call.*handler)();
  return call.v;
}

std::vector<PathId> Interpreter::Effect::out_places(int position) {
  const Argument* given = at_position(a, position);
  if (!given) return {};
  return given->places.empty() ? in.targets(given->value) : given->places;
}

}  // namespace capgate::lint
