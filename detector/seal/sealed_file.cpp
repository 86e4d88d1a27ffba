#include "detector/seal/sealed_file.h"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/files/write_text.h"
#include "detector/trace/format.h"

namespace capgate::seal {
namespace {

constexpr size_t kHeadBytes = sizeof(kSealMagic) + sizeof(uint32_t);
// No run of use has more; a file that claims it is damaged or hostile.
constexpr size_t kMostUnpacked = size_t{4} << 30;

Result<std::vector<std::byte>> unpack(std::span<const std::byte> packed, const std::string& name) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::vector<std::byte> out, piece(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  for (;;) {
    ZSTD_outBuffer to{piece.data(), piece.size(), 0};
    const size_t left = ZSTD_decompressStream(context.get(), &to, &in);
    const std::string where = name + ": byte " + std::to_string(kHeadBytes + in.pos) + ": ";
    if (ZSTD_isError(left))
      return Error{where + "damaged (" + ZSTD_getErrorName(left) + "): copy the trace again, or audit again"};
    out.insert(out.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(to.pos));
    if (out.size() > kMostUnpacked) return Error{where + "unpacks to more than 4 GiB"};
    if (left == 0) break;
    if (in.pos == in.size && to.pos < to.size)
      return Error{where + "the trace ends here, cut short: copy it again, or audit again"};
  }
  if (in.pos != in.size)
    return Error{name + ": byte " + std::to_string(kHeadBytes + in.pos) +
                 ": more follows after the trace's end"};
  return out;
}

}  // namespace

Result<SealedTrace> parse_sealed(std::span<const std::byte> file, const std::string& name) {
  if (file.size() >= sizeof(trace::kMagic) &&
      std::memcmp(file.data(), trace::kMagic, sizeof(trace::kMagic)) == 0)
    return Error{
        name +
        ": a raw trace, not a sealed one: `capgate audit` seals the traces of a run when it ends; give "
        "the .cgtrace file that it wrote"};
  if (file.size() < kHeadBytes || std::memcmp(file.data(), kSealMagic, sizeof(kSealMagic)) != 0)
    return Error{name + ": byte 0: not a sealed trace of capgate"};
  uint32_t version = 0;
  std::memcpy(&version, file.data() + sizeof(kSealMagic), sizeof(version));
  if (version < kOldestSealVersion || version > kSealVersion)
    return Error{name + ": a sealed trace of version " + std::to_string(version) +
                 "; this capgate reads versions " + std::to_string(kOldestSealVersion) + " to " +
                 std::to_string(kSealVersion) + ": analyze it with the capgate version that wrote it"};
  auto sections = unpack(file.subspan(kHeadBytes), name);
  if (!sections) return Error{sections.error()};
  return decode_sections(*sections, name);
}

Result<void> write_sealed(const SealedTrace& trace, const std::string& path) {
  const auto sections = encode_sections(trace);
  std::vector<char> out(kHeadBytes + ZSTD_compressBound(sections.size()));
  std::memcpy(out.data(), kSealMagic, sizeof(kSealMagic));
  std::memcpy(out.data() + sizeof(kSealMagic), &kSealVersion, sizeof(kSealVersion));
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  // Small traces are kept for good, big ones must not keep the user waiting.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel,
                         sections.size() < (size_t{16} << 20) ? 19 : 6);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const size_t packed = ZSTD_compress2(context.get(), out.data() + kHeadBytes, out.size() - kHeadBytes,
                                       sections.data(), sections.size());
  if (ZSTD_isError(packed)) return Error{path + ": cannot be packed: " + ZSTD_getErrorName(packed)};
  out.resize(kHeadBytes + packed);

  return write_text({out.data(), out.size()}, path);
}

Result<SealedTrace> read_sealed(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    return Error{path +
                 ": a folder, not a sealed trace: give the .cgtrace file that `capgate audit` wrote when the "
                 "run ended"};
  // Opening a pipe would wait for somebody who writes.
  const auto kind = std::filesystem::status(path, failed);
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind))
    return Error{path + ": is not a regular file"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{path + ": cannot be opened: " + std::strerror(errno)};
  const uint64_t size = std::filesystem::file_size(path, failed);
  if (failed) return Error{path + ": is not a regular file"};
  if (size > kMostUnpacked) return Error{path + ": is larger than 4 GiB, which no sealed trace is"};
  std::vector<std::byte> bytes(std::min<uint64_t>(size, kHeadBytes));
  const auto read_on = [&](size_t from) {
    in.read(reinterpret_cast<char*>(bytes.data() + from), static_cast<std::streamsize>(bytes.size() - from));
    return static_cast<bool>(in);
  };
  if (!read_on(0)) return Error{path + ": cannot be read"};
  // A file of another kind, named by mistake, is not read whole.
  if (bytes.size() == kHeadBytes && std::memcmp(bytes.data(), kSealMagic, sizeof(kSealMagic)) == 0) {
    bytes.resize(size);
    if (!read_on(kHeadBytes)) return Error{path + ": cannot be read"};
  }
  return parse_sealed(bytes, path);
}

}  // namespace capgate::seal
