// The situations in which a rule's fault comes about, each with its own reason, fix and example: a copy to
// the host that the next line branches on is another thing to repair than a constant that goes to the device.
// The only source is situations/*.toml, from which the build makes the table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/catalogue/catalogue.h"
#include "reports/model/report.h"

namespace capgate::reports {

// The languages of the code that a violation names.
enum class Language { cpp, python };

// Holds when one of the globs matches one of the field's values; situation_table.py lists the fields.
struct Condition {
  std::string_view field;
  std::span<const std::string_view> globs;
};

struct Situation {
  std::string_view id;                    // "host-sync.torch-item": stable, like a rule's id
  std::string_view rule;                  // empty: of a rule that the catalogue has no situation of
  std::string_view title;                 // a few words
  std::span<const Condition> when;        // all of them hold; empty in the last entry of each rule
  std::string_view why;                   // one to three sentences that are true in this situation
  std::string_view fix, python_fix;       // one line; python_fix where Python has other words for it
  std::string_view cpp, python;           // an example of the fix, two lines at most
  std::string_view no_cpp, no_python;     // why there is none, where a language cannot have the situation
  bool whole_function = false;            // the fix replaces the function that the fault is in
  std::optional<IfCaptured> if_captured;  // these three: in place of the rule's, where it is another
  std::string_view graph, cost;
};

// By rule in the catalogue's order, within a rule the most specific first.
std::span<const Situation> situations();
std::span<const Situation> situations_of_rule(std::string_view rule);

// Null when no situation has that id.
const Situation* find_situation(std::string_view id);

// The first one of the rule whose conditions hold. One with empty texts for a rule that has none.
const Situation& situation_of(const Violation& violation);

// What a report says of the violation: the situation that it names, else situation_of.
const Situation& situation_named(const Violation& violation);

// The language of the line that the violation names.
Language language_of(const Violation& violation);

// Advice for PyTorch: it helps nobody whose process does not load it.
bool is_for_torch(std::string_view text);

// The fix in one line and its example, in the violation's language; the example is empty where that language
// has none.
std::string_view fix_of(const Situation& situation, const Violation& violation);
std::string_view example_of(const Situation& situation, const Violation& violation);

// The fix that a report gives: the producer's own (the violation's hint, where it is none of the
// catalogue's), else the situation's.
std::string_view fix_given(const Situation& situation, const Violation& violation);

// What to call in place of an API that a capture refuses or leaves out, or where to move the call.
struct Replacement {
  std::span<const std::string_view> apis;   // without the suffixes of variants (_v2, _ptsz)
  std::span<const std::string_view> rules;  // what a report calls it, on the thread that captures
  std::string_view instead;                 // one line
};
std::span<const Replacement> replacements();

// What `explain` says of a word that is no rule, situation or API that captures refuse.
std::string unknown_name(std::string_view word);

// By the name of an API, with or without such a suffix; null when captures take it.
const Replacement* replacement(std::string_view api);

}  // namespace capgate::reports
