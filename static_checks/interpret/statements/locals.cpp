// Variables: declared, bound, and gone at the end of their block, with what memory they owned.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"
#include "static_checks/sources/library_names.h"

namespace capgate::lint {

// Certainly hands memory to CUDA: the destructor, or a plain function that it calls, on every path but that
// of an empty object. A pool that frees only when it is full, or behind an interface, keeps it mapped.
bool Questions::frees_surely(Function& f, int depth) {
  lowering_.lower(f);
  return frees_surely(f.body, depth);
}

bool Questions::frees_surely(const Node* n, int depth) {
  if (!n || depth > 12) return false;
  switch (n->op) {
    case Op::when: {
      const Node* condition = bare(n->kids[n->split]);
      bool negated = false;
      const Node* asked = once_flag(condition, negated);
      if (!asked && condition->op == Op::variable) asked = condition;
      const bool asks_for_it = asked && asked->type && asked->type->shape == Shape::pointer;
      const Node* yes = n->kids[n->split + 1];
      const Node* no = n->kids[n->split + 2];
      if (frees_surely(condition, depth + 1)) return true;
      return asks_for_it ? frees_surely(yes, depth + 1) || frees_surely(no, depth + 1)
                         : frees_surely(yes, depth + 1) && frees_surely(no, depth + 1);
    }
    case Op::call: {
      if (!n->function) break;
      if (const Api* api = api_of(*n->function)) {
        if (api->is == Is::release && !api->async) return true;
      } else if (n->function->user && n->function->overriders.empty() && n->function->has_body && depth < 6) {
        if (frees_surely(*n->function, depth + 6)) return true;
      }
      break;
    }
    case Op::lambda:
    case Op::loop_for:
    case Op::loop_while:
    case Op::loop_range:
    case Op::choose:
    case Op::conditional:
    case Op::logical_and:
    case Op::logical_or:
      return false;
    default:
      break;
  }
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node* kid) {
    return frees_surely(kid, depth + (n->op >= Op::block ? 0 : 1));
  });
}

// Runs destructors of the locals beyond `keep`, in reverse order.
void Interpreter::leave_locals(size_t keep, const Node* at, bool pop) {
  for (size_t i = frame_->locals.size(); i > keep && !s().dead; --i) {
    const Local& local = frame_->locals[i - 1];
    Variable* v = local.variable;
    const Type* each = element_type(v->type);
    if (!each || !each->record) continue;
    const PathId object = root_of(v);
    Record& record = *each->record;
    // What a launch was given of this object's memory goes away with it.
    if (s().flow.region && judged() && !record.user) note_end_of_owner(*v, record);
    if (s().flow.region && judged() && record.user && record.destructor) {
      const Reach& r = reach(*record.destructor);
      if (!r.frees_async && (r.frees || r.calls_api || !record.destructor->callees.empty())) {
        const State before = s();
        const Cells& cells = before.cells();
        std::vector<const Node*> reported;
        for (const auto& [path, cell] : cells) {
          if (paths_[path].root != object) continue;
          const Node* used = cell.used;
          for (const PathId t : target_sets_[cell.targets]) {
            // All of what was made here; of what came from elsewhere, as from a pool, that very place.
            const Step step = paths_[paths_[t].root].step;
            const bool made_here = step == Step::heap || step == Step::temporary;
            const PathId whole = paths_.indexed(t, kAny);
            for (const auto& [p, c] : cells)
              if (c.used && (made_here ? paths_[p].root == paths_[t].root : p == t || p == whole))
                used = c.used;
          }
          if (!used || std::find(reported.begin(), reported.end(), used) != reported.end()) continue;
          reported.push_back(used);
          const std::string receiver = used->function ? used->function->spelled : std::string("the launch");
          add_finding("local-scratch",
                      local_scratch({v->name, receiver, false, frees_surely(*record.destructor)}), used,
                      receiver, nullptr, {{"object", v->name}});
        }
      }
    }
    if (local.owns)
      destroy(record, each == v->type ? object : paths_.extend(object, Step::element, kAny), at);
  }
  if (pop) frame_->locals.resize(std::min(frame_->locals.size(), keep));
}

// Gives a variable, or the names of a structured binding, what lies at `from`.
void Interpreter::bind(const Node* d, PathId from) {
  if (d->variable) {
    const PathId p = root_of(d->variable);
    const Type* type = d->variable->type;
    s().erase_below(paths_, p, true);
    if (type && type->shape == Shape::reference) {
      s().at(p).targets = target_sets_.one(from);
    } else if (type && (type->shape == Shape::record || type->shape == Shape::array)) {
      cells_.copy_tree(from, p, false);
    } else {
      cells_.store_scalar(p, cells_.load({from}, type), true, type);
    }
    return;
  }
  const Type* type = d->type;
  if (type && type->shape == Shape::reference) type = type->inner;
  for (size_t i = 0; i < d->bindings.size(); ++i) {
    PathId member = 0;
    if (type && type->record && type->record->fields.size() == d->bindings.size())
      member = paths_.field(from, type->record->fields[i].name);
    else if (type && type->record && type->record->name == "std::pair")
      member = paths_.field(from, program_.intern(i == 0 ? "first" : "second"));
    else
      member = paths_.extend(from, Step::element, static_cast<uint32_t>(i));
    const PathId p = root_of(d->bindings[i]);
    s().erase_below(paths_, p, true);
    const Type* own = d->bindings[i]->type;
    if (own && own->shape == Shape::reference)
      s().at(p).targets = target_sets_.one(member);
    else if (own && own->shape == Shape::record)
      cells_.copy_tree(member, p, false);
    else
      cells_.store_scalar(p, cells_.load({member}, own), true, own);
  }
}

void Interpreter::exec_declare(const Node* n) {
  const Node* initial = n->kids.empty() ? nullptr : n->kids[0];
  if (n->variable && initial) frame_->initials[n->variable] = initial;
  if (!n->variable) {  // structured binding
    if (!initial) return;
    std::vector<PathId> from = places(initial);
    if (from.empty()) from = cells_.place_or_temporary(initial, eval(initial));
    for (const PathId p : from) {
      bind(n, p);
      break;
    }
    return;
  }
  Variable* v = n->variable;
  const PathId p = root_of(v);
  const Type* type = v->type;
  if (v->scope == Variable::Scope::static_local) {
    if (initial) {
      if (s().flow.region && judged())
        if (const Node* work = find_launch(initial)) {
          const std::string what = work->function ? work->function->spelled : "a launch";
          add_finding("one-time-init", one_time_init({v->name, what}), work, what, nullptr,
                      {{"guard", v->name}});
        }
      // The initialiser runs once, ahead of any state that this pass over the function sees.
      const State before = s();
      eval(initial);
      const bool dead = s().dead;
      if (!dead) {
        State first = std::move(s());
        s() = before;
        join(s(), first, paths_, target_sets_, before.flow);
      } else {
        s() = before;
      }
      if (!dead) seed_table(*v, initial);
    }
    return;
  }
  if (!type) return;
  if (type->shape == Shape::reference) {
    if (!initial) return;
    std::vector<PathId> at = places(initial);
    if (at.empty()) at = cells_.place_or_temporary(initial, eval(initial));
    s().erase_below(paths_, p, true);
    s().at(p).targets = target_sets_.intern(std::move(at));
    return;
  }
  if (type->shape == Shape::record || type->shape == Shape::array) {
    s().erase_below(paths_, p, true);
    if (initial) {
      const Value made = eval_into(initial, p);
      if (made.callable && s().find(p) == nullptr) s().at(p).callable = made.callable;
      if (made.callable) s().at(p).callable = made.callable;
    } else if (type->record) {
      construct_default(*type->record, p, n);
    }
    if (const Type* each = element_type(type);
        each && each->record && (is_destroyed(*each->record) || is_device_container(each->record->name)))
      frame_->locals.push_back({v, true});
    return;
  }
  Value value = initial ? eval(initial) : Value{};
  if (!initial) value.targets = 0;
  if (initial) value.count = stored_count(initial, value);
  s().erase_below(paths_, p, true);
  cells_.store({p}, value, n, type);
}

}  // namespace capgate::lint
