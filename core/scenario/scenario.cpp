#include "core/scenario/scenario.h"

namespace headwise {

Scenario::Scenario() = default;
Scenario::Scenario(const Scenario&) = default;
Scenario::Scenario(Scenario&&) noexcept = default;
Scenario& Scenario::operator=(const Scenario&) = default;
Scenario& Scenario::operator=(Scenario&&) noexcept = default;
Scenario::~Scenario() = default;
bool Scenario::operator==(const Scenario&) const = default;

}  // namespace headwise
