// What functions do, directly or through calls, without running them.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// All that another function does.
void Questions::add(const Reach& other, Reach& r) {
  r.begins_region = r.begins_region || other.begins_region;
  r.calls_api = r.calls_api || other.calls_api;
  r.launches = r.launches || other.launches;
  r.frees = r.frees || other.frees;
  r.frees_async = r.frees_async || other.frees_async;
  r.leaves_unit = r.leaves_unit || other.leaves_unit;
  r.asks = r.asks || other.asks;
  r.ends_region = r.ends_region || other.ends_region;
  r.adds_nodes = r.adds_nodes || other.adds_nodes;
  r.visible.insert(r.visible.end(), other.visible.begin(), other.visible.end());
}

// A call of a function that the tables know.
void Questions::add(const Api& api, Reach& r) const {
  switch (api.is) {
    case Is::begin_capture:
    case Is::begin_region:
      r.begins_region = true;
      break;
    case Is::end_capture:
    case Is::end_region:
      r.ends_region = true;
      break;
    case Is::begin_range:
      r.begins_region = r.begins_region || !options_.regions.empty();
      break;
    case Is::copy_node:
      r.adds_nodes = true;
      break;
    case Is::launch:
    case Is::library_work:
      r.launches = true;
      break;
    case Is::copy:
    case Is::set:
      r.launches = r.launches || api.async;
      break;
    case Is::release:
      (api.async ? r.frees_async : r.frees) = true;
      break;
    default:
      break;
  }
  if (is_work_or_wait(api)) r.calls_api = true;
}

// What a function and all that it calls does; each function's set of outer variables is what a caller's state
// must lend it.
void Questions::scan(Function& f, Reach& r, std::unordered_set<Function*>& seen) {
  if (!seen.insert(&f).second) return;
  if (const auto known = reaches_.find(&f);
      known != reaches_.end() && known->second.ready && &known->second != &r) {
    add(known->second, r);
    return;
  }
  lowering_.lower(f);
  if (f.is_pattern)
    for (Function* instance : lowering_.instances_of(f)) scan(*instance, r, seen);
  if (f.region) r.begins_region = true;
  for (const Variable* v : f.globals) {
    r.visible.push_back(v->id);
    if (const Node* table = table_of(*v))
      for (Function* entry : functions_in(table)) scan(*entry, r, seen);
  }
  for (const Variable* v : f.captures) r.visible.push_back(v->id);
  std::vector<const Node*> work{f.body};
  for (const auto& [name, init] : f.member_inits) work.push_back(init);
  while (!work.empty()) {
    const Node* n = work.back();
    work.pop_back();
    if (!n) continue;
    if (n->op == Op::launch) {
      r.launches = true;
      r.calls_api = true;
    }
    // A target that is known only at run time, or a header of another project.
    if (n->op == Op::call && (!n->function || n->function->foreign || n->function->spelled == "operator()"))
      r.asks = true;
    for (const Node* kid : n->kids) work.push_back(kid);
  }
  for (Function* callee : f.callees) {
    if (const Api* api = api_of(*callee)) {
      add(*api, r);
      continue;
    }
    if (!callee->user) {
      if (callee->name.starts_with("thrust::")) r.calls_api = true;
      if (is_range(callee->record)) r.begins_region = r.begins_region || !options_.regions.empty();
      if (Function* made = made_by(*callee)) scan(*made, r, seen);
      Record* const holder = callee->is_constructor                                   ? callee->record
                             : callee->name == "std::make_optional" && callee->result ? callee->result->record
                                                                                      : nullptr;
      if (holder && holder->name.starts_with("std::"))
        for (const Record* record : held_in(*holder))
          for (Function* constructor : constructors_of(*record)) scan(*constructor, r, seen);
      continue;
    }
    for (Function* overrider : callee->overriders) scan(*overrider, r, seen);
    if (callee->has_body) {
      scan(*callee, r, seen);
    } else {
      r.leaves_unit = true;
      const auto edge = edges_.find(callee->usr);
      r.begins_region = r.begins_region || (edge != edges_.end() && edge->second->begins);
      r.ends_region = r.ends_region || (edge != edges_.end() && edge->second->ends);
    }
  }
}

const Questions::Reach& Questions::reach(Function& f) {
  Reach& r = reaches_[&f];
  if (r.ready) return r;
  std::unordered_set<Function*> seen;
  Reach made;
  scan(f, made, seen);
  std::sort(made.visible.begin(), made.visible.end());
  made.visible.erase(std::unique(made.visible.begin(), made.visible.end()), made.visible.end());
  made.ready = true;
  Reach& slot = reaches_[&f];
  slot = std::move(made);
  return slot;
}

}  // namespace capgate::lint
