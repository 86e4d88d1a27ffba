// What a run with --explain or --dump-tree found, gathered from all units, and its text.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "static_checks/analysis.h"

namespace capgate::lint {

class Explained {
 public:
  // Of one unit. `main_file` names it.
  void add(const std::string& main_file, const UnitResult& result);
  void add(const LinkResult& links);

  bool found_tree() const { return !trees_.empty(); }
  // Whether a function that was parsed holds the line.
  bool found_line() const { return !functions_.empty(); }

  // Paths below `root` are shortened.
  std::string trees(const std::string& root) const;
  std::string line(const Place& line, const std::string& root) const;

 private:
  struct Function {
    ExplainedFunction one;
    std::map<std::string, std::set<std::string>> units_by_note;
  };
  void add(const std::vector<NotAnalysed>& gaps);

  std::vector<LoweredTree> trees_;
  std::set<std::string> seen_;  // a function of a header is in several units
  std::map<std::tuple<Place, std::string>, Function> functions_;
  std::vector<Explanation> explanations_;
  std::vector<NotAnalysed> gaps_;
  std::map<std::string, std::set<std::string>>
      callers_;  // USR of a function: units that call it from outside
};

// "FILE:LINE", the file as it is from the working folder; the error is a sentence.
Result<Place> line_to_explain(const std::string& text);

}  // namespace capgate::lint
