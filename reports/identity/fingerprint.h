// The identity of a violation across machines, edits and kinds of evidence: no line number is in it.
#pragma once

#include <string>
#include <string_view>

#include "reports/model/report.h"

namespace capgate::reports {

// A path without the part that differs between machines: what stands before site-packages/ or dist-packages/,
// or "./".
std::string path_key(std::string_view file);

// A function's name without the suffixes of its variants (_v2, _ptsz, _ptds).
std::string callee_name(std::string_view function);

// What is called: details["callee"], else the API without its variant suffixes (_v2, _ptsz, _ptds).
std::string callee_key(const Violation& violation);

// Fills every id: 8 hex digits of the SHA-256 of rule, path, function and callee, which are the id's group,
// and 8 of these with the call as the source writes it and the ordinal among equals.
void fill_ids(Report& report);

// What an edit of a call's arguments leaves of an id.
std::string_view id_group(std::string_view id);

}  // namespace capgate::reports
