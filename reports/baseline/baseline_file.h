// The faults that a project knows and means to mend later, as a text file that is reviewed like code: a line
// per fault, sorted by place, without line numbers, so that only a fault that comes or goes changes it.
//
//   # capgate-baseline/1
//   model/moe.py: error host-sync in route [3f2a91c04b77d0e1] owner=moe until=2027-01-31 # sampler rewrite
//
// The id decides. Where a line was edited, an id whose fault is gone and a fault that has none are taken for
// one if the rest agrees: pairs.h. `owner`, `until` and what follows `#` are people's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

struct BaselineEntry {
  std::string id, rule;
  Severity severity = Severity::error;
  std::string file, function;  // empty where the fault has none
  std::string owner;           // one word; empty: nobody's
  std::string until;           // the last day on which the entry holds, "2027-01-31"; empty: it has no end
  std::string remark;
  size_t line = 0;  // where the file has it; 0: in no file
};

// Never crashes, whatever the text. A bad line is an error that starts with source_name:line.
Result<std::vector<BaselineEntry>> parse_baseline(std::string_view text, std::string_view source_name);

// Sorted, with a head that explains the file. parse_baseline reads it back.
std::string baseline_text(std::vector<BaselineEntry> entries);

// Whether the text is such a file, of whatever version.
bool is_baseline_text(std::string_view text);

// "2026-11-30", in UTC.
std::string today();

// Whether the entry ended before `day`.
bool has_ended(const BaselineEntry& entry, const std::string& day = today());

// What is wrong with a date or with an owner that somebody typed; empty: nothing.
std::string wrong_date(std::string_view date);
std::string wrong_owner(std::string_view owner);

// The same of the end that somebody gives to entries: a date that is over would end them at once.
std::string wrong_end(std::string_view date, const std::string& day = today());

// An entry as the fault that it stands for, whether or not it has ended.
Violation fault_of(const BaselineEntry& entry);

// What `gate --baseline FILE --update-baseline` makes of a file.
struct BaselineUpdate {
  std::vector<BaselineEntry> entries;
  size_t kept = 0, added = 0, dropped = 0;
  size_t extended = 0;  // of those that are kept: they had ended, and have a new end
  size_t left_out = 0;  // causes that no entry names and that were not to be added
  // Entries whose fault the report does not show and that stay all the same: it is inconclusive, so that the
  // fault may be there.
  size_t unseen = 0;
};

// What becomes of faults that no entry names.
enum class Unlisted { add, leave_out };

// An entry whose fault is still there keeps its owner, its end and its remark. `fresh`: owner and end of what
// is added; an entry that ended before `day` takes the end, too, since its fault counts as new.
BaselineUpdate update_baseline(const std::vector<BaselineEntry>& before, const Report& report,
                               const BaselineEntry& fresh, const std::string& day = today(),
                               Unlisted unlisted = Unlisted::add);

}  // namespace capgate::reports
