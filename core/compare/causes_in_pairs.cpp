// Two mistakes at once where neither is seen by itself: an output alone, or two in one step. Every two
// variants are tried, as far as the work allows; those that bring our numbers nearest to theirs come first.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/reference/reference_backend.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The work of one trial, in bytes of a trace; small ones take as long as one of `least_work`.
constexpr Index least_work = Index{1} << 13;
// A known mistake together with a number that is searched for: the runs that one of these takes, and their
// share of the work.
constexpr Index runs_of_fits = 300, share_of_fits = 3;
constexpr std::size_t first_candidates = 40;  // tried with each other before all of them are
// Numbers of 16 bits agree too easily.
constexpr double widest_tolerance = 1e-4;

// Which variants change what theirs differs in, each differently, in the order in which they are worth
// trying.
std::vector<ProgramVariant> candidates_of(const VariantTrials& trials, std::vector<ProgramVariant> variants) {
  struct Candidate {
    double error;
    std::size_t place;
    std::vector<double> residuals;
  };
  const auto sum_of_squares = [](const std::vector<double>& cells) {
    return std::inner_product(cells.begin(), cells.end(), cells.begin(), 0.0);
  };
  constexpr double same = 1e-9;
  const auto are_same = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= same)) return false;
    return true;
  };
  // Two that change the first array alike may change another differently.
  constexpr auto of_all = VariantTrials::Residuals::of_all;
  const std::vector<double> unchanged = trials.residuals({}, of_all);
  std::vector<Candidate> all;
  for (std::size_t place = 0; place < variants.size(); ++place) {
    std::vector<double> residuals = trials.residuals(variants[place], of_all);
    if (residuals.size() == unchanged.size() && !are_same(residuals, unchanged))
      all.push_back({sum_of_squares(residuals), place, std::move(residuals)});
  }
  std::ranges::stable_sort(all, {}, &Candidate::error);
  std::vector<const Candidate*> kept;
  for (const Candidate& candidate : all) {
    bool known = false;
    for (std::size_t i = kept.size(); i-- > 0 && !known;) {
      if (candidate.error - kept[i]->error > same * (1.0 + candidate.error)) break;
      known = are_same(kept[i]->residuals, candidate.residuals);
    }
    if (!known) kept.push_back(&candidate);
  }
  std::vector<ProgramVariant> candidates;
  for (const Candidate* candidate : kept) candidates.push_back(std::move(variants[candidate->place]));
  return candidates;
}

bool share_a_stage(const ProgramVariant& a, const ProgramVariant& b) {
  return std::ranges::any_of(a.stages, [&](const StageChange& change) {
    return std::ranges::find(b.stages, change.stage, &StageChange::stage) != b.stages.end();
  });
}

// The pairs of which candidates[i] is the first change. A pair is tried once, unless the order matters.
struct PairsOfFirst {
  FoundVariants found;
  std::vector<std::pair<std::string, std::string>> names;  // of the two, for each of `found`
  std::size_t tried = 0;
};
PairsOfFirst tried_with(const VariantTrials& trials, std::span<const ProgramVariant> candidates, std::size_t i) {
  PairsOfFirst result;
  const ProgramVariant& first = candidates[i];
  try {
    const Trace base = trials.base_of(first);
    const auto try_pair = [&](const ProgramVariant& second) {
      const ProgramVariant both = joined(first, second);
      ++result.tried;
      const TrialResult trial = trials.tried(both, second.change ? nullptr : &base);
      if (!trial.all) return;
      result.found.emplace_back(both, trial);
      result.names.push_back(std::minmax(first.text, second.text));
    };
    if (!first.change) {
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        const ProgramVariant& second = candidates[j];
        if (!second.change && second.text != first.text && (i < j || (i > j && share_a_stage(first, second))))
          try_pair(second);
      }
      return result;
    }
    std::set<std::string> wanted;
    for (const ProgramVariant& candidate : candidates) wanted.insert(candidate.text);
    AttentionInputs changed = trials.inputs();
    first.change(changed);
    for (const ProgramVariant& second : program_variants(changed)) {
      if (second.text == first.text || !wanted.contains(second.text)) continue;
      if (second.change && !first.stages.empty()) continue;  // the other of them comes first
      try_pair(second);
    }
  } catch (const Error&) {
    return result;  // nothing follows on this change
  }
  return result;
}

// Every two of the candidates, on all threads; the same pair in the other order is left out.
FoundVariants tried_pairs(const VariantTrials& trials, std::span<const ProgramVariant> candidates,
                          std::size_t& tried) {
  std::vector<PairsOfFirst> all(candidates.size());
  run_tasks(static_cast<Index>(candidates.size()), available_threads(), [&](Index i, int) {
    const ThreadLimit alone(1);
    const auto place = static_cast<std::size_t>(i);
    all[place] = tried_with(trials, candidates, place);
  });
  FoundVariants found;
  std::set<std::pair<std::string, std::string>> known;
  for (PairsOfFirst& pairs : all) {
    tried += pairs.tried;
    for (std::size_t i = 0; i < pairs.found.size(); ++i)
      if (known.insert(pairs.names[i]).second) found.push_back(std::move(pairs.found[i]));
  }
  return found;
}

// Each candidate with each number that is searched for.
FoundVariants tried_fits_beside(const VariantTrials& trials, std::span<const ProgramVariant> candidates,
                                std::size_t& tried) {
  struct Fits {
    FoundVariants found;
    std::size_t tried = 0;
  };
  std::vector<Fits> all(candidates.size());
  run_tasks(static_cast<Index>(candidates.size()), available_threads(), [&](Index i, int) {
    const ThreadLimit alone(1);
    const ProgramVariant& first = candidates[static_cast<std::size_t>(i)];
    try {
      AttentionInputs changed = trials.inputs();
      if (first.change) first.change(changed);
      std::vector<FittedVariant> pairs;
      for (FittedVariant& fit : fitted_variants(changed)) {
        if (!fit.with) continue;
        if (fit.with(fit.starts.front()).change && !first.stages.empty() && first.change) continue;
        fit.with = [first, second = fit.with](double number) { return joined(first, second(number)); };
        pairs.push_back(std::move(fit));
      }
      Fits& own = all[static_cast<std::size_t>(i)];
      own.tried = pairs.size();
      own.found = tried_fits(trials, pairs);
    } catch (const Error&) {
      return;
    }
  });
  FoundVariants found;
  for (Fits& fits : all) {
    tried += fits.tried;
    std::ranges::move(fits.found, std::back_inserter(found));
  }
  return found;
}

}  // namespace

std::vector<LikelyCause> causes_in_pairs(const VariantSearch& search, const ArrayComparison& comparison,
                                         SearchEffort* effort) {
  const ComparedArray* first = comparison.first_difference();
  if (first == nullptr || is_given(search.ours, first->tensor)) return {};
  if (first->tensor.gradient || !first->refusal.empty() || first->tolerance > widest_tolerance) return {};
  const Index work = std::max(least_work, reference_trace_bytes(search.inputs));
  const Index runs = search.pair_work / work;
  const VariantTrials trials(search, comparison);
  const std::vector<ProgramVariant> variants = program_variants(trials.inputs());
  if (runs < static_cast<Index>(2 * variants.size())) return {};
  const std::vector<ProgramVariant> candidates = candidates_of(trials, variants);
  const auto most = static_cast<std::size_t>(std::sqrt(2.0 * static_cast<double>(runs)));
  std::size_t tried = 0;
  FoundVariants found;
  for (const std::size_t some : {first_candidates, most}) {
    const std::size_t count = std::min({some, most, candidates.size()});
    found = tried_pairs(trials, std::span(candidates).first(count), tried);
    if (!found.empty() || count == candidates.size()) break;
  }
  if (found.empty()) {
    const auto count =
        std::min(candidates.size(), static_cast<std::size_t>(runs / share_of_fits / runs_of_fits));
    found = tried_fits_beside(trials, std::span(candidates).first(count), tried);
  }
  if (effort) effort->pairs += tried;
  return named_causes(trials, std::move(found));
}

}  // namespace headwise
