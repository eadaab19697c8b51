// The models of lessons are trained when they are first read, as in the program itself
// (core/train/trained_models.h).
#include "core/train/trained_models.h"

namespace {

const bool offered = [] {
  headwise::offer_trained_models();
  return true;
}();

}  // namespace
