#include "detector/analysis/notices.h"

namespace capgate::analysis {

std::string skip_reason(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kFrom = ". Found from";
  text = text.substr(0, text.find(kFrom));
  // Some versions put it before a reason that begins with it already.
  for (const std::string_view begin : {"skipping cudagraphs due to ", "disabling cudagraphs due to "})
    while (text.starts_with(begin)) text.remove_prefix(begin.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

Skipped skipped_captures(const std::vector<Timeline>& timelines) {
  Skipped skipped;
  for (const auto& timeline : timelines)
    for (const auto& notice : timeline.trace->notices) {
      if (notice.r.kind != static_cast<uint16_t>(trace::NoticeKind::capture_skipped)) continue;
      if (skipped.times++ == 0) skipped.reason = skip_reason(timeline.trace->text(notice.r.text));
    }
  return skipped;
}

}  // namespace capgate::analysis
