// Guards that a smart pointer or an optional holds, or that one of two expressions makes: the region of one
// ends where the object does.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

namespace {

constexpr int kMaxNesting = 4;  // members and bases deep

}  // namespace

// `destination = condition ? object : object`, each made where it will lie.
Value Interpreter::choose_into(const Node* n, PathId destination) {
  State yes, no;
  const Flow base = s().flow;
  const Value condition = branch(n->kids[0], yes, no);
  if (const Trace* t = condition.taint) sink(Use::ternary, t, n);
  Value left, right;
  s() = std::move(yes);
  if (!s().dead) left = eval_into(n->kids[1], destination);
  State after = std::move(s());
  s() = std::move(no);
  if (!s().dead) right = eval_into(n->kids[2], destination);
  join(after, s(), paths_, target_sets_, base);
  s() = std::move(after);
  Value v;
  v.aggregate = destination;
  v.callable = join_callables(left, right, target_sets_);
  return v;
}

// Each object of a guard's class has its own region, from where it is made.
void Interpreter::own_region(const Record& record, uint32_t before, const Node* at) {
  Flow& flow = s().flow;
  if (flow.region <= kCallers || flow.region == before ||
      !regions_[flow.region].function.starts_with(record.name))
    return;
  begun_for_objects_.insert(regions_[flow.region].function);
  const uint8_t relaxed = flow.relaxed_capture;
  const uint8_t marked = flow.marked, pooled = flow.pooled;
  flow.region = before;
  begin_region(at, marked ? "marked" : "guard");
  flow.relaxed_capture = relaxed;
  flow.pooled = pooled;
  flow.marked = marked;
}

// The regions that are to be counted. A guard's constructor, seen on its own, is none: each object that it
// makes is one. It stays where something speaks of it.
std::vector<Region> Interpreter::own_regions(const UnitResult& result) {
  const auto makes_guard = [this](const Function& f) {
    return f.is_constructor && f.record && ends_region(*f.record);
  };
  std::unordered_set<const Function*> called_by_others;
  for (const Function* f : interpreted_)
    if (!makes_guard(*f)) called_by_others.insert(f->callees.begin(), f->callees.end());
  for (const Function* f : interpreted_) {
    if (!makes_guard(*f)) continue;
    begun_for_objects_.insert(f->name);
    for (const Function* part : f->callees)
      if (part->record == f->record && !called_by_others.contains(part))
        begun_for_objects_.insert(part->name);
  }
  std::unordered_set<std::string> spoken_of;
  for (const Finding& finding : result.findings) spoken_of.insert(finding.region);
  for (const NotAnalysed& gap : result.not_analysed) spoken_of.insert(gap.region);
  for (const RegionExit& exit : result.summary.exits) spoken_of.insert(exit.region);
  std::unordered_set<std::string> opened_here;  // for callers in this unit, whose only region it is
  for (const Function* f : called_by_others) opened_here.insert(f->usr);
  std::vector<Region> counted;
  for (uint32_t i = kCallers + 1; i < regions_.size(); ++i)
    if ((!begun_for_objects_.contains(regions_[i].function) && !wrapped_.contains(i)) ||
        spoken_of.contains(regions_[i].name)) {
      counted.push_back(regions_[i]);
      if (opened_here.contains(counted.back().opened_by)) counted.back().opened_by.clear();
    }
  return counted;
}

bool Questions::ends_region(Record& record, int depth) {
  if (!record.user || depth > kMaxNesting) return false;
  lowering_.complete(record);
  if (record.destructor && reach(*record.destructor).ends_region) return true;
  if (record.destructor_elsewhere) {
    const auto edge = edges_.find(record.destructor_elsewhere->usr);
    if (edge != edges_.end() && edge->second->ends) return true;
  }
  return std::any_of(record.fields.begin(), record.fields.end(),
                     [&](const Field& f) {
                       return f.type && f.type->shape == Shape::record && f.type->record &&
                              ends_region(*f.type->record, depth + 1);
                     }) ||
         std::any_of(record.bases.begin(), record.bases.end(),
                     [&](Record* base) { return ends_region(*base, depth + 1); });
}

// Another object than `holder` keeps it alive: it has been moved or copied there.
bool Interpreter::is_held_elsewhere(PathId object, PathId holder) {
  for (const auto& [path, cell] : s().cells()) {
    const Paths::Info& root = paths_[paths_[path].root];
    if (!cell.targets || root.step == Step::temporary || paths_[path].root == paths_[holder].root) continue;
    if (root.step == Step::variable && root.key && root.key <= program_.variables.size()) {
      const Type* type = program_.variables[root.key - 1].type;
      // A pointer or reference of the frame's only looks at it.
      if (!type || (type->shape != Shape::record && paths_[path].depth == 0)) continue;
    }
    const std::vector<PathId>& held = target_sets_[cell.targets];
    if (std::find(held.begin(), held.end(), object) != held.end()) return true;
  }
  return false;
}

// What the holder owns ends. Only a guard's end says anything that counts here: whether the memory of other
// objects goes with them, their holders do not tell.
void Interpreter::destroy_held(Record& record, PathId holder, const Node* at, int depth) {
  if (!record.held || !s().flow.region || s().dead) return;
  const Cell cell = s().read(paths_, holder);
  if (cell.has_constant && !cell.constant) return;  // let go
  const TargetsId held = cell.targets;
  if (!ends_region(*record.held)) {
    if (!record.held->user || !end_matters(*record.held)) return;
    // Of an object that came from elsewhere, only the one that owns it alone is sure to end it.
    std::vector<PathId> objects = target_sets_[held];
    if (objects.empty() && record.name != "std::shared_ptr")
      objects = {paths_.extend(holder, Step::deref, 0)};
    for (const PathId object : objects)
      if (!is_held_elsewhere(object, holder)) destroy_perhaps(*record.held, object, at, depth + 1);
    return;
  }
  if (!held) return;
  const std::vector<PathId> owned = target_sets_[held];
  for (const PathId object : owned)
    if (!is_held_elsewhere(object, holder)) destroy(*record.held, object, at);
  if (!s().dead) s().at(holder).targets = 0;
}

// Puts an object into an optional, made by the user's constructor `constructor`, or out of the first
// argument.
void Interpreter::hold(Record& holder, Function* constructor, std::vector<Argument>& arguments,
                       const std::vector<PathId>& objects, const Node* at) {
  for (const PathId object : objects) {
    const PathId inside = paths_.extend(object, Step::element, 0);
    const uint32_t region = s().flow.region;
    s().erase_below(paths_, object, false);
    if (constructor) {
      const std::vector<PathId> self{inside};
      apply(*constructor, at, arguments, &self);
      if (s().dead) return;
      own_region(*holder.held, region, at);
    } else if (!arguments.empty()) {
      PathId from = arguments[0].value.aggregate;
      if (!from && !arguments[0].places.empty()) from = arguments[0].places[0];
      if (from) cells_.copy_tree(from, inside, false);
    }
    s().at(object).targets = target_sets_.one(inside);
  }
}

}  // namespace capgate::lint
