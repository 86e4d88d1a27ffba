// What functions of libtorch do to tensors.
#include "static_checks/models/torch/tensor_call.h"

namespace capgate::lint {

void Interpreter::TensorCall::result_tensor(Memory memory, const Trace* content, const Trace* its_shape,
                                            bool mask) {
  v.aggregate = in.temporary(n);
  in.s().erase_below(in.paths_, v.aggregate, true);
  const auto fill = [&](PathId p) {
    in.s().at(p).memory = memory;
    in.s().at(p).taint = its_shape;
    if (content || memory == Memory::host_tensor) {
      Cell& e = in.s().at(in.paths_.extend(p, Step::element, kAny));
      e.taint = content;
      e.deep = content != nullptr;
    }
    if (mask) {
      Cell& m = in.s().at(in.paths_.field(p, in.program_.intern("mask")));
      m.has_constant = true;
      m.constant = 1;
    }
  };
  if (is_tensor(result) || !holds_tensors(result)) {
    fill(v.aggregate);
    return;
  }
  in.s().at(v.aggregate);
  for (const uint32_t i : {0u, 1u, 2u, kAny}) fill(in.paths_.extend(v.aggregate, Step::element, i));
}

void Interpreter::TensorCall::wait_for_values(Memory memory) {
  static const Api kToHost = [] {
    Api made;
    made.is = Is::tensor_to_host;
    return made;
  }();
  CallEvent wait = in.event_of(kToHost, callee);
  wait.src.present = true;
  wait.src.memory = memory;
  in.judge(wait, n);
}

void Interpreter::TensorCall::reads() {
  in.judge(event, n);
  if (on_host) {
    v.taint = values;
    return;
  }
  v = in.source_value(n, callee, result);
  if (result && result->shape == Shape::record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate).taint = v.taint;
    in.s().at(v.aggregate).deep = true;
  }
}

void Interpreter::TensorCall::moves_to_host() {
  in.judge(event, n);
  result_tensor(
      Memory::host_tensor,
      on_host ? values : in.traces_.source(n, callee + "() brings a tensor's values to the host", "cpu"),
      shape, is_mask(object));
}

void Interpreter::TensorCall::converts() {
  if (named.cpu) {
    wait_for_values(event.src.memory);
    result_tensor(Memory::host_tensor,
                  on_host
                      ? values
                      : in.traces_.source(n, callee + "() brings a tensor's values to the host", "to(kCPU)"),
                  shape, named.boolean || is_mask(object));
  } else if (named.cuda) {
    result_tensor(Memory::unknown, nullptr, shape, named.boolean || is_mask(object));
  } else {
    result_tensor(on_host && !named.unknown_options ? Memory::host_tensor : Memory::unknown, values, shape,
                  named.boolean);
  }
}

void Interpreter::TensorCall::copies_in() {
  // Into the object: what comes from the device into a tensor of the host is waited for.
  bool from_host = !a.empty() && !a[0].places.empty();
  if (!a.empty())
    for (const PathId p : a[0].places) from_host = from_host && in.cells_.memory_of(p) == Memory::host_tensor;
  const bool later = a.size() > 1 && a[1].value.has_constant && a[1].value.constant != 0;
  if (on_host && !from_host) {
    if (!later) wait_for_values(Memory::unknown);
    const Trace* brought = in.traces_.source(n, callee + "() brings a tensor's values to the host", "copy_");
    for (const PathId p : object)
      in.cells_.write_memory(in.paths_.extend(p, Step::element, 0), brought, object.size() == 1);
  } else if (on_host && a[0].places.size() == 1) {
    const Trace* copied = in.s().read(in.paths_, in.paths_.extend(a[0].places[0], Step::element, kAny)).taint;
    for (const PathId p : object)
      in.cells_.write_memory(in.paths_.extend(p, Step::element, 0), copied, object.size() == 1);
  }
  v.targets = in.target_sets_.intern(object);
}

void Interpreter::TensorCall::has_a_size_of_its_values() {
  in.judge(event, n);
  if (on_host)
    result_tensor(Memory::host_tensor, values, values ? values : shape);
  else
    result_tensor(Memory::unknown, values,
                  in.traces_.source(n, "the size of " + callee + "()'s result is a device value", callee));
}

void Interpreter::TensorCall::is_indexed() {
  bool by_mask = false;
  for (size_t i = is_method ? 0 : 1; i < a.size(); ++i) by_mask = by_mask || selects(a[i].node);
  if (by_mask && !on_host) {
    static const Api kShape = [] {
      Api made;
      made.is = Is::tensor_data_shape;
      return made;
    }();
    CallEvent wait = in.event_of(kShape, callee);
    wait.src = event.src;
    in.judge(wait, n);
  }
  result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values,
                by_mask && !on_host ? in.traces_.source(n, "the size of a mask's selection is a device value",
                                                        "mask indexing")
                                    : shape);
}

void Interpreter::TensorCall::compares() {
  result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape, true);
}

void Interpreter::TensorCall::keeps_a_mask() {
  bool mask = is_mask(object);
  for (const Argument& one : a) mask = mask || is_mask(one.places);
  result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape, mask);
}

void Interpreter::TensorCall::writes() {
  v.targets = in.target_sets_.intern(object);
}

void Interpreter::TensorCall::gives_a_part() {
  // A dimension that a tensor of the device picks is read from it.
  if (callee == "operator[]" && !a.empty() && is_tensor(value_type(a[0].node))) {
    bool known = !a[0].places.empty();
    for (const PathId p : a[0].places) known = known && in.cells_.memory_of(p) == Memory::host_tensor;
    wait_for_values(known ? Memory::host_tensor : Memory::unknown);
  }
  if (result && result->shape == Shape::reference) {  // in place
    v.targets = in.target_sets_.intern(object);
    return;
  }
  result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape);
}

void Interpreter::TensorCall::gives_its_shape() {
  v.taint = shape;
  if (result && result->shape == Shape::record) {
    v.aggregate = in.temporary(n);
    in.s().erase_below(in.paths_, v.aggregate, true);
    in.s().at(v.aggregate).taint = shape;
    in.s().at(v.aggregate).deep = shape != nullptr;
  }
}

void Interpreter::TensorCall::gives_its_data() {
  std::vector<PathId> at;
  at.reserve(object.size());
  for (const PathId p : object) at.push_back(in.paths_.extend(p, Step::element, 0));
  v.targets = in.target_sets_.intern(at);
}

void Interpreter::TensorCall::is_made() {
  result_tensor(named.cuda || named.unknown_options ? Memory::unknown : Memory::host_tensor, nullptr, nullptr,
                named.boolean);
}

}  // namespace capgate::lint
