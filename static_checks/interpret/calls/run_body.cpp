// A function's body, run once for each way in that differs.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// Its members before the body: bases and fields by default, then those that it names.
void Interpreter::construct_members(Function& f, const Node* at) {
  const Cell me = s().read(paths_, root_of(f.self));
  const std::vector<PathId> objects = target_sets_[me.targets];
  std::unordered_set<uint32_t> named;
  bool delegates = false;
  for (const auto& [name, init] : f.member_inits) {
    named.insert(name);
    const Node* inner = bare(init);
    if (!name && inner->op == Op::construct && inner->record == f.record) delegates = true;
  }
  lowering_.complete(*f.record);
  if (!delegates)
    for (Record* base : f.record->bases) {
      const bool is_named = std::any_of(f.member_inits.begin(), f.member_inits.end(), [&](const auto& init) {
        const Node* inner = bare(init.second);
        return !init.first && inner && inner->record == base;
      });
      for (const PathId object : objects)
        if (!is_named) construct_default(*base, object, at);
    }
  if (!delegates)
    for (const Field& field : f.record->fields) {
      if (named.contains(field.name)) continue;
      for (const PathId object : objects) {
        const PathId member = paths_.field(object, field.name);
        if (field.initial)
          eval_into(field.initial, member);
        else if (field.type && field.type->record)
          construct_default(*field.type->record, member, at);
      }
    }
  for (const auto& [name, init] : f.member_inits)
    for (const PathId object : objects) {
      if (!name) {
        eval_into(init, object);
        continue;
      }
      const PathId member = paths_.field(object, name);
      const Type* type = nullptr;
      for (const Field& field : f.record->fields)
        if (field.name == name) type = field.type;
      if (type && type->shape == Shape::reference) {
        std::vector<PathId> referents = places(init);
        s().at(member).targets = target_sets_.intern(std::move(referents));
      } else if (type && (type->shape == Shape::record || type->shape == Shape::array)) {
        eval_into(init, member);
      } else {
        Value v = eval(init);
        v.count = stored_count(init, v);
        cells_.store({member}, v, nullptr, type);
      }
    }
}

// What its returns leave, for callers to go on with.
void Interpreter::close(const Entering& e, Frame& frame, Summary& summary) {
  if (const Tag tag = tag_of_returns(); tag != Tag::none && !frame.out.dead)
    frame.out.at(paths_.root(Step::result, 0)).tag = tag;
  const PathId result = paths_.root(Step::result, 0);
  if (const Tag tag = answer_of_capture(); tag != Tag::none && !frame.out.dead)
    if (const Cell* given = frame.out.find(result); given && given->tag == Tag::none && !given->has_constant)
      frame.out.at(result).tag = tag;
  if (leaves_open_on_failure()) {
    frame.out.flow.region = 0;
    frame.out.flow.marked = 0;
    frame.out.flow.relaxed_capture = 0;
  }
  if (const uint32_t open = frame.out.flow.region;
      frame.ended && open > kCallers && regions_[open].function == e.f.name && tag_of_returns() == Tag::none)
    partly_ended_.insert(open);
  summary.ended = frame.ended;
  summary.exit.dead = frame.out.dead;
  summary.exit.flow = frame.out.flow;
  summary.exit.flow.first_use = e.entry.flow.first_use;
  summary.exit.flow.failed = e.entry.flow.failed;
  if (e.annotated) summary.exit.flow.region = 0;
  for (const auto& [path, cell] : frame.out.cells()) {
    const Paths::Info& root = paths_[paths_[path].root];
    bool keep = root.step == Step::symbol || root.step == Step::heap || root.step == Step::result;
    if (root.step == Step::variable)
      keep = std::binary_search(e.reached.visible.begin(), e.reached.visible.end(), root.key) ||
             std::find(e.canon.more_visible.begin(), e.canon.more_visible.end(), root.key) !=
                 e.canon.more_visible.end();
    if (keep) summary.exit.append(path, cell);
  }
  summary.refs = std::move(frame.refs);
  summary.ready = true;
}

void Interpreter::run_body(const Entering& e, Summary& summary) {
  Function& f = e.f;
  ++bodies_;
  interpreted_.insert(&f);
  Frame frame;
  frame.function = &f;
  frame.up = frame_;
  frame.from = e.from;
  frame.depth = frame_ ? frame_->depth + 1 : 0;
  frame.out.dead = true;
  frame.entered = e.entry.flow;
  Frame* const outer_frame = frame_;
  State* const outer_state = cells_.now;
  State running = e.entry;
  frame_ = &frame;
  cells_.now = &running;
  ++active_[&f];
  if (!f.trouble.empty()) add_trouble(f);
  for (int round = 0; round < (f.has_backward_jump ? 3 : 1); ++round) {
    running = e.entry;
    set_inputs(f, running);
    if (f.is_constructor && f.record && f.self) construct_members(f, e.at);
    frame.passed = 0;
    exec(f.body);
    if (!f.trouble_at.empty()) pass_trouble(UINT32_MAX);
    if (running.dead) continue;
    note_return(nullptr, UINT32_MAX);
    join(frame.out, running, paths_, target_sets_, frame.entered);
  }
  close(e, frame, summary);
  --active_[&f];
  frame_ = outer_frame;
  cells_.now = outer_state;
}

// The summary for this way in, new or known; null: it is not to be had, and the function is taken for one
// without a body.
Interpreter::Summary* Interpreter::summary_of(const Entering& e) {
  const std::string key = key_of(e);
  if (const auto known = summaries_.find(key); known != summaries_.end())
    return known->second->ready ? known->second.get() : nullptr;
  if (exhausted_ || bodies_ >= options_.budget || nodes_ >= kMaxNodes) {
    exhausted_ = true;
    add_gap(e.f, why_exhausted(), remedy_of_exhaustion());
    return nullptr;
  }
  const int active = active_[&e.f];
  if (active >= 2 || frame_->depth >= kMaxDepth) {
    if (active == 0)  // else it has been looked at: recursion
      add_gap(e.f, "calls are followed " + std::to_string(kMaxDepth) + " deep, and it is called deeper",
              "call it nearer to where the capture begins");
    return nullptr;
  }
  std::unique_ptr<Summary>& made = summaries_[key];
  made = std::make_unique<Summary>();
  made->id = ++summary_count_;
  return made.get();
}

}  // namespace capgate::lint
