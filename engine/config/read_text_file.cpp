#include "engine/config/read_text_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace dsv4 {

using capgate::Error;

capgate::Result<std::string> read_text_file(const std::string& path, std::uintmax_t most) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const auto kind = fs::status(path, failed);
  // Opening a pipe would wait for somebody who writes.
  if (fs::exists(kind) && !fs::is_regular_file(kind))
    return Error{fmt::format("{}: cannot be read: not a regular file", path)};
  const std::uintmax_t size = fs::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  if (failed || !file) return Error{fmt::format("{}: cannot be read", path)};
  if (size > most) return Error{fmt::format("{}: {} bytes are more than is read ({})", path, size, most)};
  std::string text(size, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    return Error{fmt::format("{}: cannot be read", path)};
  return text;
}

}  // namespace dsv4
