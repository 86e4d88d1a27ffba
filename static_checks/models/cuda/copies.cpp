// Copies between the host and the device, and what they leave in memory.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"

namespace capgate::lint {

namespace {

bool is_host(Memory m) {
  return m == Memory::stack || m == Memory::container || m == Memory::host_heap || m == Memory::pinned;
}

// cudaMemcpyKind
enum CopyKind { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kDefault };

}  // namespace

Operand Interpreter::operand(const Argument& argument, const std::vector<PathId>& paths) {
  Operand o;
  o.present = true;
  o.name = text_of(argument.node);
  if (o.name.starts_with("&")) o.name.erase(0, 1);
  bool first = true;
  for (const PathId p : paths) {
    const Memory m = cells_.memory_of(p);
    o.memory = first || m == o.memory ? m : Memory::mixed;
    first = false;
    if (o.name.empty() && paths_[paths_[p].root].step == Step::variable)
      o.name = program_.variables[paths_[paths_[p].root].key - 1].name;
  }
  return o;
}

// Whether a copy of a known size ends within the element that it begins at.
bool Interpreter::fits_an_element(PathId target, const Argument* pointer, const Api& api,
                                  const std::vector<Argument>& a) {
  const Paths::Info& at = paths_[target];
  const Argument* bytes = at_position(a, api.bytes);
  if ((at.step != Step::element && at.step != Step::deref) || at.key == kAny || !at.parent || !pointer ||
      !bytes || !bytes->value.has_constant || api.rows >= 0)
    return false;
  const auto holds = [&](const Type* type) {
    return type && (type->shape == Shape::pointer || type->shape == Shape::array) && type->inner &&
           bytes->value.constant <= type->inner->size;
  };
  if (!pointer->node || !holds(value_type(pointer->node))) return false;
  // An array's own elements may be smaller than those of the pointer into it.
  const Paths::Info& base = paths_[at.parent];
  if (base.step != Step::variable || base.key == 0) return true;
  const Type* type = program_.variables[base.key - 1].type;
  if (!type || (type->shape != Shape::array && type->shape != Shape::pointer)) return true;
  return holds(type);
}

// The field of that name, in anonymous unions, too: "memcpy.copyParams.srcPtr".
std::vector<PathId> Interpreter::fields_of(PathId object, const std::string& name) {
  std::vector<PathId> found{object};
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find('.', at), name.size());
    const uint32_t part = program_.intern(std::string_view(name).substr(at, end - at));
    std::vector<PathId> next;
    for (const PathId p : found) {
      next.push_back(paths_.field(p, part));
      if (part) next.push_back(paths_.field(paths_.field(p, 0), part));
    }
    found = std::move(next);
    at = end + 1;
  }
  return found;
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
    for (const std::string& field : fields)
      for (const PathId at : fields_of(object, field))
        for (const auto& [path, cell] : s().cells())
          if (cell.targets && paths_[path].root == paths_[at].root && paths_.below(path, at))
            for (const PathId p : target_sets_[cell.targets]) found.push_back(p);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// One copy: what it copies, in which direction, and what that leaves in memory.
struct Interpreter::Copy {
  Interpreter& in;
  const Api& api;
  const Node* n;
  std::vector<Argument>& a;
  CallEvent& event;
  std::vector<PathId> dst = {}, src = {};
  const Argument* dst_argument = nullptr;
  const Argument* src_argument = nullptr;
  int64_t kind = kDefault;

  void find_operands();
  void find_kind();
  void tell_rules();
  void write();

 private:
  void follow_arrays(std::vector<PathId>& list);
  const Trace* device_value();
  const Trace* content_of_source();
  void write(PathId p, const Trace* taint);
};

// What the pointers in an array point to.
void Interpreter::Copy::follow_arrays(std::vector<PathId>& list) {
  std::vector<PathId> found;
  for (const PathId p : list)
    for (const auto& [path, cell] : in.s().cells())
      if (cell.targets && in.paths_[path].root == in.paths_[p].root)
        for (const PathId t : in.target_sets_[cell.targets]) found.push_back(t);
  list = std::move(found);
}

void Interpreter::Copy::find_operands() {
  dst_argument = at_position(a, api.dst);
  src_argument = at_position(a, api.src);
  if (dst_argument) dst = in.targets(dst_argument->value);
  if (src_argument) src = in.targets(src_argument->value);
  if (api.batch && api.parameters < 0) {
    follow_arrays(dst);
    follow_arrays(src);
  }
  if (const Argument* parameters = at_position(a, api.parameters)) {
    dst = in.field_targets(*parameters, api.dst_fields, api.batch);
    src = in.field_targets(*parameters, api.src_fields, api.batch);
    dst_argument = src_argument = parameters;
    if (!api.kind_field.empty())
      for (const PathId object : in.targets(parameters->value))
        for (const PathId at : in.fields_of(object, api.kind_field))
          if (const Cell* c = in.s().find(at); c && c->has_constant) kind = c->constant;
  }
}

void Interpreter::Copy::find_kind() {
  if (const Argument* given = at_position(a, api.kind)) {
    if (given->value.has_constant) kind = given->value.constant;
    if (const Trace* t = in.cells_.taint_of(given->value)) in.sink(Use::size, t, given->node);
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
      kind = kDeviceToDevice;
      if (!src.empty()) kind = kHostToDevice;
      if (!dst.empty()) kind = kDeviceToHost;
      break;
    case Direction::by_address:
      kind = kDefault;
      break;
    case Direction::by_kind:
      break;
  }
}

void Interpreter::Copy::tell_rules() {
  event.to_host = kind == kDeviceToHost;
  event.to_device = kind == kHostToDevice;
  event.on_device = kind == kDeviceToDevice;
  if (dst_argument && kind != kHostToDevice && kind != kDeviceToDevice && !dst.empty())
    event.dst = in.operand(*dst_argument, dst);
  if (src_argument && kind != kDeviceToHost && kind != kDeviceToDevice && !src.empty())
    event.src = in.operand(*src_argument, src);
  if (const Argument* bytes = at_position(a, api.bytes))
    if (const Trace* t = in.cells_.taint_of(bytes->value)) in.sink(Use::size, t, bytes->node);
}

void Interpreter::Copy::write(PathId p, const Trace* taint) {
  const bool strong = dst.size() == 1;
  if (in.fits_an_element(p, dst_argument, api, a))
    in.cells_.write_element(p, taint, strong);
  else
    in.cells_.write_memory(p, taint, strong);
}

const Trace* Interpreter::Copy::device_value() {
  std::string where = dst_argument ? in.text_of(dst_argument->node) : "";
  if (where.starts_with("&")) where.erase(0, 1);
  return in.traces_.source(n,
                           (where.empty() ? std::string("the host") : "'" + where + "'") +
                               " receives a device value from " + event.callee,
                           event.callee);
}

const Trace* Interpreter::Copy::content_of_source() {
  const Trace* taint = nullptr;
  for (const PathId p : src) {
    const Cell c = in.s().read(in.paths_, in.paths_.indexed(p, kAny));
    if (c.taint) taint = c.taint;
    if (!taint) {
      Value v;
      v.targets = in.target_sets_.one(p);
      taint = in.cells_.content_of(v);
    }
    if (!taint) taint = in.s().read(in.paths_, p).taint;
  }
  return taint;
}

void Interpreter::Copy::write() {
  if (kind == kDefault) {
    // By address: what certainly comes from the host is no device value.
    bool host_source = !src.empty();
    for (const PathId p : src) host_source = host_source && is_host(in.cells_.memory_of(p));
    kind = host_source ? kHostToHost : kDeviceToHost;
  }
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  if (!from_device && kind != kHostToDevice && kind != kHostToHost) return;
  const Trace* taint = from_device ? nullptr : content_of_source();
  for (const PathId p : dst) {
    const Memory m = in.cells_.memory_of(p);
    if (m == Memory::device) continue;
    if (from_device) {
      if (kind == kDeviceToHost || m == Memory::managed) write(p, device_value());
    } else if (kind == kHostToHost || m == Memory::managed) {
      write(p, taint ? in.traces_.step(taint, n, "copied by " + event.callee) : nullptr);
    }
  }
}

void Interpreter::copy(const Api& api, const Node* n, std::vector<Argument>& a, CallEvent& event) {
  Copy copy{*this, api, n, a, event};
  copy.find_operands();
  copy.find_kind();
  copy.tell_rules();
  if (api.is != Is::copy_node)
    copy.write();
  else if (!s().flow.region)
    note_node(api, n, a, event, event.src.present ? copy.src : copy.dst);
}

}  // namespace capgate::lint
