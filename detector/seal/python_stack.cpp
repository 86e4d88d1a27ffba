#include "detector/seal/python_stack.h"

#include <charconv>

namespace capgate::seal {

std::vector<reports::Frame> parse_python_stack(std::string_view text) {
  std::vector<reports::Frame> frames;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);

    constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = " in ";
    const size_t file = line.find(kFile);
    const size_t number = line.rfind(kLine);
    if (file == std::string_view::npos || number == std::string_view::npos || number < file + kFile.size())
      continue;
    reports::Frame frame;
    frame.language = reports::FrameLanguage::python;
    frame.file = line.substr(file + kFile.size(), number - file - kFile.size());
    const std::string_view rest = line.substr(number + kLine.size());
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
    if (parsed.ec != std::errc()) frame.line = 0;  // "???": the line is not known
    const size_t in = rest.find(kIn);
    if (in != std::string_view::npos) frame.function = rest.substr(in + kIn.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace capgate::seal
