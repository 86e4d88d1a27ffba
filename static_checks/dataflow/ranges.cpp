// NVTX ranges that the command line makes regions.
#include <algorithm>

#include "base/glob.h"
#include "static_checks/dataflow/interpreter.h"

namespace capgate::lint {

namespace {

// The literal in what a range is named by; null: the name is made when the program runs.
const Node* literal_in(const Node* n, int depth = 0) {
  n = bare(n);
  if (!n || depth > 8 || n->op == Op::text) return n && n->op == Op::text ? n : nullptr;
  for (const Node* kid : n->kids)
    if (const Node* found = literal_in(kid, depth + 1)) return found;
  return nullptr;
}

}  // namespace

bool is_range(const Record* record) {
  if (!record || !record->name.starts_with("nvtx3::")) return false;
  return record->name.ends_with("::scoped_range_in") || record->name.ends_with("::unique_range_in");
}

void Interpreter::push_range(const Node* name, const Node* at) {
  if (options_.regions.empty()) return;
  Flow& flow = s().flow;
  if (flow.region && flow.marked == kByRange) {
    flow.ranges = static_cast<uint8_t>(std::min(flow.ranges + 1, 200));
    return;
  }
  const Node* literal = literal_in(name);
  if (flow.region || !literal) return;
  const std::string& text = program_.text(literal->name);
  if (std::none_of(options_.regions.begin(), options_.regions.end(),
                   [&](const std::string& glob) { return glob_match(glob, text); }))
    return;
  begin_region(at, "marked");
  s().flow.marked = kByRange;
  s().flow.ranges = 0;
}

void Interpreter::pop_range(const Node* at) {
  Flow& flow = s().flow;
  if (!flow.region || flow.marked != kByRange) return;
  if (flow.ranges)
    --flow.ranges;
  else
    end_region(at);
}

}  // namespace capgate::lint
