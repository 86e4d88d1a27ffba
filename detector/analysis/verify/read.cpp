// What verifications say of themselves, record by record.
#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "detector/analysis/verifications.h"
#include "detector/analysis/verify/facts.h"

namespace capgate::analysis {
namespace {

using trace::VerifyOp;

VerifyEnd end_named(std::string_view word) {
  if (word == "equal") return VerifyEnd::equal;
  if (word == "differs") return VerifyEnd::differs;
  return word == "nothing" ? VerifyEnd::nothing : VerifyEnd::raised;
}

std::set<int> numbers(std::string_view list) {
  std::set<int> out;
  for (size_t from = 0; from < list.size();) {
    const size_t to = std::min(list.find(',', from), list.size());
    out.insert(Facts("n=" + std::string(list.substr(from, to - from))).small("n"));
    from = to + 1;
  }
  return out;
}

class Reader {
 public:
  explicit Reader(const trace::ProcessTrace& trace) : trace_(trace) {}

  std::vector<Verification> run() {
    for (const auto& record : trace_.verifications) take(record);
    for (auto& verification : out_) finish(verification);
    return std::move(out_);
  }

 private:
  void take(const trace::OnThread<trace::VerifyRecord>& record) {
    const auto op = static_cast<VerifyOp>(record.r.op);
    const std::string name(trace_.text(record.r.name)), text(trace_.text(record.r.facts));
    const Facts facts(text);
    auto& open = open_[record.tid];
    if (op == VerifyOp::begin) {
      open.push_back(out_.size());
      Verification& begun = out_.emplace_back();
      begun.name = name;
      begun.tid = record.tid;
      begun.stack = record.r.stack;
      begun.python_stack = record.r.python_stack;
      begun.begin_seq = record.r.h.seq;
      return;
    }
    if (open.empty()) return;
    Verification& in = out_[open.back()];
    const uint64_t seq = record.r.h.seq;
    switch (op) {
      case VerifyOp::step:
        step(in, name, facts, seq);
        break;
      case VerifyOp::output:
        output(in, name, facts, seq);
        break;
      case VerifyOp::differs:
        differs(in, name, facts);
        break;
      case VerifyOp::end:
        in.end = end_named(name);
        in.end_seq = seq;
        in.why = facts.text("why");
        in.refilled_bytes = facts.number("refilled");
        in.varied = numbers(facts.at("varied"));
        open.pop_back();
        break;
      case VerifyOp::begin:
        break;
    }
  }

  static void step(Verification& in, const std::string& phase, const Facts& facts, uint64_t seq) {
    if (phase == "load") {
      if (!in.steps.empty()) in.steps.back().end_seq = seq;
      VerifiedStep& next = in.steps.emplace_back();
      next.replay = facts.at("run") == "replay";
      next.set = facts.small("set");
      next.step = facts.small("step");
      next.filling = facts.small("filling");
      next.refilled = facts.flag("refilled");
      next.load_seq = seq;
      return;
    }
    if (in.steps.empty()) return;
    VerifiedStep& current = in.steps.back();
    if (phase == "fill") current.fill_seq = seq;
    if (phase == "launch") current.launch_seq = seq;
    if (phase == "read") current.read_seq = seq;
  }

  static void output(Verification& in, const std::string& name, const Facts& facts, uint64_t seq) {
    if (!facts.at("address").empty())
      in.places.push_back({name, seq, facts.number("address"), facts.number("bytes"),
                           facts.at("by") == "copy", facts.at("by") == "host"});
    else
      in.outputs.push_back({name, facts.real("noise"), facts.flag("varied")});
  }

  static void differs(Verification& in, const std::string& what, const Facts& facts) {
    ReplayDifference& next = in.differences.emplace_back();
    next.what = what;
    next.state = facts.flag("state");
    next.refilled = facts.flag("refilled");
    next.kept = facts.flag("kept");
    next.set = facts.small("set");
    next.step = facts.small("step");
    next.filling = facts.small("filling");
    next.index = facts.number("index");
    next.elements = facts.number("elements");
    next.of = facts.number("of");
    next.eager = facts.text("eager");
    next.replay = facts.text("replay");
    next.largest = facts.real("largest");
    next.allowed = facts.real("allowed");
  }

  static void finish(Verification& verification) {
    if (!verification.steps.empty()) verification.steps.back().end_seq = verification.end_seq;
    // What went wrong first is nearest to the fault: later steps work on it.
    std::stable_sort(verification.differences.begin(), verification.differences.end(),
                     [](const ReplayDifference& a, const ReplayDifference& b) {
                       return std::tie(a.refilled, a.set, a.filling, a.step) <
                              std::tie(b.refilled, b.set, b.filling, b.step);
                     });
  }

  const trace::ProcessTrace& trace_;
  std::vector<Verification> out_;
  std::map<uint32_t, std::vector<size_t>> open_;  // by thread, the innermost last
};

}  // namespace

std::vector<Verification> read_verifications(const trace::ProcessTrace& trace) {
  return Reader(trace).run();
}

}  // namespace capgate::analysis
