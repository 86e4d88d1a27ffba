// The door that capgate.h and capgate_marks.py come through.
#include "detector/include/capgate/capgate.h"
#include "detector/preload/marks/ranges.h"
#include "detector/preload/marks/verifications.h"

using capgate::preload::RangeKind;
using capgate::trace::VerifyOp;

extern "C" __attribute__((visibility("default"))) int capgate_hook_v1(int op, const char* a, const char* b) {
  namespace preload = capgate::preload;
  if (a == nullptr) a = "";
  if (b == nullptr) b = "";
  switch (op) {
    case CAPGATE_OP_PROBE:
      return 1;
    case CAPGATE_OP_REGION_BEGIN:
      preload::push_range(a, nullptr, capgate::trace::RegionSource::capgate_h);
      return 1;
    case CAPGATE_OP_REGION_END:
      preload::pop_range(nullptr, capgate::trace::RegionSource::capgate_h);
      return 1;
    case CAPGATE_OP_BUCKET_SET:
      preload::set_bucket(a);
      return 1;
    case CAPGATE_OP_BUCKET_BEGIN:
      preload::begin_scope(RangeKind::bucket, a, nullptr);
      return 1;
    case CAPGATE_OP_BUCKET_END:
      preload::end_scope(RangeKind::bucket);
      return 1;
    case CAPGATE_OP_BREAK_BEGIN:
      preload::begin_scope(RangeKind::eager_break, a, nullptr);
      return 1;
    case CAPGATE_OP_BREAK_END:
      preload::end_scope(RangeKind::eager_break);
      return 1;
    case CAPGATE_OP_ALLOW_BEGIN:
      preload::begin_scope(RangeKind::allow, a, b);
      return 1;
    case CAPGATE_OP_ALLOW_END:
      preload::end_scope(RangeKind::allow);
      return 1;
    case CAPGATE_OP_SUBJECT:
      preload::set_subject(a, b);
      return 1;
    case CAPGATE_OP_VERIFY_BEGIN:
      preload::note_verification(VerifyOp::begin, a, b);
      return 1;
    case CAPGATE_OP_VERIFY_STEP:
      preload::note_verification(VerifyOp::step, a, b);
      return 1;
    case CAPGATE_OP_VERIFY_OUTPUT:
      preload::note_verification(VerifyOp::output, a, b);
      return 1;
    case CAPGATE_OP_VERIFY_DIFFERS:
      preload::note_verification(VerifyOp::differs, a, b);
      return 1;
    case CAPGATE_OP_VERIFY_END:
      preload::note_verification(VerifyOp::end, a, b);
      return 1;
    default:
      return 0;  // a header newer than this library
  }
}
