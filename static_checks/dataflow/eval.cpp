// Expressions: their values, and the places they denote.
#include <clang-c/Index.h>

#include <algorithm>

#include "static_checks/dataflow/interpreter.h"

namespace capgate::lint {

namespace {

// Of the negated value.
Tag opposite(Tag tag) {
  switch (tag) {
    case Tag::capture_status:
    case Tag::is_capturing:
      return Tag::not_capturing;
    case Tag::not_capturing:
      return Tag::is_capturing;
    case Tag::begun:
      return Tag::not_begun;
    case Tag::not_begun:
      return Tag::begun;
    case Tag::none:
      break;
  }
  return Tag::none;
}

// The capture could not be begun.
void leave_region(Flow& flow) {
  flow.region = 0;
  flow.marked = 0;
  flow.relaxed_capture = 0;
}

bool is_record(const Type* t) {
  return t && (t->shape == Shape::record || t->shape == Shape::array);
}

}  // namespace

std::string Interpreter::text_of(const Node* n) const {
  n = bare(n);
  if (!n) return "";
  switch (n->op) {
    case Op::variable:
      return n->variable->name;
    case Op::field: {
      const Node* object = bare(n->kids[0]);
      if (object->op == Op::deref) {
        const Node* pointer = bare(object->kids[0]);
        if (pointer->op == Op::this_pointer) return program_.text(n->name);
        return text_of(pointer) + "->" + program_.text(n->name);
      }
      return text_of(object) + "." + program_.text(n->name);
    }
    case Op::index:
      return text_of(n->kids[0]) + "[]";
    case Op::deref:
      return "*" + text_of(n->kids[0]);
    case Op::address:
      return "&" + text_of(n->kids[0]);
    case Op::this_pointer:
      return "this";
    case Op::binary:
      return text_of(n->kids[0]);
    case Op::construct:
      return n->record ? n->record->name : "";
    case Op::call:
      if (n->function && n->has_object && n->function->is_conversion) return text_of(n->kids[0]);
      if (n->function && n->has_object) {
        const std::string object = text_of(n->kids[0]);
        if (n->function->spelled == "operator[]") return object + "[]";
        return (object.empty() ? "" : object + ".") + n->function->spelled + "()";
      }
      return n->function ? n->function->spelled + "()" : "";
    default:
      return "";
  }
}

Value Interpreter::join_values(const Value& a, const Value& b) {
  Value v = a;
  if (!v.taint) v.taint = b.taint;
  v.targets = target_sets_.join(a.targets, b.targets);
  if (!v.callable)
    v.callable = b.callable;
  else if (b.callable && b.callable != v.callable)
    v.callable = kManyCallables;
  v.has_constant = a.has_constant && b.has_constant && a.constant == b.constant;
  v.tag = a.tag == b.tag ? a.tag : Tag::none;
  if (!v.aggregate) v.aggregate = b.aggregate;
  return v;
}

const Trace* Interpreter::taint_of(const Value& value) {
  if (value.taint) return value.taint;
  if (!value.aggregate) return nullptr;
  for (const auto& [path, cell] : s().cells())
    if (cell.taint && paths_[path].root == paths_[value.aggregate].root &&
        paths_.below(path, value.aggregate))
      return cell.taint;
  return s().read(paths_, value.aggregate).taint;
}

const Trace* Interpreter::content_of(const Value& value) {
  for (const PathId p : target_sets_[value.targets]) {
    const PathId any = paths_.indexed(p, kAny);
    if (const Trace* t = s().read(paths_, any).taint) return t;
    const PathId base = paths_[p].parent ? paths_[p].parent : p;
    for (const auto& [path, cell] : s().cells())
      if (cell.taint && paths_[path].root == paths_[p].root && path != base && paths_.below(path, base))
        return cell.taint;
  }
  return nullptr;
}

Memory Interpreter::memory_of(PathId path) {
  if (paths_[path].swallowed_pointer) return Memory::unknown;
  for (PathId at = path; at; at = paths_[at].parent) {
    if (const Cell* cell = s().find(at); cell && cell->memory != Memory::unknown) return cell->memory;
    if (paths_[at].step == Step::element || paths_[at].step == Step::deref) {
      const PathId any = paths_.extend(paths_[at].parent, paths_[at].step, kAny);
      if (const Cell* cell = s().find(any); cell && cell->memory != Memory::unknown) return cell->memory;
    }
    // What a pointer points to has nothing to do with where the pointer lies.
    if (paths_[at].step == Step::deref) return Memory::unknown;
  }
  const Paths::Info& root = paths_[paths_[path].root];
  if (root.step == Step::variable) {
    const Variable& v = program_.variables[root.key - 1];
    if (v.on_device) return Memory::device;
    if (v.managed) return Memory::managed;
    if ((v.scope == Variable::Scope::local || v.scope == Variable::Scope::parameter) && v.type &&
        v.type->shape != Shape::reference && v.name != "this")
      return Memory::stack;
  }
  return Memory::unknown;
}

void Interpreter::set_memory(PathId path, Memory memory) {
  if (paths_[path].step == Step::element || paths_[path].step == Step::deref)
    path = paths_.extend(paths_[path].parent, paths_[path].step, kAny);
  if (memory_of(path) != memory) {
    Cell c = s().read(paths_, path);
    c.memory = memory;
    s().at(path) = c;
  }
}

Value Interpreter::load(const std::vector<PathId>& at, const Type* type) {
  Value v;
  bool first = true;
  const bool pointer = type && type->shape == Shape::pointer;
  for (const PathId p : at) {
    const Cell c = s().read(paths_, p);
    Value one;
    one.taint = c.taint;
    one.targets = c.targets;
    one.callable = c.callable;
    one.has_constant = c.has_constant;
    one.constant = c.constant;
    one.tag = c.tag;
    if (pointer && !c.targets && !c.callable && !c.has_constant)
      one.targets = target_sets_.one(paths_.extend(p, Step::deref, 0));
    if (is_record(type)) one.aggregate = p;
    v = first ? one : join_values(v, one);
    first = false;
  }
  if (type && type->status) v.taint = nullptr;
  return v;
}

void Interpreter::store_scalar(PathId place, const Value& value, bool strong, const Type* type) {
  if (paths_[place].summary) strong = false;
  Cell old;
  if (!strong) old = s().read(paths_, place);
  if (const Cell* existing = s().find(place)) {
    old.memory = existing->memory;
  }
  Cell c;
  c.memory = old.memory;
  c.taint = value.taint;
  c.targets = value.targets;
  c.callable = value.callable;
  c.has_constant = value.has_constant;
  c.constant = value.constant;
  c.tag = value.tag;
  if (type && type->status) c.taint = nullptr;
  if (!strong) {
    if (!c.taint) c.taint = old.taint;
    c.deep = old.deep;
    c.targets = target_sets_.join(c.targets, old.targets);
    if (!c.callable) c.callable = old.callable;
    c.has_constant = false;
    c.tag = Tag::none;
    c.handle = old.handle;
  }
  s().at(place) = c;
  // A write through an unknown index may hit any of the known ones.
  const Step step = paths_[place].step;
  if ((step == Step::element || step == Step::deref) && paths_[place].key == kAny && paths_[place].parent) {
    const std::vector<PathId> siblings = paths_[paths_[place].parent].indexed;
    for (const PathId sibling : siblings)
      if (paths_[sibling].step == step)
        if (const Cell* known = s().find(sibling)) {
          Cell both = *known;
          if (!both.taint) both.taint = c.taint;
          both.targets = target_sets_.join(both.targets, c.targets);
          both.has_constant = false;
          s().at(sibling) = both;
        }
  }
}

void Interpreter::copy_tree(PathId from, PathId to, bool keep_old) {
  if (from == to || !from || !to) return;
  std::vector<std::pair<PathId, Cell>> moved;
  const PathId root = paths_[from].root;
  for (const auto& [path, cell] : s().cells())
    if (paths_[path].root == root && paths_.below(path, from)) moved.emplace_back(path, cell);
  Cell top = s().read(paths_, from);
  if (!keep_old) s().erase_below(paths_, to, true);
  if (top.memory != Memory::host_tensor) top.memory = Memory::unknown;
  if (keep_old) {
    const Cell old = s().read(paths_, to);
    if (!top.taint) {
      top.taint = old.taint;
      top.deep = old.deep;
    }
    top.targets = target_sets_.join(top.targets, old.targets);
  }
  s().at(to) = top;
  for (auto& [path, cell] : moved) {
    if (path == from) continue;
    const PathId there = paths_.rebase(path, from, to);
    if (there == to) continue;
    if (keep_old) {
      const Cell old = s().read(paths_, there);
      if (!cell.taint) cell.taint = old.taint;
      cell.targets = target_sets_.join(cell.targets, old.targets);
      cell.has_constant = false;
    }
    if (cell.memory == Memory::stack) cell.memory = Memory::unknown;
    s().at(there) = cell;
  }
}

void Interpreter::store(const std::vector<PathId>& at, const Value& given, const Node* node,
                        const Type* type) {
  Value value = given;
  if (type && type->status) value.taint = nullptr;
  if (value.taint && node) {
    const Node* target = node->op == Op::declare || node->kids.empty() ? nullptr : node->kids[0];
    std::string name = node->op == Op::declare && node->variable ? node->variable->name : text_of(target);
    if (!name.empty()) value.taint = traces_.step(value.taint, node, "'" + name + "' takes the value");
  }
  const bool strong = at.size() == 1;
  for (const PathId p : at) {
    if (value.aggregate && is_record(type)) {
      copy_tree(value.aggregate, p, !strong || paths_[p].summary);
    } else {
      if (is_record(type) && strong && !paths_[p].summary) s().erase_below(paths_, p, false);
      store_scalar(p, value, strong, type);
      if (is_record(type) && value.taint) s().at(p).deep = true;
    }
  }
}

std::vector<PathId> Interpreter::place_or_temporary(const Node* n, const Value& value) {
  if (value.aggregate) return {value.aggregate};
  const PathId p = temporary(n);
  s().erase_below(paths_, p, true);
  Cell& c = s().at(p);
  c.taint = value.taint;
  c.targets = value.targets;
  c.callable = value.callable;
  c.has_constant = value.has_constant;
  c.constant = value.constant;
  c.tag = value.tag;
  return {p};
}

std::vector<PathId> Interpreter::places(const Node* n) {
  if (!n) return {};
  switch (n->op) {
    case Op::variable: {
      const PathId p = root_of(n->variable);
      if (n->variable->type && n->variable->type->shape == Shape::reference) {
        const Cell c = s().read(paths_, p);
        if (c.targets) return target_sets_[c.targets];
        return {paths_.extend(p, Step::deref, 0)};
      }
      return {p};
    }
    case Op::field: {
      std::vector<PathId> base = places(n->kids[0]);
      if (base.empty()) base = place_or_temporary(n->kids[0], eval(n->kids[0]));
      for (PathId& p : base) {
        const PathId member = paths_.field(p, n->name);
        p = member;
        if (n->type && n->type->shape == Shape::reference)
          if (const Cell c = s().read(paths_, p); c.targets) p = target_sets_[c.targets][0];
      }
      return base;
    }
    case Op::index: {
      const Node* base = n->kids[0];
      const Value subscript = eval(n->kids[1]);
      const uint32_t index = constant_index(subscript);
      const Node* inner = bare(base);
      std::vector<PathId> result;
      if (inner->type && inner->type->shape == Shape::array) {
        for (const PathId p : places(inner)) result.push_back(paths_.extend(p, Step::element, index));
      } else {
        for (const PathId p : targets(eval(base))) result.push_back(paths_.indexed(p, index));
      }
      if (const Trace* t = taint_of(subscript)) sink(Use::index, t, n);
      return result;
    }
    case Op::deref:
      return targets(eval(n->kids[0]));
    case Op::convert: {
      const Type* from = n->kids.empty() ? nullptr : n->kids[0]->type;
      if (n->type && from && n->type->shape == Shape::pointer && from->shape == Shape::array) return {};
      return n->kids.empty() ? std::vector<PathId>{} : places(n->kids[0]);
    }
    case Op::conditional: {
      std::vector<PathId> both = places(n->kids[1]);
      const std::vector<PathId> other = places(n->kids[2]);
      both.insert(both.end(), other.begin(), other.end());
      return both;
    }
    case Op::comma:
      eval(n->kids[0]);
      return places(n->kids[1]);
    case Op::assign:
    case Op::compound_assign:
      eval(n);
      return places(n->kids[0]);
    case Op::step:
      eval(n);
      return places(n->kids[0]);
    case Op::call: {
      const Value v = eval(n);
      if (v.aggregate) return {v.aggregate};
      const bool reference =
          n->function && n->function->result && n->function->result->shape == Shape::reference;
      if (reference) return place_or_temporary(n, v);
      return {};
    }
    case Op::construct:
    case Op::list:
    case Op::lambda:
    case Op::statements: {
      const Value v = eval(n);
      if (v.aggregate) return {v.aggregate};
      return place_or_temporary(n, v);
    }
    case Op::text:
      return {};
    default:
      return {};
  }
}

Value Interpreter::binary(const Node* n) {
  const Value l = eval(n->kids[0]);
  const Value r = eval(n->kids[1]);
  Value v;
  const bool l_pointer = n->kids[0]->type && n->kids[0]->type->shape == Shape::pointer;
  const bool r_pointer = n->kids[1]->type && n->kids[1]->type->shape == Shape::pointer;
  const bool pointer_result = n->type && n->type->shape == Shape::pointer;
  if (pointer_result && (l_pointer || r_pointer)) {
    const Value& pointer = l_pointer ? l : r;
    const Value& offset = l_pointer ? r : l;
    std::vector<PathId> moved = targets(pointer);
    const uint32_t index = n->sub == CXBinaryOperator_Add ? constant_index(offset) : kAny;
    for (PathId& p : moved) p = paths_.indexed(p, index);
    v.targets = target_sets_.intern(std::move(moved));
    v.taint = pointer.taint;
    if (const Trace* t = taint_of(offset)) sink(Use::pointer_arithmetic, t, n);
    return v;
  }
  v.taint = taint_of(l) ? taint_of(l) : taint_of(r);
  if (n->kids[0]->type && n->kids[0]->type->status) v.taint = nullptr;
  if (n->sub == CXBinaryOperator_PtrMemD || n->sub == CXBinaryOperator_PtrMemI) return v;
  const bool comparison = n->sub >= CXBinaryOperator_Cmp && n->sub <= CXBinaryOperator_NE;
  if (comparison && (l.tag != Tag::none || r.tag != Tag::none)) {
    const Value& tagged = l.tag != Tag::none ? l : r;
    const Value& other = l.tag != Tag::none ? r : l;
    const bool tells = n->sub == CXBinaryOperator_EQ || n->sub == CXBinaryOperator_NE;
    if (other.has_constant && tells && (tagged.tag == Tag::begun || tagged.tag == Tag::not_begun)) {
      // Of a status only success says anything: another error may have been met.
      const bool equal_to_zero = other.constant == 0;
      if (!equal_to_zero && tagged.tag == Tag::not_begun && n->sub == CXBinaryOperator_NE) return v;
      bool begun = tagged.tag == Tag::begun;
      if (equal_to_zero) begun = !begun;
      if (n->sub == CXBinaryOperator_NE) begun = !begun;
      v.tag = begun ? Tag::begun : Tag::not_begun;
      return v;
    }
    if (other.has_constant && tells) {
      // cudaStreamCaptureStatusNone is 0, Active 1, Invalidated 2; a bool that says "capturing" is 1.
      bool capturing = other.constant != 0;
      if (tagged.tag == Tag::not_capturing) capturing = !capturing;
      if (n->sub == CXBinaryOperator_NE) capturing = !capturing;
      v.tag = capturing ? Tag::is_capturing : Tag::not_capturing;
      return v;
    }
  }
  if (comparison && (l_pointer || r_pointer)) {
    // Comparing addresses says nothing of what they point to.
    v.taint = l.taint ? l.taint : r.taint;
    return v;
  }
  if (l.has_constant && r.has_constant) {
    const int64_t a = l.constant, b = r.constant;
    v.has_constant = true;
    switch (n->sub) {
      case CXBinaryOperator_Add:
        v.constant = static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        break;
      case CXBinaryOperator_Sub:
        v.constant = static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
        break;
      case CXBinaryOperator_Or:
        v.constant = a | b;
        break;
      case CXBinaryOperator_And:
        v.constant = a & b;
        break;
      case CXBinaryOperator_LT:
        v.constant = a < b;
        break;
      case CXBinaryOperator_GT:
        v.constant = a > b;
        break;
      case CXBinaryOperator_LE:
        v.constant = a <= b;
        break;
      case CXBinaryOperator_GE:
        v.constant = a >= b;
        break;
      case CXBinaryOperator_EQ:
        v.constant = a == b;
        break;
      case CXBinaryOperator_NE:
        v.constant = a != b;
        break;
      default:
        v.has_constant = false;
        break;
    }
  }
  return v;
}

Value Interpreter::eval_into(const Node* n, PathId destination) {
  const Node* inner = bare(n);
  if (inner->op == Op::construct && inner->record &&
      !(inner->kids.size() == 1 && inner->kids[0]->op == Op::construct &&
        inner->kids[0]->record == inner->record))
    return construct(inner, destination);
  if (inner->op == Op::list && inner->kids.size() == 1 && bare(inner->kids[0])->op == Op::construct)
    return eval_into(inner->kids[0], destination);
  if (inner->op == Op::list) {
    s().erase_below(paths_, destination, true);
    s().at(destination);  // known, and clean
    const Type* type = inner->type;
    size_t i = 0;
    for (const Node* kid : inner->kids) {
      PathId member = 0;
      const Type* member_type = nullptr;
      if (type && type->shape == Shape::record && type->record && type->record->user) {
        const uint32_t name = kid->op == Op::convert ? kid->name : 0;
        const auto& fields = type->record->fields;
        if (name) {
          member = paths_.field(destination, name);
          for (size_t k = 0; k < fields.size(); ++k)
            if (fields[k].name == name) {
              member_type = fields[k].type;
              i = k;
            }
        } else if (i < fields.size()) {
          member = paths_.field(destination, fields[i].name);
          member_type = fields[i].type;
        }
      } else {
        member = paths_.extend(destination, Step::element, i <= kMaxIndex ? static_cast<uint32_t>(i) : kAny);
        member_type = kid->type;
      }
      ++i;
      if (!member) {
        eval(kid);
      } else if (is_record(member_type ? member_type : kid->type)) {
        eval_into(kid->op == Op::convert && kid->name ? kid->kids[0] : kid, member);
      } else if (member_type && member_type->shape == Shape::reference) {
        s().at(member).targets = target_sets_.intern(places(kid));
      } else {
        store({member}, eval(kid), nullptr, member_type ? member_type : kid->type);
      }
    }
    Value v;
    v.aggregate = destination;
    return v;
  }
  const Value v = eval(n);
  if (v.aggregate != destination) {
    if (v.aggregate && is_record(n->type ? n->type : inner->type)) {
      copy_tree(v.aggregate, destination, paths_[destination].summary);
    } else {
      s().erase_below(paths_, destination, true);
      store_scalar(destination, v, true, n->type);
      if (v.taint && is_record(n->type)) s().at(destination).deep = true;
    }
  }
  Value stored;
  stored.aggregate = destination;
  stored.callable = v.callable;
  return stored;
}

void Interpreter::construct_default(Record& record, PathId destination, const Node* at) {
  if (!record.user) return;
  lowering_.complete(record);
  if (record.default_constructor) {
    lowering_.lower(*record.default_constructor);
    if (record.default_constructor->body) {
      std::vector<Argument> none;
      const std::vector<PathId> self{destination};
      apply(*record.default_constructor, at, none, &self);
      return;
    }
  }
  for (const Field& f : record.fields) {
    const PathId member = paths_.field(destination, f.name);
    if (f.initial)
      eval_into(f.initial, member);
    else if (f.type && f.type->record && f.type->record->user && paths_[member].depth < kMaxSteps)
      construct_default(*f.type->record, member, at);
  }
}

Value Interpreter::construct(const Node* n, PathId destination) {
  Value result;
  result.aggregate = destination;
  Function* f = n->function;
  Record* record = n->record;
  if (!record || !record->user) return system_construct(n, destination);
  lowering_.complete(*record);
  lowering_.lower(*f);
  if (f->body) {
    s().erase_below(paths_, destination, true);
    std::vector<Argument> arguments = arguments_of(n, 0, f);
    const std::vector<PathId> self{destination};
    const uint32_t region = s().flow.region;
    apply(*f, n, arguments, &self);
    if (f->name == "capgate::allow::allow" && n->kids.size() == 2) allow(n->kids[0], n->kids[1]);
    // A guard: each object has its own region, from where it is made.
    if (s().flow.region > kCallers && s().flow.region != region &&
        regions_[s().flow.region].function.find(record->name) == 0) {
      const bool relaxed = s().flow.relaxed_capture;
      const bool marked = s().flow.marked;
      s().flow.region = region;
      begin_region(n, marked ? "marked" : "guard");
      s().flow.relaxed_capture = relaxed;
    }
    return result;
  }
  if (f->user && !f->is_defaulted && !f->usr.empty()) {  // its body is in another unit
    std::vector<Argument> arguments = arguments_of(n, 0, f);
    if (s().dead) return result;
    s().erase_below(paths_, destination, true);
    forget_outputs(*f, arguments);
    add_call(*f, n);
    const Value held = opaque(n, f, arguments, {});
    if (held.taint) {
      s().at(destination).taint = held.taint;
      s().at(destination).deep = true;
    }
    cross_edge(*f, n);
    return result;
  }
  // Implicit: a copy or move, or memberwise defaults.
  if (n->kids.size() == 1) {
    const Node* from = bare(n->kids[0]);
    const Type* type = from->type;
    if (type && type->shape == Shape::reference) type = type->inner;
    if (type && type->record == record) {
      const Value v = eval(n->kids[0]);
      PathId source = v.aggregate;
      if (!source)
        if (const auto at = places(n->kids[0]); !at.empty()) source = at[0];
      if (source && source != destination)
        copy_tree(source, destination, false);
      else if (taint_of(v)) {
        s().at(destination).taint = taint_of(v);
        s().at(destination).deep = true;
      }
      return result;
    }
  }
  s().erase_below(paths_, destination, true);
  if (n->kids.empty())
    construct_default(*record, destination, n);
  else
    for (const Node* kid : n->kids) eval(kid);
  return result;
}

void Interpreter::destroy(Record& record, PathId object, const Node* at, int depth) {
  if (!record.user || depth > 4) return;
  lowering_.complete(record);
  if (record.destructor_elsewhere) {
    add_call(*record.destructor_elsewhere, at);
    cross_edge(*record.destructor_elsewhere, at);
  }
  if (record.destructor) {
    lowering_.lower(*record.destructor);
    if (record.destructor->body) {
      std::vector<Argument> none;
      const std::vector<PathId> self{object};
      apply(*record.destructor, at, none, &self);
    }
  }
  for (auto f = record.fields.rbegin(); f != record.fields.rend(); ++f)
    if (f->type && f->type->record && f->type->record->user)
      destroy(*f->type->record, paths_.field(object, f->name), at, depth + 1);
  for (Record* base : record.bases) destroy(*base, object, at, depth + 1);
}

// Evaluates a condition; `yes` and `no` are the states in which it holds and does not.
Value Interpreter::branch(const Node* condition, State& yes, State& no) {
  const Node* n = condition;
  while (n->op == Op::convert && n->kids.size() == 1 &&
         (n->kids[0]->op == Op::logical_and || n->kids[0]->op == Op::logical_or ||
          n->kids[0]->op == Op::unary || n->kids[0]->op == Op::convert))
    n = n->kids[0];
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    const bool conjunction = n->op == Op::logical_and;
    State l_yes, l_no;
    const Flow base = s().flow;
    const Value l = branch(n->kids[0], l_yes, l_no);
    if (const Trace* t = taint_of(l)) sink(Use::short_circuit, t, n->kids[0]);
    State& goes_on = conjunction ? l_yes : l_no;
    State& stops = conjunction ? l_no : l_yes;
    s() = goes_on;
    State r_yes, r_no;
    Value r;
    if (s().dead) {
      r_yes.dead = r_no.dead = true;
      r = l;
    } else {
      r = branch(n->kids[1], r_yes, r_no);
    }
    if (conjunction) {
      yes = std::move(r_yes);
      no = std::move(stops);
      join(no, r_no, paths_, target_sets_, base);
    } else {
      no = std::move(r_no);
      yes = std::move(stops);
      join(yes, r_yes, paths_, target_sets_, base);
    }
    s() = yes;
    if (s().dead) s() = no;
    Value v;
    v.taint = l.taint ? l.taint : r.taint;
    return v;
  }
  if (n->op == Op::unary && n->sub == CXUnaryOperator_LNot) {
    Value v = branch(n->kids[0], no, yes);
    if (v.has_constant) v.constant = !v.constant;
    v.tag = opposite(v.tag);
    return v;
  }
  Value v = eval(n);
  yes = s();
  no = s();
  if (v.tag == Tag::is_capturing || v.tag == Tag::capture_status) no.flow.not_capturing = 1;
  if (v.tag == Tag::not_capturing) yes.flow.not_capturing = 1;
  if (v.tag == Tag::begun) leave_region(no.flow);
  if (v.tag == Tag::not_begun) leave_region(yes.flow);
  if (v.has_constant) (v.constant ? no : yes).dead = true;
  v.taint = taint_of(v);
  return v;
}

Value Interpreter::eval(const Node* n) {
  Value v;
  if (!n) return v;
  if (++nodes_ > kMaxNodes) exhausted_ = true;
  if (s().dead) return v;
  if (n->has_value && n->op != Op::when) {
    v.has_constant = true;
    v.constant = n->value;
    return v;
  }
  switch (n->op) {
    case Op::constant:
    case Op::text:
    case Op::nothing:
      return v;
    case Op::function:
      v.callable = n->function->id;
      return v;
    case Op::lambda:
      for (const Node* kid : n->kids) exec(kid);
      v.callable = n->function->id;
      return v;
    case Op::variable:
    case Op::field:
    case Op::index:
    case Op::deref: {
      const std::vector<PathId> at = places(n);
      const Type* type = n->type;
      if (type && type->shape == Shape::reference) type = type->inner;
      // __device__ variables are read by the device only; the host's copy means nothing.
      return load(at, type);
    }
    case Op::address: {
      const Node* operand = bare(n->kids[0]);
      if (operand->op == Op::function) return eval(operand);
      v.targets = target_sets_.intern(places(n->kids[0]));
      return v;
    }
    case Op::this_pointer: {
      if (!n->variable) return v;
      const Cell c = s().read(paths_, root_of(n->variable));
      v.targets =
          c.targets ? c.targets : target_sets_.one(paths_.extend(root_of(n->variable), Step::deref, 0));
      return v;
    }
    case Op::unary: {
      v = eval(n->kids[0]);
      v.taint = taint_of(v);
      v.aggregate = 0;
      v.targets = 0;
      if (n->sub == CXUnaryOperator_LNot) {
        if (v.has_constant) v.constant = !v.constant;
        v.tag = opposite(v.tag);
      } else if (n->sub == CXUnaryOperator_Minus && v.has_constant) {
        v.constant = -v.constant;
      } else if (n->sub != CXUnaryOperator_Plus) {
        v.has_constant = false;
      }
      return v;
    }
    case Op::step: {
      v = eval(n->kids[0]);
      Value next = v;
      next.has_constant = false;
      if (v.targets) {
        std::vector<PathId> moved = targets(v);
        for (PathId& p : moved) p = paths_.indexed(p, kAny);
        next.targets = target_sets_.intern(std::move(moved));
      }
      store(places(n->kids[0]), next, nullptr, n->type);
      return next;
    }
    case Op::binary:
      return binary(n);
    case Op::assign: {
      const Type* type = n->kids[0]->type;
      if (is_record(type) && type->shape == Shape::record) {
        const std::vector<PathId> at = places(n->kids[0]);
        if (at.size() == 1 && !paths_[at[0]].summary) return eval_into(n->kids[1], at[0]);
      }
      v = eval(n->kids[1]);
      const std::vector<PathId> at = places(n->kids[0]);
      // `for (i…) h[i] = v` rewrites the whole of h: the loop's own counter is what makes the index unknown.
      const Node* target = bare(n->kids[0]);
      bool sweeps = false;
      if (at.size() == 1 && target->kids.size() == 2 &&
          (target->op == Op::index ||
           (target->op == Op::call && target->function && target->function->spelled == "operator[]"))) {
        const Node* subscript = bare(target->kids[1]);
        sweeps = subscript->op == Op::variable && std::find(frame_->counters.begin(), frame_->counters.end(),
                                                            subscript->variable) != frame_->counters.end();
      }
      if (sweeps && !v.aggregate && paths_[at[0]].parent && !paths_[paths_[at[0]].parent].summary) {
        const PathId parent = paths_[at[0]].parent;
        const Memory memory = memory_of(at[0]);
        const Trace* before = v.taint;
        s().erase_below(paths_, parent, false);
        Cell& c = s().at(paths_.extend(parent, paths_[at[0]].step, kAny));
        c.taint = before ? traces_.step(before, n, "'" + text_of(target) + "' takes the value") : nullptr;
        c.targets = v.targets;
        c.memory = memory;
        frame_->swept.push_back(paths_.extend(parent, paths_[at[0]].step, kAny));
        return v;
      }
      store(at, v, n, type);
      return v;
    }
    case Op::compound_assign: {
      const Value l = eval(n->kids[0]);
      const Value r = eval(n->kids[1]);
      v.taint = taint_of(l) ? taint_of(l) : taint_of(r);
      if (l.targets) {
        std::vector<PathId> moved = targets(l);
        for (PathId& p : moved) p = paths_.indexed(p, kAny);
        v.targets = target_sets_.intern(std::move(moved));
        v.taint = l.taint;
        if (const Trace* t = taint_of(r)) sink(Use::pointer_arithmetic, t, n);
      }
      if (n->sub == CXBinaryOperator_OrAssign && l.has_constant && r.has_constant) {
        v.has_constant = true;
        v.constant = l.constant | r.constant;
      }
      store(places(n->kids[0]), v, n, n->kids[0]->type);
      return v;
    }
    case Op::logical_and:
    case Op::logical_or: {
      State yes, no;
      const Flow base = s().flow;
      v = branch(n, yes, no);
      const bool yes_dead = yes.dead, no_dead = no.dead;
      join(yes, no, paths_, target_sets_, base);
      s() = std::move(yes);
      if (yes_dead != no_dead) {
        v.has_constant = true;
        v.constant = !yes_dead;
      }
      // A conjunction with "is capturing" in it still says so where it holds; kept simple: only a lone test.
      return v;
    }
    case Op::conditional: {
      State yes, no;
      const Flow base = s().flow;
      const Value c = branch(n->kids[0], yes, no);
      if (const Trace* t = c.taint) sink(Use::ternary, t, n);
      Value l, r;
      s() = std::move(yes);
      const bool no_yes = s().dead;
      l = eval(n->kids[1]);
      State after = s();
      s() = std::move(no);
      const bool no_no = s().dead;
      r = eval(n->kids[2]);
      State other = s();
      join(after, other, paths_, target_sets_, base);
      s() = std::move(after);
      if (no_yes) return r;
      if (no_no) return l;
      v = join_values(l, r);
      if (l.aggregate && r.aggregate && l.aggregate != r.aggregate && !v.taint) v.taint = taint_of(r);
      if (c.taint && !v.taint) v.taint = nullptr;
      return v;
    }
    case Op::comma:
      eval(n->kids[0]);
      return eval(n->kids[1]);
    case Op::convert: {
      if (n->kids.empty()) return v;
      const Node* kid = n->kids[0];
      if (n->type && kid->type && n->type->shape == Shape::pointer && kid->type->shape == Shape::array) {
        std::vector<PathId> at = places(kid);
        for (PathId& p : at) p = paths_.extend(p, Step::element, 0);
        v.targets = target_sets_.intern(std::move(at));
        return v;
      }
      v = eval(kid);
      if (n->type && n->type->status) v.taint = nullptr;
      if (n->type && (n->type->shape == Shape::boolean || n->type->shape == Shape::scalar)) {
        v.taint = kid->type && kid->type->status ? nullptr : taint_of(v);
        v.aggregate = 0;
        if (n->type->shape == Shape::boolean && v.has_constant) v.constant = v.constant != 0;
        if (n->type->shape == Shape::boolean && v.tag == Tag::capture_status) v.tag = Tag::is_capturing;
        if (n->type->shape == Shape::boolean) v.targets = 0;
      }
      return v;
    }
    case Op::call:
      return call(n);
    case Op::launch:
      return launch(n);
    case Op::construct:
      return construct(n, temporary(n));
    case Op::list:
      if (!is_record(n->type)) {
        if (n->kids.size() == 1) return eval(n->kids[0]);
        return v;
      }
      return eval_into(n, temporary(n));
    case Op::make: {
      if (n->kids[1]) {
        const Value size = eval(n->kids[1]);
        if (const Trace* t = taint_of(size)) sink(Use::allocation, t, n);
      }
      const PathId object = paths_.root(Step::heap, n->id);
      PathId target = object;
      if (n->kids[1]) target = paths_.extend(object, Step::element, 0);
      s().erase_below(paths_, object, true);
      s().at(object).memory = Memory::host_heap;
      if (n->kids[0] && !n->kids[1]) {
        if (is_record(n->type ? n->type->inner : nullptr)) {
          eval_into(n->kids[0], object);
          s().at(object).memory = Memory::host_heap;
        } else {
          store_scalar(object, eval(n->kids[0]), true, n->type ? n->type->inner : nullptr);
        }
      } else if (n->kids[0]) {
        eval(n->kids[0]);
      }
      v.targets = target_sets_.one(target);
      return v;
    }
    case Op::destroy:
      for (const Node* kid : n->kids) {
        const Value pointer = eval(kid);
        if (n->record)
          for (const PathId p : targets(pointer)) destroy(*n->record, p, n);
      }
      return v;
    case Op::raise:
      for (const Node* kid : n->kids) eval(kid);
      if (!frame_->handlers.empty())
        join(*frame_->handlers.back(), s(), paths_, target_sets_, frame_->entered);
      s().dead = true;
      return v;
    case Op::statements: {
      for (size_t i = 0; i < n->kids.size(); ++i) {
        const Node* block = n->kids[i];
        if (block->op != Op::block) {
          exec(block);
          continue;
        }
        for (size_t k = 0; k + 1 < block->kids.size(); ++k) exec(block->kids[k]);
        if (!block->kids.empty()) {
          const Node* last = block->kids.back();
          if (last->op < Op::block)
            v = eval(last);
          else
            exec(last);
        }
      }
      return v;
    }
    case Op::other: {
      for (const Node* kid : n->kids) {
        if (kid->op >= Op::block) {
          exec(kid);
          continue;
        }
        const Value part = eval(kid);
        if (!v.taint) v.taint = taint_of(part);
      }
      if (n->type && n->type->status) v.taint = nullptr;
      return v;
    }
    default:
      exec(n);
      return v;
  }
}

}  // namespace capgate::lint
