#include "core/tensor/version.h"

namespace headwise {

const char* version() {
  return HEADWISE_VERSION;
}

}  // namespace headwise
