#include "reports/model/names.h"

namespace capgate::reports {

std::string capture_name(std::string_view bucket, std::string_view number, std::string_view stream) {
  std::string name = "capture ";
  if (!bucket.empty()) return name.append("\"").append(bucket).append("\"");
  return name.append(number).append(" of ").append(stream.empty() ? "a stream" : stream);
}

std::string capture_name(const Capture& capture) {
  // Ids are "process:number", after a merge with more in front.
  const std::string_view id = capture.id;
  return capture_name(capture.bucket.value_or(""), id.substr(id.rfind(':') + 1), capture.stream);
}

}  // namespace capgate::reports
