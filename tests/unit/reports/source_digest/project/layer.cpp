#include "layer.h"

int layer() {
  return 41;
}
