#include "detector/seal/symbols/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace capgate::seal {

std::string demangle(const char* symbol) {
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

}  // namespace capgate::seal
