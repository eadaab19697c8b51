#include "app/content/term_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headwise {
namespace {

// Design units
constexpr float widest_name = 150.0f, least_name = 26.0f, some_name = 56.0f;
constexpr float least_bar = 24.0f, bar_gap = 8.0f;
constexpr float bar_share = 0.13f;  // of the width, if there is room
constexpr float most_air = 26.0f;   // extra space between two columns beyond this goes to the names

float numbers_of(const TermWidths& widths, float sign) {
  return std::accumulate(widths.factors.begin(), widths.factors.end(), widths.value,
                         [sign](float sum, float factor) { return sum + factor + sign; });
}

}  // namespace

const float* TermColumns::end_of(std::size_t factor, std::size_t count) const {
  const std::size_t left_out = count - std::min(count, factor_ends.size());
  return factor < left_out ? nullptr : &factor_ends[factor - left_out];
}

TermColumns term_columns(std::span<const TermWidths> choices, float width, float sign, float scale) {
  struct Try {
    std::size_t choice;
    float name, bar;
  };
  std::vector<Try> tries;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const float whole = std::min(choices[i].name, widest_name * scale);
    const float some = std::min(whole, some_name * scale), least = std::min(whole, least_name * scale);
    for (const float name : {whole, some, least}) {
      tries.push_back({i, name, least_bar * scale});
      if (i + 1 == choices.size()) tries.push_back({i, name, 0.0f});
    }
  }
  TermColumns columns;
  if (tries.empty()) return columns;
  const auto needed = [&](const Try& each) {
    const float bar = each.bar > 0.0f ? each.bar + bar_gap * scale : 0.0f;
    return each.name + sign + numbers_of(choices[each.choice], sign) + bar;
  };
  const auto fits = [&](const Try& each) { return needed(each) <= width; };
  const auto found = std::ranges::find_if(tries, fits);
  const Try chosen = found == tries.end() ? tries.back() : *found;
  const TermWidths& widths = choices[chosen.choice];
  float spare = std::max(0.0f, width - needed(chosen));
  columns.decimals = widths.decimals;
  if (chosen.bar > 0.0f) {
    columns.bar = std::clamp(bar_share * width, chosen.bar, chosen.bar + spare);
    spare -= columns.bar - chosen.bar;
  }
  columns.bar_begin = width - columns.bar;
  columns.value_end = columns.bar > 0.0f ? columns.bar_begin - bar_gap * scale : width;
  const auto gaps = static_cast<float>(widths.factors.size() + 1);
  const float air = std::min(spare / gaps, most_air * scale);
  float end = columns.value_end - widths.value - sign - air;
  for (std::size_t i = widths.factors.size(); i-- > 0;) {
    if (end - widths.factors[i] < chosen.name) break;  // the first factors give way
    columns.factor_ends.insert(columns.factor_ends.begin(), end);
    end -= widths.factors[i] + sign + air;
  }
  columns.name = std::max(chosen.name, std::min(end, widest_name * scale));
  return columns;
}

}  // namespace headwise
