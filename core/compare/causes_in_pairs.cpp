// Two mistakes at once where neither is seen by itself: an output alone, or two in one step. Every two
// variants are tried, as far as the work allows; those that bring our numbers nearest to theirs come first.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/attention/reference_backend.h"
#include "core/compare/likely_causes.h"
#include "core/compare/program_variants.h"
#include "core/compare/variant_trials.h"
#include "core/tensor/error.h"
#include "core/tensor/task_threads.h"

namespace headwise {
namespace {

// The work of one trial, in bytes of a trace, beside those of the trace.
constexpr Index least_work = Index{1} << 14;
// A known mistake together with each number that is searched for: so many runs. Every two of the numbers:
// so many in all.
constexpr Index runs_of_fits = 110, runs_of_two_fits = 5000;
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

bool comes_before(const ProgramVariant& a, const ProgramVariant& b, bool or_with = false) {
  const auto last = std::ranges::max_element(a.stages, {}, &StageChange::stage)->stage;
  const auto first = std::ranges::min_element(b.stages, {}, &StageChange::stage)->stage;
  return last < first || (or_with && last == first);
}

bool share_a_stage(const ProgramVariant& a, const ProgramVariant& b) {
  return std::ranges::any_of(a.stages, [&](const StageChange& change) {
    return std::ranges::find(b.stages, change.stage, &StageChange::stage) != b.stages.end();
  });
}

// Whether two changes of stages, candidates `i` and `j`, are to be tried in this order: each pair once, the
// earlier stage first, unless the order matters or there is none.
bool is_order(const ProgramVariant& first, const ProgramVariant& second, std::size_t i, std::size_t j) {
  if (share_a_stage(first, second)) return true;
  return comes_before(first, second) || (i < j && !comes_before(second, first));
}

// The tensors that a variant's change replaces: where two have none in common, their order does not matter.
std::vector<TensorId> replaced(const AttentionInputs& before, const AttentionInputs& after) {
  std::vector<TensorId> ids;
  for (const TensorEntry& entry : tensor_entries())
    if (before.tensors.*(entry.member) != after.tensors.*(entry.member)) ids.push_back(entry.id);
  return ids;
}

// What is left to do after the variant's change.
ProgramVariant without_change(ProgramVariant variant) {
  variant.change = nullptr;
  return variant;
}

// The pairs of which candidates[i] is the first change. A pair is tried once, unless the order matters.
struct PairsOfFirst {
  FoundVariants found;
  std::vector<std::pair<std::string, std::string>> names;  // of the two, for each of `found`
  std::size_t tried = 0;
};
PairsOfFirst tried_with(const VariantTrials& trials, std::span<const ProgramVariant> candidates,
                        const std::vector<std::vector<TensorId>>& replacing, std::size_t done, std::size_t i) {
  PairsOfFirst result;
  const ProgramVariant& first = candidates[i];
  try {
    const VariantTrials after = trials.after(first);
    const bool is_alone = trials.arrays() == 1;  // then nothing before `first` is judged
    const auto to_the_end = [](TensorId, const Trace&, const std::vector<TensorPtr>&) { return true; };
    std::optional<Trace> ahead;  // with the stages of `first` changed, too
    if (is_alone && !first.stages.empty()) ahead = retraced(after.ours(), first.stages, to_the_end);
    const auto try_pair = [&](const ProgramVariant& second) {
      ++result.tried;
      const bool behind = ahead && !second.change && comes_before(first, second, true);
      if (behind && !after.tried(second, &*ahead).all) return;
      const TrialResult trial = after.tried(joined(without_change(first), second));
      if (!trial.all) return;
      result.found.emplace_back(joined(first, second), trial);
      result.names.push_back(std::minmax(first.text, second.text));
    };
    if (!first.change) {
      for (std::size_t j = i < done ? done : 0; j < candidates.size(); ++j) {
        const ProgramVariant& second = candidates[j];
        if (!second.change && second.text != first.text && is_order(first, second, i, j)) try_pair(second);
      }
      return result;
    }
    std::map<std::string, std::size_t> wanted;
    for (std::size_t j = 0; j < candidates.size(); ++j) wanted.emplace(candidates[j].text, j);
    for (const ProgramVariant& second : after.variants()) {
      const auto known = wanted.find(second.text);
      if (second.text == first.text || known == wanted.end()) continue;
      if (i < done && known->second < done) continue;
      if (second.change && !first.stages.empty() && second.stages.empty()) continue;  // the other comes first
      const bool matters =
          std::ranges::find_first_of(replacing[i], replacing[known->second]) != replacing[i].end();
      if (second.change && first.stages.empty() == second.stages.empty() && !matters && known->second < i)
        continue;
      try_pair(second);
    }
  } catch (const Error&) {
    return result;  // nothing follows on this change
  }
  return result;
}

// Every two of the candidates, of which the first `done` have been tried, on all threads; the same pair in
// the other order is left out.
FoundVariants tried_pairs(const VariantTrials& trials, std::span<const ProgramVariant> candidates,
                          std::size_t done, std::size_t& tried) {
  std::vector<PairsOfFirst> all(candidates.size());
  std::vector<std::vector<TensorId>> replacing;
  for (const ProgramVariant& candidate : candidates) {
    AttentionInputs changed = trials.inputs();
    if (candidate.change) candidate.change(changed);
    replacing.push_back(replaced(trials.inputs(), changed));
  }
  run_tasks(static_cast<Index>(candidates.size()), available_threads(), [&](Index i, int) {
    const ThreadLimit alone(1);
    const auto place = static_cast<std::size_t>(i);
    all[place] = tried_with(trials, candidates, replacing, done, place);
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

// Each number that is searched for, beside each of these.
FoundVariants tried_fits_beside(const VariantTrials& trials, std::span<const ProgramVariant> candidates,
                                std::size_t& tried) {
  std::vector<std::pair<FoundVariants, std::size_t>> all(candidates.size());
  run_tasks(static_cast<Index>(candidates.size()), available_threads(), [&](Index i, int) {
    const ThreadLimit alone(1);
    const ProgramVariant& first = candidates[static_cast<std::size_t>(i)];
    auto& [found, count] = all[static_cast<std::size_t>(i)];
    try {
      const VariantTrials after = trials.after(first);
      std::vector<FittedVariant> fits;
      for (const FittedVariant& fit : after.fits()) {
        const auto add = [&](bool turned) {
          fits.push_back(fit);
          fits.back().with = [&first, with = fit.with, turned](const std::vector<double>& numbers) {
            return turned ? joined(with(numbers), without_change(first))
                          : joined(without_change(first), with(numbers));
          };
        };
        add(false);
        if (share_a_stage(first, fit.with(fit.starts.front()))) add(true);
      }
      count = fits.size();
      found = tried_fits(after, fits);
      for (auto& [variant, result] : found) variant.change = followed_by(first.change, variant.change);
    } catch (const Error&) {
      return;  // nothing follows on this change
    }
  });
  FoundVariants found;
  for (auto& [own, count] : all) {
    tried += count;
    std::ranges::move(own, std::back_inserter(found));
  }
  return found;
}

// Every two of the numbers that are searched for.
FoundVariants tried_two_fits(const VariantTrials& trials, std::size_t& tried) {
  const std::vector<FittedVariant> fits = trials.fits();
  std::vector<FittedVariant> pairs;
  for (std::size_t i = 0; i < fits.size(); ++i)
    for (std::size_t j = i + 1; j < fits.size(); ++j) pairs.push_back(joined(fits[i], fits[j]));
  tried += pairs.size();
  std::vector<FoundVariants> all(pairs.size());
  run_tasks(static_cast<Index>(pairs.size()), available_threads(), [&](Index i, int) {
    const ThreadLimit alone(1);
    all[static_cast<std::size_t>(i)] = tried_fits(trials, {pairs[static_cast<std::size_t>(i)]});
  });
  FoundVariants found;
  for (FoundVariants& own : all) std::ranges::move(own, std::back_inserter(found));
  return found;
}

}  // namespace

std::vector<LikelyCause> causes_in_pairs(const VariantSearch& search, const ArrayComparison& comparison,
                                         SearchEffort* effort) {
  const ComparedArray* first = comparison.first_difference();
  if (first == nullptr || is_given(search.ours, first->tensor)) return {};
  if (first->tensor.gradient || !first->refusal.empty() || first->tolerance > widest_tolerance) return {};
  const Index runs = search.pair_work / (least_work + reference_trace_bytes(search.inputs));
  const VariantTrials trials(search, comparison);
  const std::vector<ProgramVariant> variants = trials.variants();
  if (runs < static_cast<Index>(2 * variants.size())) return {};
  const std::vector<ProgramVariant> candidates = candidates_of(trials, variants);
  const auto most = static_cast<std::size_t>(std::sqrt(3.0 * static_cast<double>(runs)));
  std::size_t tried = 0;
  FoundVariants found;
  std::size_t done = 0;
  for (const std::size_t some : {first_candidates, most}) {
    const std::size_t count = std::min({some, most, candidates.size()});
    if (found.empty() && count > done)
      found = tried_pairs(trials, std::span(candidates).first(count), done, tried);
    done = count;
  }
  if (found.empty()) {
    const auto count = std::min(candidates.size(), static_cast<std::size_t>(runs / runs_of_fits));
    found = tried_fits_beside(trials, std::span(candidates).first(count), tried);
  }
  if (found.empty() && runs >= runs_of_two_fits) found = tried_two_fits(trials, tried);
  if (effort) effort->pairs += tried;
  return named_causes(trials, std::move(found));
}

}  // namespace headwise
