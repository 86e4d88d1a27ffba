#include <capgate/capgate.h>

CAPGATE_REGION static int step() {
  capgate::region region("decode");
  capgate::bucket bucket("bs=8");
  capgate::eager_break moe("moe");
  capgate::allow allow("host-sync", "reads one token");
  return capgate_audited();
}

int main() {
  return step();
}
