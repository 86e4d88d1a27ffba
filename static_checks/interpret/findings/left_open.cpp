// Regions that are open when a function returns that nothing here calls: what is in them is not in sight. A
// capture that a function begins for callers in another language must not read as clean.
#include <algorithm>
#include <set>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// What ends its region on one path and leaves it on another, as where an exception was caught, failed there;
// but not where its result tells callers which it was.
bool Interpreter::is_left_open(const Exit& exit) const {
  return !exit.dead && !exhausted_ && exit.flow.region > kCallers &&
         !partly_ended_.contains(exit.flow.region) &&
         (!exit.ended || exit.tag == Tag::begun || exit.tag == Tag::not_begun);
}

void Interpreter::note_left_open(const Function& root, const Exit& exit) {
  if (!is_left_open(exit)) return;
  if (std::find(left_open_.begin(), left_open_.end(), std::pair(&root, exit.flow.region)) == left_open_.end())
    left_open_.emplace_back(&root, exit.flow.region);
}

OpenPlace Interpreter::left_open(const Function& root, uint32_t region) const {
  const Region& r = regions_[region];
  const std::string what = r.kind == "marked" ? "region" : "capture";
  OpenPlace open;
  open.function = root.name;
  // Where it is begun, not where the function that begins it is called.
  constexpr int kMaxWrappers = 16;
  for (int depth = 0; depth < kMaxWrappers && opens_.contains(region); ++depth) region = opens_.at(region);
  open.place = regions_[region].begin;
  open.region = r.name;
  open.reason = "the " + what + " that " + r.function + "() begins is " +
                (r.function == root.name ? "" : "open when " + root.name + "() returns, and is ") +
                "ended in none of the functions that were looked at";
  open.remedy = "lint the sources that call " + root.name +
                "() too; where they are in another language, capgate audit judges what is captured";
  return open;
}

// Those whose callers, here or in another unit, go on with the region are seen there: the second phase knows.
// A guard's constructor leaves it to the objects.
void Interpreter::report_left_open(UnitResult& result) {
  // What the parser did not understand may have ended it, and is a reason itself.
  std::set<std::string> troubled;
  for (const Function* f : interpreted_)
    if (!f->trouble.empty()) troubled.insert(f->name);
  for (const auto& [root, region] : left_open_) {
    if (continued_.contains(root)) continue;
    if (troubled.contains(root->name) || troubled.contains(regions_[region].function)) continue;
    if (root->is_constructor && root->record && ends_region(*root->record)) continue;
    result.summary.left_open.push_back({root->internal ? "" : root->usr, left_open(*root, region)});
  }
  std::set<std::string> continued;
  for (const Function* f : continued_)
    if (!f->internal && !f->usr.empty()) continued.insert(f->usr);
  result.summary.continued.assign(continued.begin(), continued.end());
}

}  // namespace capgate::lint
