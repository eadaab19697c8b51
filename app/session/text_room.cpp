#include "app/session/text_room.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/scenario/tokens.h"
#include "core/tensor/memory.h"

namespace headwise {
namespace {

// f32; scores, scaled_scores, mask_bias, masked_scores, attn_weights, dropped_weights.
constexpr double bytes_a_pair = 6.0 * 4.0;
// f32; query, key, value, q, k, v twice, head_output, concat, output and intermediates.
constexpr double bytes_a_number = 16.0 * 4.0;

double at_least_1(double value) {
  return std::max(value, 1.0);
}

// 12,345,678
std::string grouped(Index number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

}  // namespace

double estimated_trace_bytes(const Scenario& scenario, Index query_length, Index key_length) {
  const AttentionSpec& a = scenario.attention;
  const double batch = at_least_1(static_cast<double>(scenario.inputs.batch));
  const double heads = at_least_1(static_cast<double>(a.num_heads));
  const double width = at_least_1(static_cast<double>(a.embed_dim));
  const double head_width = a.head_dim ? at_least_1(static_cast<double>(*a.head_dim)) : width / heads;
  const auto queries = static_cast<double>(query_length), keys = static_cast<double>(key_length);
  return batch * (heads * queries * keys * bytes_a_pair +
                  (queries + keys) * std::max(width, heads * head_width) * bytes_a_number);
}

std::optional<Shortened> shortened_to_fit(const Scenario& scenario, Index bytes) {
  const InputsSpec& in = scenario.inputs;
  if (in.source != InputSource::text) return std::nullopt;
  const Index queries = token_count(in.text);
  const Index keys = in.key_text ? token_count(*in.key_text) : queries;
  const auto fits = [&](Index most, double room) {
    return estimated_trace_bytes(scenario, std::min(queries, most), std::min(keys, most)) <= room;
  };
  const Index longest = std::max(queries, keys);
  if (fits(longest, 0.01 * static_cast<double>(bytes))) return std::nullopt;  // without asking the system
  const double room = std::min(static_cast<double>(bytes), 0.5 * static_cast<double>(available_memory()));
  if (fits(longest, room) || !fits(1, room)) return std::nullopt;
  Index enough = 1, too_many = longest;  // fits, does not
  while (too_many - enough > 1) {
    const Index middle = enough + (too_many - enough) / 2;
    (fits(middle, room) ? enough : too_many) = middle;
  }
  Shortened result{scenario, {}};
  InputsSpec& cut = result.scenario.inputs;
  cut.text = std::string(first_tokens(in.text, enough));
  if (in.key_text) cut.key_text = std::string(first_tokens(*in.key_text, enough));
  result.note = fmt::format("Only the start of the text fits: showing {} of {} tokens.", grouped(enough),
                            grouped(longest));
  return result;
}

}  // namespace headwise
