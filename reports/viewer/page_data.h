// What the page's script reads; src/data/page_data.ts describes it.
#pragma once

#include <string>

#include "reports/viewer/page.h"

namespace capgate::reports {

// JSON on one line, as UTF-8.
std::string page_data(PageInput input);

}  // namespace capgate::reports
