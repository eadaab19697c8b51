#include "app/session/computation.h"

#include <algorithm>
#include <chrono>
#include <new>

#include <fmt/format.h>

#include "core/attention/reference_backend.h"
#include "core/files/file_paths.h"
#include "core/scenario/embeddings.h"
#include "core/scenario/layer_scenario.h"
#include "core/tensor/error.h"
#include "core/tensor/memory.h"
#include "core/tensor/progress.h"
#include "core/tensor/random.h"

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

constexpr std::uint64_t model_bytes_at_once = 16 << 20;  // read and run in about 30 ms

// exp, the masks and the copies of one score, in multiply-adds.
constexpr double work_per_score = 20.0;

// About 30 ms on one core of 2020.
constexpr double work_at_once = 1e8;

const Scenario& made_from(const Computation& computation) {
  return computation.shortened ? computation.shortened->scenario : computation.scenario;
}

double at_least_0(double value) {
  return std::max(value, 0.0);
}

// In multiply-adds.
struct Work {
  double inputs, trace;
};

Work estimated(const Scenario& scenario) {
  const AttentionSpec& a = scenario.attention;
  const InputsSpec& in = scenario.inputs;
  const bool text = in.source == InputSource::text;
  const double batch = at_least_0(static_cast<double>(in.batch));
  const double query_length =
      text ? static_cast<double>(token_count(in.text)) : at_least_0(static_cast<double>(in.query_length));
  double key_length = query_length;
  if (text && in.key_text) key_length = static_cast<double>(token_count(*in.key_text));
  if (!text && in.key_length) key_length = at_least_0(static_cast<double>(*in.key_length));
  const double heads = at_least_0(static_cast<double>(a.num_heads));
  const double width = at_least_0(static_cast<double>(a.embed_dim));
  const double head_width =
      at_least_0(a.head_dim ? static_cast<double>(*a.head_dim) : width / std::max(heads, 1.0));
  const double inner = std::max(width, heads * head_width);
  const double past = at_least_0(static_cast<double>(in.past_length));
  const double projections = batch * 2.0 * (query_length + key_length) * width * inner;
  const double scores =
      batch * heads * query_length * (past + key_length) * (2.0 * head_width + work_per_score);
  const double randoms = 4.0 * width * inner + batch * (query_length + key_length + 2.0 * past) * width;
  return {cost_of_random * randoms, projections + scores};
}

// A model layer's inputs are not in the estimate of the sizes: files to read, and all layers before it.
bool has_small_model(const Scenario& scenario) {
  if (!is_of_model(scenario)) return true;
  if (is_builtin(*scenario.parameters.file)) return !waits_for_model(scenario);
  return file_state(path_from(scenario.origin.folder, *scenario.parameters.file)).bytes <= model_bytes_at_once;
}

}  // namespace

double estimated_trace_bytes(const Scenario& scenario, Index query_length, Index key_length) {
  const AttentionSpec& a = scenario.attention;
  const double batch = at_least_1(static_cast<double>(scenario.inputs.batch));
  const double heads = at_least_1(static_cast<double>(a.num_heads));
  const double width = at_least_1(static_cast<double>(a.embed_dim));
  const double head_width = a.head_dim ? at_least_1(static_cast<double>(*a.head_dim)) : width / heads;
  const auto queries = static_cast<double>(query_length);
  const double keys =
      static_cast<double>(key_length) + at_least_0(static_cast<double>(scenario.inputs.past_length));
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

bool waits_for_model(const Scenario& scenario) {
  return is_of_model(scenario) && scenario.parameters.file && needs_making(*scenario.parameters.file);
}

ComputationPtr compute(const Scenario& scenario, const Computation* previous, Index most_bytes) {
  try {
    const auto started = std::chrono::steady_clock::now();
    auto result = std::make_shared<Computation>();
    result->scenario = scenario;
    result->shortened = shortened_to_fit(scenario, most_bytes);
    const Work work = estimated(made_from(*result));
    const double inputs_done = work.inputs / (work.inputs + work.trace);
    std::optional<ProgressPart> part(std::in_place, 0.0, inputs_done, "inputs and parameters");
    result->inputs =
        make_scenario_inputs(made_from(*result), DType::f32, {}, previous ? &previous->inputs : nullptr,
                             {.maps = least_reference_maps});
    if (result->shortened) result->inputs.notes.insert(result->inputs.notes.begin(), result->shortened->note);
    part.emplace(inputs_done, 1.0);
    result->trace = reference_forward(result->inputs.attention, previous ? previous->trace.get() : nullptr);
    result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return result;
  } catch (const std::bad_alloc&) {
    throw Error(ExitStatus::memory, {.what = "this scenario does not fit in memory",
                                     .remedy = "make the text, embed_dim or batch smaller"});
  }
}

double estimated_work(const Scenario& scenario) {
  const Work work = estimated(scenario);
  return work.inputs + work.trace;
}

bool computes_at_once(const Scenario& scenario) {
  return has_small_model(scenario) && estimated_work(scenario) <= work_at_once;
}

}  // namespace headwise
