// The sealed trace on disk (.cgtrace): 8 bytes "CGSEALED", the version as 4 bytes, then one zstd frame with
// its checksum. Unpacked, that is a list of sections, each a name, a length and its contents; a reader passes
// over sections it does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "detector/seal/sealed_trace.h"

namespace capgate::seal {

inline constexpr char kSealMagic[8] = {'C', 'G', 'S', 'E', 'A', 'L', 'E', 'D'};
// Its records are those of a raw trace of the same version.
inline constexpr uint32_t kSealVersion = 3;
inline constexpr uint32_t kOldestSealVersion = 1;

// The sections, unpacked. `name` is what an error calls the file.
std::vector<std::byte> encode_sections(const SealedTrace& trace);
Result<SealedTrace> decode_sections(std::span<const std::byte> sections, const std::string& name);

// The whole file's bytes.
Result<SealedTrace> parse_sealed(std::span<const std::byte> file, const std::string& name);

// A reader sees the old file or the new one, never half of one.
Result<void> write_sealed(const SealedTrace& trace, const std::string& path);
Result<SealedTrace> read_sealed(const std::string& path);

}  // namespace capgate::seal
