#include "reports/viewer/packed.h"

#include <zlib.h>

#include <array>
#include <new>

namespace capgate::reports {
namespace {

std::string gzip(std::string_view data) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header
  constexpr int kMemory = 8;      // zlib's default
  if (::deflateInit2(&stream, 6, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out;
  std::array<char, 1 << 16> block;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !data.empty()) {
      constexpr size_t kMost = size_t{1} << 30;  // a stream counts in 32 bits
      const std::string_view part = data.substr(0, kMost);
      // zlib reads it and does not say so.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
      stream.avail_in = static_cast<uInt>(part.size());
      data.remove_prefix(part.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    state = ::deflate(&stream, data.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(block.data(), block.size() - stream.avail_out);
  }
  ::deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view three = bytes.substr(i, 3);
    unsigned bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < three.size() ? static_cast<unsigned char>(three[j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out += j <= three.size() ? kDigits[bits >> (18 - 6 * j) & 63U] : '=';
  }
  return out;
}

}  // namespace

std::string packed(std::string_view data) {
  return base64(gzip(data));
}

}  // namespace capgate::reports
