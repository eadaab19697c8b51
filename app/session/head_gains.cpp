#include "app/session/head_gains.h"

#include <fmt/format.h>
#include <algorithm>

namespace headwise {
namespace {

std::vector<double> gains_of(const Scenario& scenario) {
  const auto heads = static_cast<std::size_t>(std::max<std::int64_t>(scenario.attention.num_heads, 0));
  std::vector<double> gains = scenario.head_gain.value_or(std::vector<double>{});
  gains.resize(heads, 1.0);
  return gains;
}

HeadEdit edited(Scenario scenario, std::vector<double> gains, std::string label) {
  const bool plain = std::ranges::all_of(gains, [](double gain) { return gain == 1.0; });
  scenario.head_gain.reset();
  if (!plain) scenario.head_gain = std::move(gains);
  return {std::move(scenario), std::move(label)};
}

}  // namespace

double head_gain_of(const Scenario& scenario, std::int64_t head) {
  const auto at = static_cast<std::size_t>(head);
  return scenario.head_gain && head >= 0 && at < scenario.head_gain->size() ? (*scenario.head_gain)[at] : 1.0;
}

HeadEdit set_head_gain(const Scenario& scenario, std::int64_t head, double gain) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  gains[static_cast<std::size_t>(head)] = gain;
  return edited(scenario, std::move(gains), fmt::format("gain of head {}", head));
}

HeadEdit toggle_mute(const Scenario& scenario, std::int64_t head) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  double& gain = gains[static_cast<std::size_t>(head)];
  const bool muted = gain == 0.0;
  gain = muted ? 1.0 : 0.0;
  return edited(scenario, std::move(gains), fmt::format("{} head {}", muted ? "unmute" : "mute", head));
}

HeadEdit toggle_solo(const Scenario& scenario, std::int64_t head) {
  std::vector<double> gains = gains_of(scenario);
  if (head < 0 || static_cast<std::size_t>(head) >= gains.size()) return {scenario, {}};
  const auto at = static_cast<std::size_t>(head);
  bool alone = gains[at] != 0.0 && gains.size() > 1;
  for (std::size_t h = 0; h < gains.size(); ++h) alone = alone && (h == at || gains[h] == 0.0);
  if (alone) {
    std::ranges::fill(gains, 1.0);
    return edited(scenario, std::move(gains), fmt::format("unsolo head {}", head));
  }
  for (std::size_t h = 0; h < gains.size(); ++h) gains[h] = h == at ? 1.0 : 0.0;
  return edited(scenario, std::move(gains), fmt::format("solo head {}", head));
}

}  // namespace headwise
