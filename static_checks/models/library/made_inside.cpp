// Objects of the user's that a library makes out of what it is given: std::make_unique, std::optional,
// std::tuple, a container's emplace().
#include <array>
#include <optional>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

// The user's constructor that a function like std::make_unique, or a constructor like that of std::optional,
// runs on what it is given; null: none is found.
Function* Questions::made_by(Function& f) {
  static constexpr std::array<std::string_view, 6> kMakers{"make_unique",  "make_shared", "make_optional",
                                                           "emplace_back", "emplace",     "emplace_front"};
  if (f.user || !f.has_body || !f.name.starts_with("std::")) return nullptr;
  if (!f.is_constructor && !is_one_of(f.spelled, kMakers)) return nullptr;
  const auto [it, fresh] = made_by_.try_emplace(&f, nullptr);
  if (!fresh) return it->second;
  constexpr size_t kMaxBodies = 150;
  std::vector<Function*> queue{&f};
  std::unordered_set<Function*> seen{&f};
  Function* found = nullptr;
  for (size_t i = 0; i < queue.size() && i < kMaxBodies && !found; ++i) {
    lowering_.lower(*queue[i]);
    std::vector<const Node*> work{queue[i]->body};
    for (const auto& [name, init] : queue[i]->member_inits) work.push_back(init);
    while (!work.empty() && !found) {
      const Node* n = work.back();
      work.pop_back();
      if (!n) continue;
      if (n->op == Op::construct && n->function && n->function->user && !n->function->is_defaulted &&
          n->record && n->record->user)
        found = n->function;
      for (const Node* kid : n->kids) work.push_back(kid);
    }
    for (Function* callee : queue[i]->callees)
      if (!callee->user && callee->has_body && seen.insert(callee).second) queue.push_back(callee);
  }
  return made_by_[&f] = found;
}

namespace {

// The first of the arguments that together are what `constructor` takes; none: they are not.
std::optional<size_t> first_taken(const Function& constructor, const std::vector<const Node*>& arguments) {
  const size_t count = constructor.params.size();
  for (size_t first = 0; first + count <= arguments.size(); ++first) {
    bool fits = true;
    for (size_t i = 0; i < count && fits; ++i) {
      const Type* wanted = constructor.params[i]->type;
      if (wanted && wanted->shape == Shape::reference) wanted = wanted->inner;
      const Type* given = value_type(arguments[first + i]);
      fits = !wanted || !given || (wanted->shape == given->shape && wanted->record == given->record);
    }
    if (fits) return first;
  }
  return std::nullopt;
}

}  // namespace

// Of the arguments of a library's function, those that go to `constructor`: without the key of a map's entry,
// std::in_place, or the other parts of a tuple.
std::vector<Interpreter::Argument> Interpreter::given_to(const Function& constructor,
                                                         const std::vector<Argument>& arguments) {
  const size_t count = constructor.params.size();
  if (arguments.size() <= count) return arguments;
  std::vector<const Node*> nodes;
  for (const Argument& a : arguments) nodes.push_back(a.node);
  const size_t first = first_taken(constructor, nodes).value_or(arguments.size() - count);
  return {arguments.begin() + static_cast<long>(first), arguments.begin() + static_cast<long>(first + count)};
}

const std::vector<Function*>& Questions::constructors_of(const Record& record) {
  const auto [it, fresh] = constructors_.try_emplace(&record);
  if (fresh)
    for (Function* f : program_.user_functions)
      if (f->is_constructor && f->record == &record) it->second.push_back(f);
  return it->second;
}

// The classes of the user's whose objects lie in a holder like std::optional.
std::vector<Record*> Questions::held_in(Record& holder) {
  lowering_.complete(holder);
  std::vector<Record*> held = holder.contents;
  if (holder.held && holder.held->user) held.push_back(holder.held);
  return held;
}

// Where the library's own way to it is not followed, by what it takes.
Function* Questions::constructor_for(Record& holder, const std::vector<Argument>& arguments) {
  std::vector<const Node*> nodes;
  for (const Argument& a : arguments) nodes.push_back(a.node);
  for (const Record* record : held_in(holder))
    for (Function* constructor : constructors_of(*record))
      if (!constructor->params.empty() && first_taken(*constructor, nodes)) return constructor;
  return nullptr;
}

// True where nothing is left to say of the object that is made.
bool Interpreter::make_inside(const Node* n, const std::vector<Argument>& arguments, PathId destination) {
  if (!n->record || !n->function || arguments.empty()) return false;
  static constexpr std::array<std::string_view, 5> kExact{"std::optional", "std::tuple", "std::pair",
                                                          "std::variant", "std::array"};
  Record& holder = *n->record;
  lowering_.complete(holder);
  for (const Record* content : holder.contents)  // an allocator
    for (Function* f : program_.user_functions) {
      if (f->record != content || f->spelled != "allocate" || s().dead) continue;
      const State before = s();
      apply_unknown(*f, n);
      if (s().dead)
        s() = before;
      else
        join(s(), before, paths_, target_sets_, before.flow);
    }
  if (s().dead || !is_one_of(holder.name, kExact)) return false;
  if (held_in(holder).empty()) return false;
  Function* constructor = made_by(*n->function);
  if (!constructor) constructor = constructor_for(holder, arguments);
  if (!constructor) return false;
  lowering_.lower(*constructor);
  std::vector<Argument> given = given_to(*constructor, arguments);
  if (!constructor->body) {
    add_call(*constructor, n, given);
    return false;
  }
  if (holder.name == "std::optional") {
    hold(holder, constructor, given, {destination}, n);
    return true;
  }
  const std::vector<PathId> self{paths_.extend(destination, Step::element, kAny)};
  const uint32_t region = s().flow.region;
  apply(*constructor, n, given, &self);
  if (!s().dead && constructor->record) own_region(*constructor->record, region, n);
  return s().dead;
}

}  // namespace capgate::lint
