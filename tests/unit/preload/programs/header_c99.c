#include <capgate/capgate.h>

CAPGATE_REGION static int step(void) {
  capgate_region_begin("decode");
  capgate_bucket("bs=8");
  capgate_bucket_begin("bs=16");
  capgate_bucket_end();
  capgate_bucket(0);
  capgate_eager_break_begin("moe");
  capgate_eager_break_end();
  capgate_allow_begin("host-sync", "reads one token");
  capgate_allow_end();
  capgate_subject("mode", "full");
  capgate_region_end();
  return capgate_audited();
}

int main(void) {
  return step();
}
