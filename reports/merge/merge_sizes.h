// Sizes in the sentences of a fault that two runs or ranks show: one sentence has to be true of both.
#pragma once

#include <string>

namespace capgate::reports {

// "copies 4 bytes" joined with "copies 8 to 16 bytes" is "copies 4 to 16 bytes". The sizes are paired in
// their order; a sentence with another number of them is about something else and leaves `into` as it is.
void join_sizes(std::string& into, const std::string& from);

}  // namespace capgate::reports
