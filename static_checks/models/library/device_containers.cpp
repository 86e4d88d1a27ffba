// Methods of thrust's containers on the device.
#include <array>

#include "static_checks/models/library/method.h"

namespace capgate::lint {

Interpreter::Method::Handler Interpreter::Method::handler_of_device_container(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kElement{"operator[]", "front", "back"};
  static constexpr std::array<std::string_view, 3> kPointer{"data", "begin", "end"};
  static constexpr std::array<std::string_view, 5> kGrows{"resize", "reserve", "push_back", "insert",
                                                          "assign"};
  static constexpr std::array<std::string_view, 2> kSize{"size", "empty"};
  if (is_one_of(name, kElement)) return &Method::gives_a_device_reference;
  if (is_one_of(name, kPointer)) return &Method::points_into_device_memory;
  if (is_one_of(name, kGrows)) return &Method::resizes_on_device;
  return is_one_of(name, kSize) ? &Method::tells_nothing_of_the_device : nullptr;
}

bool Interpreter::Method::gives_a_device_reference() {
  if (!a.empty())
    if (const Trace* t = in.cells_.taint_of(a[0].value)) in.sink(Use::index, t, n);
  v.aggregate = in.temporary(n);  // a device_reference: reading it is a copy
  in.s().erase_below(in.paths_, v.aggregate, true);
  const std::vector<PathId> at =
      in.elements(object, object_node, a.empty() ? kAny : constant_index(a[0].value));
  in.s().at(v.aggregate).targets = in.target_sets_.intern(at);
  return true;
}

bool Interpreter::Method::points_into_device_memory() {
  v.targets = in.target_sets_.intern(in.elements(object, object_node, 0));
  v.aggregate = in.temporary(n);
  in.s().erase_below(in.paths_, v.aggregate, true);
  in.s().at(v.aggregate).targets = v.targets;
  return true;
}

bool Interpreter::Method::resizes_on_device() {
  if (!a.empty())
    if (const Trace* t = in.cells_.taint_of(a[0].value); t && (name == "resize" || name == "reserve"))
      in.sink(Use::container_size, t, a[0].node);
  return true;
}

}  // namespace capgate::lint
