// libtorch's tensors. Their cells are `t` (its shape), `t[any]` (its values) and `t.mask` (1: of booleans, so
// that indexing with it selects); `memory` of t is host_tensor where it is on the CPU for certain.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

bool is_tensor(const Type* type) {
  if (type && type->shape == Shape::reference) type = type->inner;
  return type && type->record &&
         (type->record->name == "at::Tensor" || type->record->name == "at::TensorBase");
}

// A tensor, or several: std::tuple, std::vector.
bool holds_tensors(const Type* type) {
  return is_tensor(type) || (type && type->record && type->record->name.starts_with("std::") &&
                             type->spelling.find("at::Tensor") != std::string::npos);
}

template <class Visit>
void each_below(const Node* node, const Visit& visit, int depth = 0) {
  if (!node || depth > 12) return;
  visit(*node);
  for (const Node* kid : node->kids) each_below(kid, visit, depth + 1);
}

// What the arguments name: a device, a type.
struct Named {
  bool cpu = false, cuda = false, boolean = false, unknown_options = false, not_blocking = false;
};

Named named_by(const Program& program, const Node& argument) {
  Named named;
  each_below(&argument, [&](const Node& node) {
    const auto is = [&](std::string_view word) {
      if (node.op == Op::variable) return node.variable->name == word;
      return (node.op == Op::constant || node.op == Op::text) && node.name && program.text(node.name) == word;
    };
    const auto begins = [&](std::string_view word) {
      return node.op == Op::text && node.name && program.text(node.name).starts_with(word);
    };
    named.cpu = named.cpu || is("kCPU") || is("CPU") || begins("cpu");
    named.cuda = named.cuda || is("kCUDA") || is("CUDA") || begins("cuda");
    named.boolean = named.boolean || is("kBool") || is("Bool");
    // Options that come from elsewhere may say anything.
    if (node.op == Op::variable && node.variable->name != "kCPU") {
      const Type* t = value_type(&node);
      named.unknown_options =
          named.unknown_options || (t && t->record &&
                                    (t->record->name.find("TensorOptions") != std::string::npos ||
                                     t->record->name.find("Device") != std::string::npos));
    }
    if (node.op == Op::call && node.function &&
        (node.function->spelled == "options" || node.function->spelled == "device") && node.kids.size() == 1)
      named.unknown_options = true;
  });
  return named;
}

}  // namespace

bool Interpreter::makes_tensors(const Function& function) {
  return holds_tensors(function.result);
}

bool Interpreter::is_mask(const std::vector<PathId>& tensors) {
  const uint32_t field = program_.intern("mask");
  return std::any_of(tensors.begin(), tensors.end(), [&](PathId p) {
    const Cell* c = s().find(paths_.field(p, field));
    return c && c->has_constant;
  });
}

// Whether indexing with it selects by values: a mask that is named here, or made here.
bool Interpreter::selects(const Node* index) {
  bool found = false;
  each_below(index, [&](const Node& node) {
    if (!is_tensor(value_type(&node))) return;
    if (node.op == Op::variable || node.op == Op::field) found = found || is_mask(places(&node));
    if (node.op == Op::call && node.function)
      if (const Api* api = api_of(*node.function)) found = found || api->is == Is::tensor_compare;
  });
  return found;
}

Value Interpreter::tensor(const Api& api, const Node* n, std::vector<Argument>& a,
                          const std::vector<PathId>& given) {
  Value v;
  const bool is_method = !given.empty();
  const Type* result = n->function ? n->function->result : nullptr;
  const std::string callee = n->function ? n->function->spelled : api.name;
  std::vector<PathId> object = given;
  if (!is_method && !a.empty()) object = a[0].places;
  // Elementwise work on a tensor of the host is the host's, if all that goes in is.
  bool on_host = !object.empty();
  const Trace* values = nullptr;
  const Trace* shape = nullptr;
  const auto look_at = [&](PathId p) {
    on_host = on_host && cells_.memory_of(p) == Memory::host_tensor;
    if (!values) values = s().read(paths_, paths_.extend(p, Step::element, kAny)).taint;
    if (!shape) shape = s().read(paths_, p).taint;
  };
  for (const PathId p : object) look_at(p);
  if (api.is == Is::tensor_part || api.is == Is::tensor_compare || api.is == Is::tensor_mask)
    for (const Argument& one : a)
      if (is_tensor(value_type(one.node)))
        for (const PathId p : one.places) look_at(p);
  Named named;
  for (const Argument& one : a) {
    if (!one.node || one.node->implicit) continue;
    const Named here = named_by(program_, *one.node);
    named.cpu = named.cpu || here.cpu;
    named.cuda = named.cuda || here.cuda;
    named.boolean = named.boolean || here.boolean;
    named.unknown_options = named.unknown_options || here.unknown_options;
  }

  CallEvent event = event_of(api, callee);
  event.src.present = true;
  event.src.memory = on_host ? Memory::host_tensor : Memory::unknown;
  const auto result_tensor = [&](Memory memory, const Trace* content, const Trace* its_shape,
                                 bool mask = false) {
    v.aggregate = temporary(n);
    s().erase_below(paths_, v.aggregate, true);
    const auto fill = [&](PathId p) {
      s().at(p).memory = memory;
      s().at(p).taint = its_shape;
      if (content || memory == Memory::host_tensor) {
        Cell& e = s().at(paths_.extend(p, Step::element, kAny));
        e.taint = content;
        e.deep = content != nullptr;
      }
      if (mask) {
        Cell& m = s().at(paths_.field(p, program_.intern("mask")));
        m.has_constant = true;
        m.constant = 1;
      }
    };
    if (is_tensor(result) || !holds_tensors(result)) {
      fill(v.aggregate);
      return;
    }
    s().at(v.aggregate);
    for (const uint32_t i : {0u, 1u, 2u, kAny}) fill(paths_.extend(v.aggregate, Step::element, i));
  };
  const auto wait_for_values = [&](const std::vector<PathId>& from, Memory memory) {
    (void)from;
    static const Api kToHost = [] {
      Api made;
      made.is = Is::tensor_to_host;
      return made;
    }();
    CallEvent wait = event_of(kToHost, callee);
    wait.src.present = true;
    wait.src.memory = memory;
    judge(wait, n);
  };

  const bool on_device = api.is == Is::tensor_new ? named.cuda || named.unknown_options : !on_host;
  if (on_device && (api.is == Is::tensor_new || api.allocates)) judge(event, n);
  switch (api.is) {
    case Is::tensor_read:
      judge(event, n);
      if (on_host) {
        v.taint = values;
        return v;
      }
      v = source_value(n, callee, result);
      if (result && result->shape == Shape::record) {
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
          shape, is_mask(object));
      return v;
    case Is::tensor_to:
      if (named.cpu) {
        wait_for_values(object, event.src.memory);
        result_tensor(Memory::host_tensor,
                      on_host
                          ? values
                          : traces_.source(n, callee + "() brings a tensor's values to the host", "to(kCPU)"),
                      shape, named.boolean || is_mask(object));
      } else if (named.cuda) {
        result_tensor(Memory::unknown, nullptr, shape, named.boolean || is_mask(object));
      } else {
        result_tensor(on_host && !named.unknown_options ? Memory::host_tensor : Memory::unknown, values,
                      shape, named.boolean);
      }
      return v;
    case Is::tensor_copy: {
      // Into the object: what comes from the device into a tensor of the host is waited for.
      bool from_host = !a.empty() && !a[0].places.empty();
      if (!a.empty())
        for (const PathId p : a[0].places)
          from_host = from_host && cells_.memory_of(p) == Memory::host_tensor;
      const bool later = a.size() > 1 && a[1].value.has_constant && a[1].value.constant != 0;
      if (on_host && !from_host) {
        if (!later) wait_for_values(object, Memory::unknown);
        const Trace* brought = traces_.source(n, callee + "() brings a tensor's values to the host", "copy_");
        for (const PathId p : object)
          cells_.write_memory(paths_.extend(p, Step::element, 0), brought, object.size() == 1);
      } else if (on_host && a[0].places.size() == 1) {
        const Trace* copied = s().read(paths_, paths_.extend(a[0].places[0], Step::element, kAny)).taint;
        for (const PathId p : object)
          cells_.write_memory(paths_.extend(p, Step::element, 0), copied, object.size() == 1);
      }
      v.targets = target_sets_.intern(object);
      return v;
    }
    case Is::tensor_data_shape:
      judge(event, n);
      if (on_host)
        result_tensor(Memory::host_tensor, values, values ? values : shape);
      else
        result_tensor(Memory::unknown, values,
                      traces_.source(n, "the size of " + callee + "()'s result is a device value", callee));
      return v;
    case Is::tensor_index: {
      bool by_mask = false;
      for (size_t i = is_method ? 0 : 1; i < a.size(); ++i) by_mask = by_mask || selects(a[i].node);
      if (by_mask && !on_host) {
        static const Api kShape = [] {
          Api made;
          made.is = Is::tensor_data_shape;
          return made;
        }();
        CallEvent wait = event_of(kShape, callee);
        wait.src = event.src;
        judge(wait, n);
      }
      result_tensor(
          on_host ? Memory::host_tensor : Memory::unknown, values,
          by_mask && !on_host
              ? traces_.source(n, "the size of a mask's selection is a device value", "mask indexing")
              : shape);
      return v;
    }
    case Is::tensor_compare:
      result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape, true);
      return v;
    case Is::tensor_mask: {
      bool mask = is_mask(object);
      for (const Argument& one : a) mask = mask || is_mask(one.places);
      result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape, mask);
      return v;
    }
    case Is::tensor_write:
      v.targets = target_sets_.intern(object);
      return v;
    case Is::tensor_part: {
      // A dimension that a tensor of the device picks is read from it.
      if (callee == "operator[]" && !a.empty() && is_tensor(value_type(a[0].node))) {
        bool known = !a[0].places.empty();
        for (const PathId p : a[0].places) known = known && cells_.memory_of(p) == Memory::host_tensor;
        wait_for_values(a[0].places, known ? Memory::host_tensor : Memory::unknown);
      }
      if (result && result->shape == Shape::reference) {  // in place
        v.targets = target_sets_.intern(object);
        return v;
      }
      result_tensor(on_host ? Memory::host_tensor : Memory::unknown, values, shape);
      return v;
    }
    case Is::tensor_shape:
      v.taint = shape;
      if (result && result->shape == Shape::record) {
        v.aggregate = temporary(n);
        s().erase_below(paths_, v.aggregate, true);
        s().at(v.aggregate).taint = shape;
        s().at(v.aggregate).deep = shape != nullptr;
      }
      return v;
    case Is::tensor_data: {
      std::vector<PathId> at;
      at.reserve(object.size());
      for (const PathId p : object) at.push_back(paths_.extend(p, Step::element, 0));
      v.targets = target_sets_.intern(at);
      return v;
    }
    case Is::tensor_new:
      result_tensor(named.cuda || named.unknown_options ? Memory::unknown : Memory::host_tensor, nullptr,
                    nullptr, named.boolean);
      return v;
    default:
      return v;
  }
}

}  // namespace capgate::lint
