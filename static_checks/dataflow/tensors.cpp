// libtorch's tensors.
#include "static_checks/dataflow/interpreter.h"

namespace capgate::lint {

// Tensors: cells are `t` (its shape) and `t[any]` (its values); `memory` of t is host_tensor where it is on
// the CPU for certain.
Value Interpreter::tensor(const Api& api, const Node* n, std::vector<Argument>& a,
                          const std::vector<PathId>& given) {
  Value v;
  std::vector<PathId> object = given;
  const bool is_method = !given.empty();
  if (!is_method && !a.empty()) object = a[0].places;
  const std::string callee = n->function ? n->function->spelled : api.name;
  CallEvent event = event_of(api, callee);
  event.src.present = true;
  bool on_host = !object.empty();
  const Trace* values = nullptr;
  const Trace* shape = nullptr;
  for (const PathId p : object) {
    on_host = on_host && memory_of(p) == Memory::host_tensor;
    const Cell own = s().read(paths_, p);
    const Cell inner = s().read(paths_, paths_.extend(p, Step::element, kAny));
    if (!values) values = inner.taint;
    if (!shape) shape = own.taint;
  }
  event.src.memory = on_host ? Memory::host_tensor : Memory::unknown;
  const auto result_tensor = [&](Memory memory, const Trace* content, const Trace* its_shape) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    Cell& c = s().at(v.aggregate);
    c.memory = memory;
    c.taint = its_shape;
    if (content || memory == Memory::host_tensor) {
      Cell& e = s().at(paths_.extend(v.aggregate, Step::element, kAny));
      e.taint = content;
      e.deep = content != nullptr;
    }
  };
  switch (api.is) {
    case Is::tensor_read:
      judge(event, n);
      if (on_host) {
        v.taint = values;
        return v;
      }
      v = source_value(n, callee, n->function ? n->function->result : nullptr);
      if (n->function && n->function->result && n->function->result->shape == Shape::record) {
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate).taint = v.taint;
        s().at(v.aggregate).deep = true;
      }
      return v;
    case Is::tensor_to_host:
      judge(event, n);
      result_tensor(
          Memory::host_tensor,
          on_host ? values : traces_.source(n, callee + "() brings a tensor's values to the host", "cpu"),
          shape);
      return v;
    case Is::tensor_to: {
      bool to_cpu = false, to_cuda = false;
      const auto look = [&](const auto& self_ref, const Node* node, int depth) -> void {
        if (!node || depth > 12) return;
        if (node->op == Op::variable) {
          to_cpu = to_cpu || node->variable->name == "kCPU";
          to_cuda = to_cuda || node->variable->name == "kCUDA";
        }
        if (node->op == Op::constant && node->name) {
          to_cpu = to_cpu || program_.text(node->name) == "CPU" || program_.text(node->name) == "kCPU";
          to_cuda = to_cuda || program_.text(node->name) == "CUDA" || program_.text(node->name) == "kCUDA";
        }
        for (const Node* kid : node->kids) self_ref(self_ref, kid, depth + 1);
      };
      for (const Argument& one : a) look(look, one.node, 0);
      if (to_cpu) {
        static const Api kToHost = [] {
          Api made;
          made.is = Is::tensor_to_host;
          return made;
        }();
        CallEvent wait = event_of(kToHost, callee);
        wait.src = event.src;
        judge(wait, n);
        result_tensor(Memory::host_tensor,
                      on_host
                          ? values
                          : traces_.source(n, callee + "() brings a tensor's values to the host", "to(kCPU)"),
                      shape);
      } else if (to_cuda) {
        result_tensor(Memory::unknown, nullptr, shape);
      } else {
        result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape);
      }
      return v;
    }
    case Is::tensor_data_shape:
      judge(event, n);
      result_tensor(
          on_host ? Memory::host_tensor : Memory::unknown, values,
          on_host ? (values ? values : shape)
                  : traces_.source(n, "the size of " + callee + "()'s result is a device value", callee));
      return v;
    case Is::tensor_index: {
      // A mask of the device's makes the result's size a device value.
      bool mask = false;
      const auto look = [&](const auto& self_ref, const Node* node, int depth) -> void {
        if (!node || depth > 12) return;
        const Type* t = value_type(node);
        mask = mask ||
               (t && t->record && (t->record->name == "at::Tensor" || t->record->name == "at::TensorBase"));
        for (const Node* kid : node->kids) self_ref(self_ref, kid, depth + 1);
      };
      for (size_t i = is_method ? 0 : 1; i < a.size(); ++i) look(look, a[i].node, 0);
      result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values,
                    mask && !on_host ? traces_.source(n, "the size of a mask's selection is a device value",
                                                      "mask indexing")
                                     : shape);
      return v;
    }
    case Is::tensor_shape:
      v.taint = shape;
      if (n->function && n->function->result && n->function->result->shape == Shape::record) {
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate).taint = shape;
        s().at(v.aggregate).deep = shape != nullptr;
      }
      return v;
    case Is::tensor_data: {
      std::vector<PathId> at;
      for (const PathId p : object) at.push_back(paths_.extend(p, Step::element, 0));
      v.targets = target_sets_.intern(at);
      return v;
    }
    case Is::tensor_new: {
      bool cuda = false;
      const auto look = [&](const auto& self_ref, const Node* node, int depth) -> void {
        if (!node || depth > 12) return;
        // Options that come from elsewhere may say anything.
        if (node->op == Op::variable && node->variable->name != "kCPU") {
          const Type* t = value_type(node);
          cuda = cuda || node->variable->name == "kCUDA" ||
                 (t && t->record &&
                  (t->record->name.find("TensorOptions") != std::string::npos ||
                   t->record->name.find("Device") != std::string::npos));
        }
        if (node->op == Op::constant && node->name)
          cuda = cuda || program_.text(node->name) == "CUDA" || program_.text(node->name) == "kCUDA";
        if (node->op == Op::call && node->function &&
            (node->function->spelled == "options" || node->function->spelled == "device"))
          cuda = true;
        for (const Node* kid : node->kids) self_ref(self_ref, kid, depth + 1);
      };
      for (const Argument& one : a) look(look, one.node, 0);
      result_tensor(cuda ? Memory::unknown : Memory::host_tensor, nullptr, nullptr);
      return v;
    }
    default:
      return v;
  }
}

}  // namespace capgate::lint
