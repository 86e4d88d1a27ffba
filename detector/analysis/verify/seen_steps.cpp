#include "detector/analysis/verify/seen_steps.h"

#include <algorithm>

#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

using trace::Family;

// Whether `seq` lies in a phase that begins at `from`; phases that were not entered hold nothing.
bool in_phase(uint64_t seq, uint64_t from, uint64_t to) {
  return from != 0 && seq > from && seq < to;
}

uint64_t next_of(uint64_t seq, uint64_t end) {
  return seq ? seq : end;
}

void note(SeenStep& seen, const Call& call) {
  const VerifiedStep& step = *seen.step;
  const auto family = static_cast<Family>(call.r.family);
  const uint64_t seq = call.r.h.seq;
  if (call.r.result != 0 || (call.r.flags & trace::kNested)) return;
  if (in_phase(seq, step.load_seq, next_of(step.fill_seq, step.end_seq)))
    seen.loaded |= trace::is_copy(family) || family == Family::launch || family == Family::graph_launch;
  if (family == Family::launch && in_phase(seq, step.launch_seq, next_of(step.read_seq, step.end_seq)))
    ++seen.work[call.r.label];
  if (!in_phase(seq, step.read_seq, step.end_seq)) return;
  if (family == Family::memcpy_sync || family == Family::memcpy_async)
    seen.copies.push_back({call.r.src, call.r.bytes});
  seen.kernels |= family == Family::launch;
}

// The step that a record lies in; null before the first.
SeenStep* step_at(std::vector<SeenStep>& steps, uint64_t seq) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), seq, [](uint64_t at, const SeenStep& seen) {
    return at < seen.step->load_seq;
  });
  return after == steps.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

std::vector<SeenStep> seen_steps(const Timeline& timeline, const Verification& verification) {
  std::vector<SeenStep> steps;
  steps.reserve(verification.steps.size());
  for (const auto& step : verification.steps) steps.emplace_back().step = &step;
  const auto& calls = timeline.trace->calls;
  const auto from = std::lower_bound(calls.begin(), calls.end(), verification.begin_seq,
                                     [](const Call& call, uint64_t seq) { return call.r.h.seq < seq; });
  for (auto call = from; call != calls.end() && call->r.h.seq < verification.end_seq; ++call)
    if (call->tid == verification.tid)
      if (SeenStep* seen = step_at(steps, call->r.h.seq)) note(*seen, *call);
  for (size_t i = 0; i < timeline.launches.size(); ++i) {
    const Call& call = timeline.call(timeline.launches[i].call);
    const uint64_t seq = call.r.h.seq;
    if (seq < verification.begin_seq || seq > verification.end_seq) continue;
    SeenStep* seen = step_at(steps, seq);
    if (seen && in_phase(seq, seen->step->launch_seq, next_of(seen->step->read_seq, seen->step->end_seq)))
      (call.tid == verification.tid ? seen->launches : seen->launches_elsewhere).push_back(i);
  }
  return steps;
}

}  // namespace capgate::analysis
