// Calls of libtorch: which handler is whose, and what a call's operands are.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "static_checks/models/torch/tensor_call.h"

namespace capgate::lint {
namespace {

template <class Visit>
void each_below(const Node* node, const Visit& visit, int depth = 0) {
  if (!node || depth > 12) return;
  visit(*node);
  for (const Node* kid : node->kids) each_below(kid, visit, depth + 1);
}

}  // namespace

bool is_tensor(const Type* type) {
  if (type && type->shape == Shape::reference) type = type->inner;
  return type && type->record &&
         (type->record->name == "at::Tensor" || type->record->name == "at::TensorBase");
}

bool holds_tensors(const Type* type) {
  return is_tensor(type) || (type && type->record && type->record->name.starts_with("std::") &&
                             type->spelling.find("at::Tensor") != std::string::npos);
}

Interpreter::TensorCall::Named Interpreter::TensorCall::named_by(const Program& program,
                                                                 const Node& argument) {
  Named found;
  each_below(&argument, [&](const Node& node) {
    const auto is = [&](std::string_view word) {
      if (node.op == Op::variable) return node.variable->name == word;
      return (node.op == Op::constant || node.op == Op::text) && node.name && program.text(node.name) == word;
    };
    const auto begins = [&](std::string_view word) {
      return node.op == Op::text && node.name && program.text(node.name).starts_with(word);
    };
    found.cpu = found.cpu || is("kCPU") || is("CPU") || begins("cpu");
    found.cuda = found.cuda || is("kCUDA") || is("CUDA") || begins("cuda");
    found.boolean = found.boolean || is("kBool") || is("Bool");
    // Options that come from elsewhere may say anything.
    if (node.op == Op::variable && node.variable->name != "kCPU") {
      const Type* t = value_type(&node);
      found.unknown_options =
          found.unknown_options || (t && t->record &&
                                    (t->record->name.find("TensorOptions") != std::string::npos ||
                                     t->record->name.find("Device") != std::string::npos));
    }
    if (node.op == Op::call && node.function &&
        (node.function->spelled == "options" || node.function->spelled == "device") && node.kids.size() == 1)
      found.unknown_options = true;
  });
  return found;
}

bool Questions::makes_tensors(const Function& function) {
  return holds_tensors(function.result);
}

bool Interpreter::TensorCall::is_mask(const std::vector<PathId>& tensors) {
  const uint32_t field = in.program_.intern("mask");
  return std::any_of(tensors.begin(), tensors.end(), [&](PathId p) {
    const Cell* c = in.s().find(in.paths_.field(p, field));
    return c && c->has_constant;
  });
}

// Whether indexing with it selects by values: a mask that is named here, or made here.
bool Interpreter::TensorCall::selects(const Node* index) {
  bool found = false;
  each_below(index, [&](const Node& node) {
    if (!is_tensor(value_type(&node))) return;
    if (node.op == Op::variable || node.op == Op::field) found = found || is_mask(in.places(&node));
    if (node.op == Op::call && node.function)
      if (const Api* known = in.api_of(*node.function)) found = found || known->is == Is::tensor_compare;
  });
  return found;
}

Interpreter::TensorCall::Handler Interpreter::TensorCall::handler_of(Is is) {
  static constexpr std::array<std::pair<Is, Handler>, 13> kHandlers{{
      {Is::tensor_read, &TensorCall::reads},
      {Is::tensor_to_host, &TensorCall::moves_to_host},
      {Is::tensor_to, &TensorCall::converts},
      {Is::tensor_copy, &TensorCall::copies_in},
      {Is::tensor_data_shape, &TensorCall::has_a_size_of_its_values},
      {Is::tensor_index, &TensorCall::is_indexed},
      {Is::tensor_compare, &TensorCall::compares},
      {Is::tensor_mask, &TensorCall::keeps_a_mask},
      {Is::tensor_write, &TensorCall::writes},
      {Is::tensor_part, &TensorCall::gives_a_part},
      {Is::tensor_shape, &TensorCall::gives_its_shape},
      {Is::tensor_data, &TensorCall::gives_its_data},
      {Is::tensor_new, &TensorCall::is_made},
  }};
  const auto* known =
      std::find_if(kHandlers.begin(), kHandlers.end(), [&](const auto& one) { return one.first == is; });
  return known == kHandlers.end() ? nullptr : known->second;
}

Value Interpreter::tensor(const Api& api, const Node* n, std::vector<Argument>& a,
                          const std::vector<PathId>& given) {
  const std::string callee = n->function ? n->function->spelled : api.name;
  TensorCall call{*this,
                  api,
                  n,
                  a,
                  !given.empty(),
                  given.empty() && !a.empty() ? a[0].places : given,
                  n->function ? n->function->result : nullptr,
                  callee,
                  event_of(api, callee)};
  call.look_at_operands();
  const bool on_device =
      api.is == Is::tensor_new ? call.named.cuda || call.named.unknown_options : !call.on_host;
  if (on_device && (api.is == Is::tensor_new || api.allocates)) judge(call.event, n);
  if (const TensorCall::Handler handler = TensorCall::handler_of(api.is)) (call.*handler)();
  return call.v;
}

void Interpreter::TensorCall::look_at(PathId tensor) {
  on_host = on_host && in.cells_.memory_of(tensor) == Memory::host_tensor;
  if (!values) values = in.s().read(in.paths_, in.paths_.extend(tensor, Step::element, kAny)).taint;
  if (!shape) shape = in.s().read(in.paths_, tensor).taint;
}

void Interpreter::TensorCall::look_at_operands() {
  on_host = !object.empty();
  for (const PathId p : object) look_at(p);
  if (api.is == Is::tensor_part || api.is == Is::tensor_compare || api.is == Is::tensor_mask)
    for (const Argument& one : a)
      if (is_tensor(value_type(one.node)))
        for (const PathId p : one.places) look_at(p);
  for (const Argument& one : a) {
    if (!one.node || one.node->implicit) continue;
    const Named here = named_by(in.program_, *one.node);
    named.cpu = named.cpu || here.cpu;
    named.cuda = named.cuda || here.cuda;
    named.boolean = named.boolean || here.boolean;
    named.unknown_options = named.unknown_options || here.unknown_options;
  }
  event.src.present = true;
  event.src.memory = on_host ? Memory::host_tensor : Memory::unknown;
}

}  // namespace capgate::lint
