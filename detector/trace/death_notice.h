// What the preloaded library tells whoever started it at once when a capture dies: a line in the file that
// CAPGATE_DEATHS names. Who reads it has the debug information and the time to say where that was.
//
//   NAME \t RESULT \t THREAD \t PYTHON \t FRAME \t FRAME … \n
//
// NAME: the call's, as CUPTI spells it. RESULT: a number. THREAD: 0 when the capture's own thread made the
// call, else its id. PYTHON: the Python stack as in a trace, each end of a line as kNoticeLineEnd; may be
// empty. FRAME: MODULE+HEX, innermost first, HEX a return address less where the module was loaded.
#pragma once

namespace capgate::trace {

inline constexpr char kNoticeField = '\t';
inline constexpr char kNoticeLineEnd = '\x1f';

}  // namespace capgate::trace
