// Much data in few characters that no HTML parser takes for anything: gzip, in base64.
#pragma once

#include <string>
#include <string_view>

namespace capgate::reports {

std::string packed(std::string_view data);

}  // namespace capgate::reports
