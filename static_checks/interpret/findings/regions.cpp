// Where regions begin and end: captures, marked steps, NVTX ranges that the command line names; and scopes in
// which a rule is allowed.
#include <algorithm>

#include "base/glob.h"
#include "static_checks/interpret/interpreter.h"

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

// As for `capgate audit`: GLOB is of the default domain, DOMAIN@GLOB of another.
bool names_range(const std::string& pattern, const std::string& domain, const std::string& name) {
  const size_t at = pattern.find('@');
  if (at == std::string::npos) return domain.empty() && glob_match(pattern, name);
  return glob_match(pattern.substr(0, at), domain) && glob_match(pattern.substr(at + 1), name);
}

}  // namespace

bool is_range(const Record* record) {
  if (!record || !record->name.starts_with("nvtx3::")) return false;
  return record->name.ends_with("::scoped_range_in") || record->name.ends_with("::unique_range_in");
}

void Interpreter::begin_region(const Node* at, const char* kind) {
  const Place place = program_.place(at);
  const bool marked = std::string_view(kind) == "marked";
  std::string file = place.file;  // from the root on: several programs have a main.cu
  if (file.starts_with(root_ + '/')) file.erase(0, root_.size() + 1);
  const std::string name = (marked ? "region at " : "capture at ") + file + ":" + std::to_string(place.line);
  const auto [it, fresh] = region_ids_.try_emplace(
      place.file + ':' + std::to_string(place.line) + ':' + std::to_string(place.column),
      static_cast<uint32_t>(regions_.size()));
  if (fresh) {
    std::string unique = name;
    for (const Region& r : regions_)
      if (r.name == unique) unique = name + ":" + std::to_string(place.column);
    regions_.push_back({unique, kind, frame_->function->name, place, 0});
  }
  s().flow.region = it->second;
  s().flow.marked = marked;
  s().flow.relaxed_capture = 0;
  s().flow.pooled = 1;
  s().flow.not_capturing = 0;
}

// A scope in which a rule is allowed, by literals.
void Interpreter::allow(const Node* rule, const Node* reason) {
  rule = bare(rule);
  reason = bare(reason);
  if (rule->op != Op::text || reason->op != Op::text) return;
  const std::pair<std::string, std::string> scope{program_.text(rule->name), program_.text(reason->name)};
  const auto known = std::find(allows_.begin(), allows_.end(), scope);
  s().flow.allowed = static_cast<uint32_t>(known - allows_.begin());
  if (known == allows_.end()) allows_.push_back(scope);
}

void Interpreter::end_region(const Node* at) {
  const uint32_t region = s().flow.region;
  if (region && region != frame_->entered.region) frame_->ended = true;
  if (region > kCallers && regions_[region].function == frame_->function->name)
    regions_[region].end_line = std::max(regions_[region].end_line, program_.place(at).line);
  s().flow.region = 0;
  s().flow.marked = 0;
  s().flow.relaxed_capture = 0;
  s().flow.not_capturing = 0;
}

void Interpreter::push_range(const Node* name, const Node* at, const std::string& domain) {
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
                   [&](const std::string& pattern) { return names_range(pattern, domain, text); }))
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
