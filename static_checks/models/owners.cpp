// Whose memory it is: what dies with a scope, what a handle keeps alive, and what a class's members point to.
#include <algorithm>
#include <array>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/models/arguments.h"
#include "static_checks/models/library_names.h"

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
Memory Interpreter::kind_behind(uint32_t field) {
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

// A library's owner of device memory goes: what captured work was given of it is gone at replay.
void Interpreter::note_end_of_owner(const Variable& v, Record& record, const Node* at) {
  (void)at;
  const bool device = is_device_container(record.name);
  const bool pooled = record.name == "std::unique_ptr" && v.type->spelling.find(',') != std::string::npos &&
                      v.type->spelling.find("std::default_delete") == std::string::npos;
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
