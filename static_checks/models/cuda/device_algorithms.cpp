// Algorithms of thrust that run on the device.
#include <algorithm>
#include <array>
#include <string_view>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

// thrust::host and thrust::seq are policies of one of these systems; only CUDA's runs on the device.
bool is_host_policy(std::string_view type) {
  constexpr std::array<std::string_view, 6> kHost{
      "host", "::cpp::", "::omp::", "::tbb::", "seq_t", "sequential::"};
  return type.find("cuda") == std::string_view::npos &&
         std::any_of(kHost.begin(), kHost.end(),
                     [&](std::string_view one) { return type.find(one) != std::string_view::npos; });
}

}  // namespace

// thrust: without an execution policy work goes to the legacy stream; with one the call still waits, except
// under par_nosync.
Value Interpreter::device_algorithm(const Api& api, const Node* n, std::vector<Argument>& a,
                                    CallEvent event) {
  Value v;
  const Type* policy = a.empty() ? nullptr : value_type(a[0].node);
  const std::string spelled = policy ? policy->spelling : "";
  const bool has_policy =
      spelled.find("execution_policy") != std::string::npos || spelled.find("par_t") != std::string::npos ||
      spelled.find("par_nosync") != std::string::npos || spelled.find("seq_t") != std::string::npos ||
      spelled.find("execute_on_stream") != std::string::npos ||
      spelled.find("execute_with_allocator") != std::string::npos;
  const bool on_device = !has_policy || !is_host_policy(spelled);
  bool device_range = has_policy;
  for (const Argument& one : a) {
    const Type* t = value_type(one.node);
    if (t && (t->spelling.find("device_ptr") != std::string::npos ||
              t->spelling.find("device_vector") != std::string::npos))
      device_range = true;
    for (const PathId p : one.places)
      if (const Cell* c = s().find(p))
        for (const PathId q : target_sets_[c->targets])
          if (cells_.memory_of(q) == Memory::device) device_range = true;
    for (const PathId q : targets(one.value))
      if (cells_.memory_of(q) == Memory::device) device_range = true;
  }
  if (!device_range || !on_device) {
    // Host iterators: the host's own algorithm.
    for (const Argument& one : a)
      if (!v.taint) v.taint = cells_.content_of(one.value);
    return v;
  }
  const bool silent = spelled.find("nosync") != std::string::npos && !api.returns && !api.copies;
  event.stream = has_policy ? StreamUse::unknown : StreamUse::none;
  event.callee = api.name;
  if (!silent) judge(event, n);
  if (api.returns) return source_value(n, api.name, n->function ? n->function->result : nullptr);
  if (api.copies && a.size() >= 3) {
    const Argument& out = a[has_policy && a.size() > 3 ? 3 : 2];
    std::vector<PathId> to = targets(out.value);
    for (const PathId p : out.places)
      if (const Cell* c = s().find(p))
        for (const PathId q : target_sets_[c->targets]) to.push_back(q);
    for (const PathId p : to)
      if (cells_.memory_of(p) != Memory::device)
        cells_.write_memory(
            p,
            traces_.source(n, "'" + text_of(out.node) + "' receives device values from " + api.name,
                           api.name),
            to.size() == 1);
  }
  if (api.iterator) {
    v = source_value(n, api.name, nullptr);
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    s().at(v.aggregate).taint = v.taint;
    s().at(v.aggregate).deep = true;
  }
  return v;
}

}  // namespace capgate::lint
