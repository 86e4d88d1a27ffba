#include "detector/analysis/align/eager_steps.h"

#include <algorithm>
#include <map>
#include <optional>

#include "detector/analysis/align/fields.h"
#include "detector/trace/families.h"

namespace capgate::analysis {
namespace {

size_t first_call_behind(const Timeline& timeline, uint64_t seq) {
  const auto& calls = timeline.trace->calls;
  return static_cast<size_t>(
      std::upper_bound(calls.begin(), calls.end(), seq,
                       [](uint64_t at, const Call& call) { return at < call.r.h.seq; }) -
      calls.begin());
}

// What the thread puts on streams between two records; an eager break's work is left out on purpose, and what
// a capture takes is no eager work.
std::vector<Work> work_between(const Timeline& timeline, WorkKeys& keys, uint32_t tid, uint64_t from,
                               uint64_t to) {
  std::vector<Work> out;
  const auto& calls = timeline.trace->calls;
  for (size_t i = first_call_behind(timeline, from); i < calls.size() && calls[i].r.h.seq < to; ++i) {
    const CallContext& context = timeline.contexts[i];
    if (calls[i].tid != tid || context.in_break || context.stream_capture != kNone) continue;
    if (const auto work = keys.of_call(i)) out.push_back(*work);
  }
  return out;
}

// What a verification does beside its replays: it loads, fills and reads, and runs eager steps.
bool is_a_verifications_own(const std::vector<Verification>& verifications, const Call& call) {
  const uint64_t seq = call.r.h.seq;
  for (const auto& of : verifications) {
    if (of.tid != call.tid || seq < of.begin_seq || seq > of.end_seq) continue;
    const auto after =
        std::upper_bound(of.steps.begin(), of.steps.end(), seq,
                         [](uint64_t at, const VerifiedStep& step) { return at < step.load_seq; });
    if (after == of.steps.begin()) return true;
    const VerifiedStep& step = *std::prev(after);
    return !step.replay || step.launch_seq == 0 || seq <= step.launch_seq ||
           (step.read_seq != 0 && seq >= step.read_seq);
  }
  return false;
}

bool launches_in(const Timeline& timeline, uint32_t tid, uint64_t from, uint64_t to) {
  return std::any_of(timeline.launches.begin(), timeline.launches.end(), [&](const Launch& launch) {
    const Call& call = timeline.call(launch.call);
    return call.tid == tid && call.r.h.seq > from && call.r.h.seq < to;
  });
}

void add_marked(const Timeline& timeline, WorkKeys& keys, std::vector<EagerStep>& out) {
  for (const auto& pass : timeline.regions) {
    if (!pass.sampled || pass.has_capture || pass.end_seq == kNever ||
        launches_in(timeline, pass.tid, pass.begin_seq, pass.end_seq))
      continue;
    EagerStep step;
    step.bucket = pass.bucket;
    step.tid = pass.tid;
    step.begin_seq = pass.begin_seq;
    step.end_seq = pass.end_seq;
    step.work = work_between(timeline, keys, pass.tid, pass.begin_seq, pass.end_seq);
    if (!step.work.empty()) out.push_back(std::move(step));
  }
}

void add_verified(const Timeline& timeline, WorkKeys& keys, const Verification& of,
                  std::vector<EagerStep>& out) {
  for (const auto& verified : of.steps) {
    if (verified.replay || verified.filling != 0 || verified.refilled || verified.launch_seq == 0 ||
        verified.read_seq == 0 || launches_in(timeline, of.tid, verified.launch_seq, verified.read_seq))
      continue;
    EagerStep step;
    step.of = &of;
    step.set = verified.set;
    step.step = verified.step;
    step.tid = of.tid;
    step.begin_seq = verified.launch_seq;
    step.end_seq = verified.read_seq;
    step.work = work_between(timeline, keys, of.tid, verified.launch_seq, verified.read_seq);
    if (!step.work.empty()) out.push_back(std::move(step));
  }
}

}  // namespace

std::vector<EagerStep> eager_steps(const Timeline& timeline, WorkKeys& keys,
                                   const std::vector<Verification>& verifications) {
  std::vector<EagerStep> out;
  add_marked(timeline, keys, out);
  for (const auto& verification : verifications) add_verified(timeline, keys, verification, out);
  std::sort(out.begin(), out.end(),
            [](const EagerStep& a, const EagerStep& b) { return a.begin_seq < b.begin_seq; });
  return out;
}

AroundLaunches around_launches(const Timeline& timeline, WorkKeys& keys, const std::vector<EagerStep>& eager,
                               const std::vector<Verification>& verifications) {
  AroundLaunches out;
  std::map<uint32_t, bool> sampled;  // by thread: what is behind its last launch of a graph
  std::set<size_t> launches;
  std::set<int32_t> replaying;  // marked steps with a launch
  for (const auto& launch : timeline.launches) {
    launches.insert(launch.call);
    replaying.insert(timeline.contexts[launch.call].region);
  }
  const auto in_eager_step = [&](const Call& call) {
    return std::any_of(eager.begin(), eager.end(), [&](const EagerStep& step) {
      return step.tid == call.tid && call.r.h.seq > step.begin_seq && call.r.h.seq < step.end_seq;
    });
  };
  const auto& calls = timeline.trace->calls;
  for (size_t i = 0; i < calls.size(); ++i) {
    const CallContext& context = timeline.contexts[i];
    const auto thread = sampled.find(calls[i].tid);
    if (launches.contains(i)) {
      if (thread != sampled.end() && thread->second) out.known = true;
      sampled[calls[i].tid] = (calls[i].r.flags & trace::kSampledStep) != 0;
      continue;
    }
    if (context.stream_capture != kNone) continue;
    if (thread == sampled.end() && (context.region == kNone || !replaying.contains(context.region))) continue;
    const auto work = keys.of_call(i);
    const bool copies = trace::is_copy(static_cast<trace::Family>(calls[i].r.family));
    if ((!work && !copies) || in_eager_step(calls[i]) || is_a_verifications_own(verifications, calls[i]))
      continue;
    if (work) out.keys.insert(work->key);
    if (copies) out.addresses.push_back(calls[i].r.dst);
    if (work && work->record)
      for (const PointerField& pointer : pointers_of(*timeline.trace, *work->record))
        out.addresses.push_back(pointer.address);
  }
  return out;
}

}  // namespace capgate::analysis
