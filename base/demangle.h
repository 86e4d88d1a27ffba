#pragma once

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

namespace capgate {

// The C++ name of a linker symbol or of a type, or the text itself when it is neither. Long template names
// are cut.
inline std::string demangle(const char* symbol) {
  // Expression templates reach hundreds of kilobytes; nobody reads past this.
  constexpr size_t kMostBytes = 1024;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  std::string out = status == 0 && name ? name.get() : symbol;
  if (out.size() > kMostBytes) {
    out.resize(kMostBytes);
    out += "...";
  }
  return out;
}

}  // namespace capgate
