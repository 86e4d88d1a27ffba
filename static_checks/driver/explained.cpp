#include "static_checks/driver/explained.h"

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "reports/settings/frames.h"
#include "static_checks/commands/files.h"

namespace capgate::lint {
namespace {

std::string at(const Place& place, const std::string& root) {
  return printable(reports::report_path(place.file, root)) + ":" + std::to_string(place.line);
}

void add_steps(std::string& text, const std::vector<FlowStep>& steps, const std::string& root,
               const char* indent) {
  for (const FlowStep& step : steps)
    text += indent + at(step.place, root) + ": " + printable(step.message) + "\n";
}

}  // namespace

void Explained::add(const std::string& main_file, const UnitResult& result) {
  for (const LoweredTree& tree : result.trees)
    if (seen_.insert(tree.function + '\0' + at(tree.place, "") + tree.text).second) trees_.push_back(tree);
  for (const ExplainedFunction& function : result.explained) {
    Function& known = functions_[{function.place, function.name}];
    known.one = function;
    for (const std::string& note : function.notes) known.units_by_note[note].insert(main_file);
  }
  explanations_.insert(explanations_.end(), result.explanations.begin(), result.explanations.end());
  add(result.not_analysed);
  for (const std::string& usr : result.summary.outside) callers_[usr].insert(main_file);
}

void Explained::add(const LinkResult& links) {
  explanations_.insert(explanations_.end(), links.explanations.begin(), links.explanations.end());
  add(links.not_analysed);
}

void Explained::add(const std::vector<NotAnalysed>& gaps) {
  gaps_.insert(gaps_.end(), gaps.begin(), gaps.end());
}

std::string Explained::trees(const std::string& root) const {
  std::string text;
  for (const LoweredTree& tree : trees_)
    text += printable(tree.function) + "() at " + at(tree.place, root) + "\n" + tree.text + "\n";
  return text;
}

std::string Explained::line(const Place& line, const std::string& root) const {
  std::string text;
  for (const auto& [key, function] : functions_) {
    const ExplainedFunction& f = function.one;
    text += at(line, root) + " is in " + printable(f.name) + "(), " + at(f.place, root) + "-" +
            std::to_string(f.end_line) + "\n";
    for (const auto& [note, units] : function.units_by_note) {
      text += "  " + printable(note);
      for (const std::string& unit : units)
        text += (unit == *units.begin() ? "  [" : ", ") + printable(reports::report_path(unit, root));
      text += "]\n";
    }
    if (const auto callers = callers_.find(f.usr); callers != callers_.end())
      for (const std::string& unit : callers->second)
        text += "  is called from " + printable(reports::report_path(unit, root)) + "\n";
    for (const NotAnalysed& gap : gaps_)
      if ((!gap.usr.empty() && gap.usr == f.usr) || gap.place == f.place)
        text += "  not analysed: " + printable(gap.reason) +
                (gap.region.empty() ? "" : "; it is reached from " + printable(gap.region)) +
                (gap.remedy.empty() ? "" : "; to do: " + printable(gap.remedy)) + "\n";
  }
  // By where it is reached from, the shortest way of each first.
  std::vector<const Explanation*> order;
  for (const Explanation& e : explanations_) order.push_back(&e);
  std::stable_sort(order.begin(), order.end(), [](const Explanation* a, const Explanation* b) {
    if (a->region.empty() != b->region.empty()) return b->region.empty();
    if (a->region != b->region) return a->region < b->region;
    return a->path.size() < b->path.size();
  });
  std::string last = "none";
  std::set<std::string> said;
  for (const Explanation* e : order) {
    std::string way = "\n";
    if (e->region.empty()) {
      way += "outside every region, in " + printable(e->function) + "()\n";
    } else {
      way += "from " + printable(e->region) + "\n";
    }
    add_steps(way, e->path, root, "    ");
    std::string what = "  " + printable(e->text) + "\n";
    add_steps(what, e->value, root, "      ");
    if (!said.insert(way + what).second) continue;
    if (way != last) text += way;
    last = std::move(way);
    text += what;
  }
  if (explanations_.empty()) text += "\nthe line was not reached: nothing on it was judged\n";
  return text;
}

Result<Place> line_to_explain(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  Place place;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), place.line);
  if (colon == 0 || number.empty() || error != std::errc() || end != number.data() + number.size() ||
      place.line < 1)
    return Error{"--explain takes FILE:LINE, not '" + text + "'"};
  place.file = canonical_path(absolute_path(text.substr(0, colon), current_directory()));
  if (!file_exists(place.file)) return Error{"--explain: there is no file " + text.substr(0, colon)};
  return place;
}

}  // namespace capgate::lint
