#include "app/widgets/work_probe.h"

namespace headwise {
namespace {

WorkProbes* listener = nullptr;

}  // namespace

void set_work_probes(WorkProbes* probes) {
  listener = probes;
}

void work_probe(std::string_view work) {
  if (listener != nullptr) ++(*listener)[std::string(work)];
}

}  // namespace headwise
