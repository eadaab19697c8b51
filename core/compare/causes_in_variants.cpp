#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// Searching for a number, and for two differences at once, is limited to traces of this many bytes: a
// thousand runs and more, measured to take below a second.
// Pairs are searched for this many first differences.
constexpr Index pair_bytes_limit = Index{1} << 19;
constexpr std::size_t pair_candidates = 3;
constexpr int fit_steps = 25;
constexpr std::size_t fit_cells = 4;  // fewer are fitted by any number

LikelyCause named(const ProgramVariant& variant, const TrialResult& result) {
  const char* rest = result.unjudged > 0 ? "; then every value agrees (gradients were not tried)"
                                         : "; then everything agrees";
  return {fmt::format("theirs agrees if {}{}{}{}", variant.text, variant.detail.empty() ? "" : ", and ",
                      variant.detail, rest),
          variant.detail.empty() ? variant.remedy : ""};
}

struct Candidates {
  FoundVariants complete, partial;
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

// The step, in the logarithms of the numbers, that would bring the cells to 0 if they were linear
// (Gauss-Newton).
std::vector<double> newton_step(const std::vector<double>& cells,
                                const std::vector<std::vector<double>>& slopes) {
  const auto count = static_cast<Eigen::Index>(slopes.size());
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  Eigen::MatrixXd across(count, count);
  Eigen::VectorXd along(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const std::vector<double>& own = slopes[static_cast<std::size_t>(i)];
    along(i) = product(own, cells);
    for (Eigen::Index j = 0; j < count; ++j) across(i, j) = product(own, slopes[static_cast<std::size_t>(j)]);
  }
  const double largest = across.diagonal().maxCoeff();
  if (!(largest > 0.0) || !across.allFinite() || !along.allFinite()) return {};
  if (count > 1) across.diagonal().array() += 1e-14 * largest;  // a number on which nothing depends stays
  const Eigen::VectorXd step = -across.ldlt().solve(along);
  return {step.begin(), step.end()};
}

// What the search for numbers looks at: a part of the cells, where a part can be had for less.
std::vector<double> cells_of(const VariantTrials& trials, const FittedVariant& fit,
                             const std::vector<double>& numbers) {
  if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) return {};
  return trials.residuals(fit.with(numbers), VariantTrials::Residuals::of_some_columns);
}

// The numbers for which a variant's cells are closest to theirs, from one starting point and its cells; all
// of them keep their sign. The search ends as soon as no change of the numbers would explain most of what is
// left: measured over a hundred right answers, the first step explains four fifths of it and more.
std::vector<double> fitted(const VariantTrials& trials, const FittedVariant& fit, std::vector<double> numbers,
                           std::vector<double> cells) {
  constexpr double probe = 1e-5, hopeless = 0.6;
  double error = sum_of_squares(cells);
  for (int step = 0; step < fit_steps; ++step) {
    std::vector<std::vector<double>> slopes;
    for (std::size_t number = 0; number < numbers.size(); ++number) {
      std::vector<double> probed = numbers;
      probed[number] *= std::exp(probe);
      slopes.push_back(cells_of(trials, fit, probed));
      if (slopes.back().size() != cells.size()) return numbers;
      for (std::size_t i = 0; i < cells.size(); ++i) slopes.back()[i] = (slopes.back()[i] - cells[i]) / probe;
    }
    std::vector<double> by = newton_step(cells, slopes);
    std::vector<double> left = cells;
    for (std::size_t number = 0; number < by.size(); ++number)
      for (std::size_t i = 0; i < left.size(); ++i) left[i] += by[number] * slopes[number][i];
    if (by.empty() || !(sum_of_squares(left) < hopeless * error)) break;
    for (double& change : by) change = std::clamp(change, -2.0, 2.0);
    bool nearer = false;
    for (int half = 0; half < 6 && !nearer; ++half) {
      std::vector<double> next = numbers;
      for (std::size_t i = 0; i < next.size(); ++i) next[i] *= std::exp(by[i]);
      std::vector<double> there = cells_of(trials, fit, next);
      const double its_error = sum_of_squares(there);
      for (double& change : by) change /= 2;
      if (there.size() != cells.size() || !(its_error < error)) continue;
      nearer = true;
      numbers = std::move(next);
      cells = std::move(there);
      error = its_error;
    }
    const bool still = std::ranges::all_of(by, [](double change) { return std::abs(change) < 1e-15; });
    if (!nearer || still) break;
  }
  return numbers;
}

// Numbers with few digits if they fit as well: 0.3, not 0.299999998.
std::vector<double> of_few_digits(std::vector<double> numbers, int digits) {
  for (double& number : numbers) number = std::stod(fmt::format("{:.{}g}", number, digits));
  return numbers;
}

}  // namespace

double sum_of_squares(const std::vector<double>& cells) {
  return std::inner_product(cells.begin(), cells.end(), cells.begin(), 0.0);
}

FoundVariants tried_fits(const VariantTrials& trials, const std::vector<FittedVariant>& fits) {
  FoundVariants found;
  for (const FittedVariant& fit : fits) {
    if (fit.numbers() > 1 && !found.empty()) break;  // the same cause with more numbers
    struct Start {
      double error;
      const std::vector<double>* numbers;
      std::vector<double> cells;
    };
    std::vector<Start> starts;
    for (const std::vector<double>& start : fit.starts) {
      std::vector<double> cells = cells_of(trials, fit, start);
      if (cells.size() < fit_cells * start.size()) continue;
      const double error = sum_of_squares(cells);
      starts.push_back({error, &start, std::move(cells)});
    }
    std::ranges::stable_sort(starts, {}, &Start::error);
    if (starts.size() > 2) starts.erase(starts.begin() + 2, starts.end());
    for (Start& start : starts) {
      const std::vector<double> numbers = fitted(trials, fit, *start.numbers, std::move(start.cells));
      if (!trials.tried(fit.with(numbers)).all) continue;
      for (int digits = 1; digits <= 17; ++digits) {
        const ProgramVariant variant = fit.with(of_few_digits(numbers, digits));
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

namespace {

// If a softmax saturates, or there are only 16 bits, several variants stay within the tolerance. Those off
// only by rounding come before those off by more.
void put_nearest_first(const VariantTrials& trials, FoundVariants& complete) {
  if (complete.size() < 2) return;
  constexpr double of_rounding = 1e-30, as_near = 16.0;
  std::vector<std::pair<double, std::size_t>> errors;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    const std::vector<double> cells = trials.residuals(complete[i].first);
    errors.emplace_back(sum_of_squares(cells) / static_cast<double>(std::max<std::size_t>(1, cells.size())), i);
  }
  const double bound = as_near * std::max(of_rounding, std::ranges::min(errors).first);
  std::ranges::stable_partition(errors, [bound](const auto& error) { return error.first <= bound; });
  FoundVariants ordered;
  for (const auto& [unused, place] : errors) ordered.push_back(std::move(complete[place]));
  complete = std::move(ordered);
}

// A first difference together with one that explains what is left.
FoundVariants tried_pairs_of_variants(const VariantTrials& trials, Candidates& found, SearchEffort& effort) {
  std::ranges::stable_sort(found.partial, std::ranges::greater{},
                           [](const auto& candidate) { return candidate.second.agreeing; });
  FoundVariants pairs;
  for (std::size_t i = 0; i < std::min(found.partial.size(), pair_candidates); ++i) {
    const ProgramVariant& first = found.partial[i].first;
    std::vector<ProgramVariant> both;
    try {
      AttentionInputs changed = trials.inputs();
      if (first.change) first.change(changed);
      for (const ProgramVariant& second : trials.variants_of(changed)) {
        if (second.text != first.text) both.push_back(joined(first, second));
      }
    } catch (const Error&) {
      continue;  // nothing follows on this change
    }
    effort.pairs += both.size();
    for (auto& pair : tried_all(trials, both).complete) pairs.push_back(std::move(pair));
    if (!pairs.empty()) break;
  }
  return pairs;
}

}  // namespace

std::vector<LikelyCause> named_causes(const VariantTrials& trials, FoundVariants found) {
  put_nearest_first(trials, found);
  std::vector<LikelyCause> causes;
  std::set<std::string> texts;
  for (const auto& [variant, result] : found)
    if (texts.insert(variant.text).second) causes.push_back(named(variant, result));
  return causes;
}

std::vector<LikelyCause> causes_in_variants(const VariantSearch& search, const ArrayComparison& comparison,
                                            SearchEffort* effort) {
  const ComparedArray* first = comparison.first_difference();
  if (first == nullptr || is_given(search.ours, first->tensor)) return {};
  const Index bytes = reference_trace_bytes(search.inputs);
  if (bytes > variant_bytes_limit) return {};
  // Hundreds of short runs: waking the other threads for each would cost more than they do.
  std::optional<ThreadLimit> one_thread;
  if (bytes <= pair_bytes_limit) one_thread.emplace(1);
  const VariantTrials trials(search, comparison);
  SearchEffort tried;
  const std::vector<ProgramVariant> singles = trials.variants();
  tried.singles = singles.size();
  Candidates found = tried_all(trials, singles);
  if (found.complete.empty() && first->refusal.empty() && bytes <= pair_bytes_limit) {
    const std::vector<FittedVariant> fits = trials.fits();
    tried.singles += fits.size();
    found.complete = tried_fits(trials, fits);
    if (found.complete.empty()) found.complete = tried_pairs_of_variants(trials, found, tried);
  }
  if (effort) *effort = tried;
  return named_causes(trials, std::move(found.complete));
}

}  // namespace headwise
