// Who begins the capture is in other sources: by hand in one of them, by torch in the other.
#include "tensors.h"

at::Tensor scratch_like(const at::Tensor& t) {
  return at::empty_like(t);  // EXPECT: device-alloc:note
}
at::Tensor kept_like(const at::Tensor& t) {
  return at::empty_like(t);  // CLEAN: device-alloc, only torch's own capture gets here
}
