// Whose memory it is: what dies with a scope, what a handle keeps alive, and what a class's members point to.
#include <algorithm>
#include <array>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {
namespace {

// What these hold lies in them, or goes with them. Any other class of a library may be one of several handles
// to memory that somebody else counts: at::Tensor, std::shared_ptr.
bool owns_alone(const std::string& name) {
  static constexpr std::array<std::string_view, 13> kOwners{
      "std::vector", "std::array", "std::deque",    "std::basic_string", "std::unique_ptr",
      "std::pair",   "std::tuple", "std::optional", "std::valarray",     "std::_Vector_base",
      "std::list",   "std::map",   "std::variant"};
  return is_one_of(name, kOwners) || name.starts_with("thrust::") || name.find("::") == std::string::npos;
}

}  // namespace

// Whether the place lies in what a reference-counted handle refers to.
bool Interpreter::is_of_a_handle(PathId place) {
  std::vector<PathId> way;
  for (PathId at = place; at && paths_[at].parent; at = paths_[at].parent) way.push_back(at);
  const Paths::Info& root = paths_[paths_[place].root];
  if (root.step != Step::variable || !root.key || root.key > program_.variables.size()) return false;
  const Type* type = program_.variables[root.key - 1].type;
  for (size_t i = way.size() + 1; i-- > 0;) {
    while (type && (type->shape == Shape::reference || type->shape == Shape::array)) type = type->inner;
    if (!type) return false;
    if (type->shape == Shape::record && type->record && !type->record->user &&
        !owns_alone(type->record->name))
      return true;
    if (i == 0 || type->shape != Shape::record || !type->record) return false;
    if (paths_[way[i - 1]].step != Step::field) return false;
    lowering_.complete(*type->record);
    const Type* member = nullptr;
    for (const Field& f : type->record->fields)
      if (f.name == paths_[way[i - 1]].key) member = f.type;
    type = member;
  }
  return false;
}

// The kind of memory that a pointer member is given wherever this unit allocates for it; unknown where it is
// given another pointer, too.
Memory Questions::kind_behind(uint32_t field) {
  if (!knows_kinds_) {
    knows_kinds_ = true;
    std::unordered_map<uint32_t, bool> given_otherwise;
    const auto visit = [&](const auto& self, const Node* n) -> void {
      if (!n) return;
      if (n->op == Op::assign && bare(n->kids[0])->op == Op::field && n->type &&
          n->type->shape == Shape::pointer && !bare(n->kids[1])->has_value)
        given_otherwise[bare(n->kids[0])->name] = true;
      if (n->op == Op::call && n->function)
        if (const Api* api = api_of(*n->function); api && api->is == Is::allocate)
          for (const int out : api->out)
            if (Node* const* given = at_position(n->kids, out)) {
              const Node* pointer = bare(*given);
              if (pointer->op != Op::address || bare(pointer->kids[0])->op != Op::field) continue;
              const auto [it, fresh] = kinds_behind_.try_emplace(bare(pointer->kids[0])->name, api->memory);
              if (!fresh && it->second != api->memory) it->second = Memory::mixed;
            }
      for (const Node* kid : n->kids) self(self, kid);
    };
    for (Function* f : program_.user_functions) {
      lowering_.lower(*f);
      visit(visit, f->body);
      for (const auto& [name, init] : f->member_inits)
        if (name && !bare(init)->has_value) given_otherwise[name] = true;
    }
    for (const auto& [name, otherwise] : given_otherwise) kinds_behind_.erase(name);
  }
  const auto known = kinds_behind_.find(field);
  return known == kinds_behind_.end() || known->second == Memory::mixed ? Memory::unknown : known->second;
}

namespace {

bool is_own(const Variable& v) {
  return (v.scope == Variable::Scope::local || v.scope == Variable::Scope::parameter) && v.name != "this" &&
         v.type && v.type->shape != Shape::reference;
}

// The variable that an expression hands over: `v`, `std::move(v)`, a copy or move of it.
const Variable* handed_over(const Node* n) {
  n = bare(n);
  while (n && n->kids.size() == 1 &&
         (n->op == Op::construct || (n->op == Op::call && n->function && n->function->name == "std::move")))
    n = bare(n->kids[0]);
  return n && n->op == Op::variable ? n->variable : nullptr;
}

bool gives_away(const Node* n, const Variable& v) {
  if (!n) return false;
  if (n->op == Op::give_back && !n->kids.empty() && handed_over(n->kids[0]) == &v) return true;
  if (n->op == Op::call && n->function) {
    const std::string& name = n->function->name;
    const bool moves =
        name == "std::move" || name == "std::forward" || name == "std::swap" || name == "std::exchange";
    const bool leaves =
        n->has_object && (n->function->spelled == "release" || n->function->spelled == "swap");
    if (moves || leaves)
      for (const Node* kid : n->kids)
        if (handed_over(kid) == &v) return true;
  }
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) { return gives_away(kid, v); });
}

}  // namespace

// Objects of a class with an `operator new` of its own, or of one of its bases, lie where that puts them.
bool Questions::allocates_itself(Record& record) {
  lowering_.complete(record);
  return record.allocates_itself || std::any_of(record.bases.begin(), record.bases.end(),
                                                [&](Record* base) { return allocates_itself(*base); });
}

// Whether the function at hand returns it, moves it or lets its memory go: then it does not end here.
bool Interpreter::is_given_away(const Variable& v) const {
  return gives_away(frame_->function->body, v);
}

// The local or parameter of the function at hand with which this host memory goes; null: none, or it is not
// known.
const Variable* Interpreter::local_owner_of(PathId memory) {
  const Paths::Info root = paths_[paths_[memory].root];
  if (cells_.memory_of(memory) != Memory::host_heap) {
    if (root.step != Step::variable) return nullptr;
    const Variable& v = program_.variables[root.key - 1];
    return is_own(v) && !is_of_a_handle(memory) && !is_given_away(v) ? &v : nullptr;
  }
  if (root.step != Step::heap) return nullptr;
  for (const auto& [path, cell] : s().cells()) {
    const Paths::Info& at = paths_[path];
    if (at.step != Step::variable || !cell.targets) continue;
    const Variable& v = program_.variables[at.key - 1];
    if (!is_own(v) || v.type->shape != Shape::record || v.type->record->name != "std::unique_ptr") continue;
    const std::vector<PathId>& held = target_sets_[cell.targets];
    const bool holds = std::any_of(held.begin(), held.end(),
                                   [&](PathId t) { return paths_[t].root == paths_[memory].root; });
    if (holds && !is_given_away(v)) return &v;
  }
  return nullptr;
}

// A library's owner of device memory goes: what captured work was given of it is gone at replay.
void Interpreter::note_end_of_owner(const Variable& v, const Record& record) {
  const bool device = is_device_container(record.name);
  const bool pooled = record.name == "std::unique_ptr" && !has_default_deleter(v.type);
  if (!device && !pooled) return;
  const PathId object = root_of(&v);
  const Node* used = nullptr;
  for (const auto& [path, cell] : s().cells()) {
    if (paths_[path].root != object) continue;
    if (cell.used) used = cell.used;
    for (const PathId t : target_sets_[cell.targets])
      for (const PathId p : {t, paths_.indexed(t, kAny)})
        if (const Cell* behind = s().find(p); behind && behind->used) used = behind->used;
  }
  if (!used) return;
  const std::string receiver = used->function ? used->function->spelled : std::string("the launch");
  add_finding("local-scratch", local_scratch({v.name, receiver, false, device}), used, receiver, nullptr,
              {{"object", v.name}});
}

}  // namespace capgate::lint
