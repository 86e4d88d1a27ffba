// Faults that somebody has looked at and means to keep: a file of globs, comments in the source, scopes in
// the code. A suppressed fault stays in the report and no longer counts; a suppression that met nothing
// becomes a note.
//
// The file, one entry a line ('#' starts a comment line; a space in a name is written '?'):
//   rule:frame-glob  reason
// `rule` may be '*'. The glob is compared with the function, file and module of the location and of every
// frame.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "reports/model/report.h"

namespace capgate::reports {

struct FileSuppression {
  std::string rule, glob, reason;
  std::string origin;  // "suppressions.txt:3"
};

// `capgate-allow(rule): reason` in a comment. It holds for its own line and the one below.
struct AllowComment {
  std::string file;  // as the report's locations write it
  int line = 0;
  std::string rule, reason;
};

// The scopes of capgate_allow_begin are known only to the producer: it fills Violation::suppressed itself,
// with the origin "capgate_allow", before apply().
struct Suppressions {
  std::vector<FileSuppression> entries;
  std::vector<AllowComment> comments;
};

// Never crashes, whatever the text. A bad line is an error that starts with source_name:line.
Result<std::vector<FileSuppression>> parse_suppressions(std::string_view text, std::string_view source_name);
Result<std::vector<FileSuppression>> read_suppressions(const std::string& path);

// Finds the comments in a source file's text (`//`, `/*`, `#`). A comment whose reason is missing or whose
// rule is unknown is given back as well: apply() says so in a note and lets it allow nothing.
std::vector<AllowComment> find_allow_comments(std::string_view text, std::string_view file);

// Before finish(). Unused comments are noted only where `whole_source` says that all faults of those lines
// would have been seen (lint); unused entries only for rules that this producer (report.tool.component) can
// see.
void apply_suppressions(Report& report, const Suppressions& suppressions, bool whole_source);

// After reports were put together: drops the notes on suppressions that the other report did use.
void drop_notes_on_used(Report& report);

}  // namespace capgate::reports
