// The page: one HTML file that shows a report in a browser, without network or server.
#pragma once

#include <string>

#include "base/result.h"
#include "reports/model/report.h"
#include "reports/settings/settings.h"

namespace capgate::reports {

struct PageInput {
  std::string file;  // the report's, as the page names it
  Report report;
  FrameSettings frames;  // whose code is folded in stacks
  std::string baseline_file;
  std::optional<Report> baseline;  // an older report: what is new, fixed, still there
};

std::string page_of(PageInput input);

// "run.json" becomes "run.html"; standard input has no place of its own and becomes "capgate-report.html".
std::string page_beside(const std::string& report_path);

// Whether a page may be written there: a file that is there and is no page of this program is not
// overwritten.
Result<void> may_become_page(const std::string& path);

}  // namespace capgate::reports
