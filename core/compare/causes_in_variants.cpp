#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Searching for a number, and for two differences at once, is limited to traces of this many bytes: a thousand runs and more,
// measured to take below a second. Pairs are searched for this many first differences.
constexpr Index pair_bytes_limit = Index{1} << 19;
constexpr std::size_t pair_candidates = 3;
constexpr int fit_steps = 25, fit_patience = 4;
constexpr std::size_t fit_cells = 4;  // fewer are fitted by any number

LikelyCause named(const ProgramVariant& variant, const TrialResult& result) {
  const char* rest = result.unjudged > 0 ? "; then every value agrees (gradients were not tried)"
                                         : "; then everything agrees";
  return {fmt::format("theirs agrees if {}{}{}{}", variant.text, variant.detail.empty() ? "" : ", and ",
                      variant.detail, rest),
          variant.detail.empty() ? variant.remedy : ""};
}

// First one change, then the other.
ProgramVariant joined(const ProgramVariant& a, const ProgramVariant& b) {
  ProgramVariant both = a;
  both.text = fmt::format("{}{}{}, and {}", a.text, a.detail.empty() ? "" : ", and ", a.detail, b.text);
  both.detail = b.detail;
  both.remedy = a.remedy.empty() || b.remedy.empty() ? "" : a.remedy + " " + b.remedy;
  if (b.change) {
    both.change = [first = a.change, then = b.change](AttentionInputs& inputs) {
      if (first) first(inputs);
      then(inputs);
    };
  }
  both.stages.insert(both.stages.end(), b.stages.begin(), b.stages.end());
  if (b.copies.keys != HeadCopy::neighbours) both.copies.keys = b.copies.keys;
  if (b.copies.values != HeadCopy::neighbours) both.copies.values = b.copies.values;
  return both;
}

struct Candidates {
  std::vector<std::pair<ProgramVariant, TrialResult>> complete, partial;
};

// A variant with the same text as one that fits is not tried: it is the same cause, with more words.
Candidates tried_all(const VariantTrials& trials, const std::vector<ProgramVariant>& variants) {
  Candidates found;
  std::set<std::string> texts;
  for (const ProgramVariant& variant : variants) {
    if (texts.contains(variant.text)) continue;
    const TrialResult result = trials.tried(variant);
    if (result.all) {
      texts.insert(variant.text);
      found.complete.emplace_back(variant, result);
    } else if (result.agreeing > trials.first()) {
      found.partial.emplace_back(variant, result);
    }
  }
  return found;
}

double sum_of_squares(const std::vector<double>& cells) {
  return std::inner_product(cells.begin(), cells.end(), cells.begin(), 0.0);
}

// The number for which a variant's cells are closest to theirs, by Gauss-Newton from one starting point, in the logarithm of
// the number: all of them keep their sign.
double fitted(const VariantTrials& trials, const FittedVariant& fit, double start) {
  constexpr double probe = 1e-5;
  double number = start;
  std::vector<double> cells = trials.residuals(fit.with(number));
  double error = sum_of_squares(cells);
  const double at_start = error;
  for (int step = 0; step < fit_steps && !cells.empty(); ++step) {
    const std::vector<double> beside = trials.residuals(fit.with(number * std::exp(probe)));
    if (beside.size() != cells.size()) break;
    double along = 0.0, across = 0.0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double slope = (beside[i] - cells[i]) / probe;
      along += slope * cells[i];
      across += slope * slope;
    }
    if (across == 0.0 || !std::isfinite(across)) break;
    double by = std::clamp(-along / across, -2.0, 2.0);
    bool nearer = false;
    for (int half = 0; half < 6 && !nearer; ++half, by /= 2) {
      const double next = number * std::exp(by);
      std::vector<double> there = trials.residuals(fit.with(next));
      const double its_error = sum_of_squares(there);
      if (there.size() != cells.size() || !(its_error < error)) continue;
      nearer = true;
      number = next;
      cells = std::move(there);
      error = its_error;
    }
    const bool hopeless = step >= fit_patience && error > 0.5 * at_start;
    if (!nearer || hopeless || std::abs(by) < 1e-15) break;
  }
  return number;
}

// A number with few digits if it fits as well: 0.3, not 0.299999998.
double of_few_digits(double number, int digits) {
  return std::stod(fmt::format("{:.{}g}", number, digits));
}

std::vector<std::pair<ProgramVariant, TrialResult>> tried_fits(const VariantTrials& trials,
                                                               const std::vector<FittedVariant>& fits) {
  std::vector<std::pair<ProgramVariant, TrialResult>> found;
  for (const FittedVariant& fit : fits) {
    std::vector<std::pair<double, double>> starts;  // how far off, and the number
    for (const double start : fit.starts) {
      const std::vector<double> cells = trials.residuals(fit.with(start));
      if (cells.size() >= fit_cells) starts.emplace_back(sum_of_squares(cells), start);
    }
    std::ranges::sort(starts);
    starts.resize(std::min<std::size_t>(starts.size(), 2));
    for (const auto& [unused, start] : starts) {
      const double number = fitted(trials, fit, start);
      if (!trials.tried(fit.with(number)).all) continue;
      for (int digits = 1; digits <= 17; ++digits) {
        const ProgramVariant variant = fit.with(of_few_digits(number, digits));
        const TrialResult result = trials.tried(variant);
        if (!result.all) continue;
        found.emplace_back(variant, result);
        break;
      }
      break;
    }
  }
  return found;
}

// If a softmax saturates, or there are only 16 bits, several variants stay within the tolerance. Those off only by rounding
// come before those off by more.
void put_nearest_first(const VariantTrials& trials,
                       std::vector<std::pair<ProgramVariant, TrialResult>>& complete) {
  if (complete.size() < 2) return;
  constexpr double of_rounding = 1e-30, as_near = 16.0;
  std::vector<std::pair<double, std::size_t>> errors;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    const std::vector<double> cells = trials.residuals(complete[i].first);
    errors.emplace_back(sum_of_squares(cells) / static_cast<double>(std::max<std::size_t>(1, cells.size())), i);
  }
  const double bound = as_near * std::max(of_rounding, std::ranges::min(errors).first);
  std::ranges::stable_partition(errors, [bound](const auto& error) { return error.first <= bound; });
  std::vector<std::pair<ProgramVariant, TrialResult>> ordered;
  for (const auto& [unused, place] : errors) ordered.push_back(std::move(complete[place]));
  complete = std::move(ordered);
}

// A first difference together with one that explains what is left.
std::vector<std::pair<ProgramVariant, TrialResult>> tried_pairs(const VariantTrials& trials, Candidates& found) {
  std::ranges::stable_sort(found.partial, std::ranges::greater{},
                           [](const auto& candidate) { return candidate.second.agreeing; });
  std::vector<std::pair<ProgramVariant, TrialResult>> pairs;
  for (std::size_t i = 0; i < std::min(found.partial.size(), pair_candidates); ++i) {
    const ProgramVariant& first = found.partial[i].first;
    AttentionInputs changed = trials.inputs();
    if (first.change) first.change(changed);
    std::vector<ProgramVariant> both;
    for (const ProgramVariant& second : program_variants(changed)) {
      if (second.text != first.text) both.push_back(joined(first, second));
    }
    for (auto& pair : tried_all(trials, both).complete) pairs.push_back(std::move(pair));
    if (!pairs.empty()) break;
  }
  return pairs;
}

}  // namespace

std::vector<LikelyCause> causes_in_variants(const VariantSearch& search, const ArrayComparison& comparison) {
  const ComparedArray* first = comparison.first_difference();
  if (first == nullptr || is_given(search.ours, first->tensor)) return {};
  const Index bytes = reference_trace_bytes(search.inputs);
  if (bytes > variant_bytes_limit) return {};
  // Hundreds of short runs: waking the other threads for each would cost more than they do.
  std::optional<ThreadLimit> one_thread;
  if (bytes <= pair_bytes_limit) one_thread.emplace(1);
  const VariantTrials trials(search, comparison);
  Candidates found = tried_all(trials, program_variants(trials.inputs()));
  if (found.complete.empty() && first->refusal.empty() && bytes <= pair_bytes_limit) {
    found.complete = tried_fits(trials, fitted_variants(trials.inputs()));
    if (found.complete.empty()) found.complete = tried_pairs(trials, found);
  }
  put_nearest_first(trials, found.complete);
  std::vector<LikelyCause> causes;
  for (const auto& [variant, result] : found.complete) causes.push_back(named(variant, result));
  return causes;
}

}  // namespace headwise
