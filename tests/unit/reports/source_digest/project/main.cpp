// Prints the digest that was linked in.
#include <cstdio>

#include "layer.h"

extern "C" const char capgate_source_digest[65];

int main() {
  std::puts(capgate_source_digest);
  return layer() == 41 ? 0 : 1;
}
