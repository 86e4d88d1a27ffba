#include "detector/analysis/timeline/graph_replays.h"

namespace capgate::analysis {

using trace::ObjectOp;

void GraphReplays::captured(int32_t capture) {
  if (const uint64_t graph = out_.captures[static_cast<size_t>(capture)].graph) graphs_[graph] = capture;
}

int32_t GraphReplays::capture_of(uint64_t graph) const {
  const auto known = graphs_.find(graph);
  return known == graphs_.end() ? kNone : known->second;
}

void GraphReplays::graph(const trace::Object& object) {
  const auto op = static_cast<ObjectOp>(object.r.op);
  if (op == ObjectOp::cloned) {
    if (const int32_t from = capture_of(object.r.other); from != kNone) graphs_[object.r.object] = from;
  } else if (op == ObjectOp::destroyed) {
    graphs_.erase(object.r.object);
  }
}

void GraphReplays::exec(const trace::Object& object) {
  const auto op = static_cast<ObjectOp>(object.r.op);
  if (op == ObjectOp::made && object.r.other && !execs_.contains(object.r.object))
    make(object.r.object, object.r.other);
  else if (op == ObjectOp::destroyed)
    execs_.erase(object.r.object);
}

void GraphReplays::make(uint64_t exec, uint64_t graph) {
  const int32_t capture = capture_of(graph);
  auto& known = execs_[exec];
  // The call's own report of what the resource callback already told.
  if (known.number != 0 && known.capture == capture && capture != kNone) return;
  if (capture == kNone && known.capture != kNone) return;
  known = {++exec_numbers_, capture};
}

void GraphReplays::instantiate(const Call& call) {
  if (call.r.result == 0 && call.r.out) make(call.r.out, call.r.object2 ? call.r.object2 : call.r.object);
}

void GraphReplays::update(const Call& call) {
  if (call.r.result == 0 && call.r.object2) execs_[call.r.object].capture = capture_of(call.r.object2);
}

void GraphReplays::launch(size_t index) {
  const Call& call = out_.call(index);
  if (call.r.result != 0 || out_.contexts[index].stream_capture != kNone) return;
  auto& exec = execs_[call.r.object];
  if (exec.number == 0) exec.number = ++exec_numbers_;
  out_.launches.push_back({index, exec.number, exec.capture});
  if (exec.capture == kNone) return;
  ++out_.captures[static_cast<size_t>(exec.capture)].launches;
}

}  // namespace capgate::analysis
