#include "core/train/training_outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/train/training_reasons.h"

namespace headwise {
namespace {

using reasons::clearly_better, reasons::percent;

// A run is sooner beyond this ratio of steps: seeds alone move it by a fifth (induction, seeds 1 to 3).
constexpr double clearly_sooner = 1.25;

// The loss of the batches has fallen, that of held-out examples has not, or by less.
bool has_memorised(const TrainingOutcome& of) {
  return of.learned_at && of.held_out.loss > 1.5 * std::max(learned_share * of.first_loss, of.last_loss);
}

bool has_learned(const TrainingOutcome& of) {
  return of.learned_at && !of.failure && !has_memorised(of);
}

double more_accurate(const TrainingOutcome& a, const TrainingOutcome& b) {
  return accuracy_of(b.held_out) - accuracy_of(a.held_out);
}

std::string held_out_words(const TrainingOutcome& a, const TrainingOutcome& b, const std::string& with) {
  return fmt::format("on held-out examples {} of the answers are right without the change, and {} {}",
                     percent(accuracy_of(a.held_out)), percent(accuracy_of(b.held_out)), with);
}

std::string both_learned(const TrainingOutcome& a, const TrainingOutcome& b, const std::string& with) {
  // Steps are counted from 1 here: a run that learns in its first step is no division by zero.
  const double ratio = static_cast<double>(*b.learned_at + 1) / static_cast<double>(*a.learned_at + 1);
  const char* const sooner = ratio > clearly_sooner         ? "later"
                             : ratio < 1.0 / clearly_sooner ? "sooner"
                                                            : "about as soon";
  const double more = more_accurate(a, b);
  const char* const better = more > clearly_better    ? ", and better"
                             : more < -clearly_better ? ", but less well"
                                                      : "";
  return fmt::format(
      "Both learn it, {} {}{}: the loss falls below a fifth of its start at step {} without the change, and "
      "at step {} "
      "{}; {}.",
      with, sooner, better, *a.learned_at, *b.learned_at, with, held_out_words(a, b, with));
}

std::string neither_learned(const TrainingOutcome& a, const TrainingOutcome& b, const std::string& with) {
  const double more = more_accurate(a, b);
  const std::string better = more > clearly_better    ? fmt::format("{} it is better", with)
                             : more < -clearly_better ? fmt::format("{} it is worse", with)
                                                      : "the two are about as good";
  const bool by_heart = has_memorised(a) || has_memorised(b);
  const std::string state =
      by_heart ? fmt::format("{} learns the examples of its batches by heart and not the task",
                             !has_memorised(b)   ? "Without the change, the model"
                             : !has_memorised(a) ? "The changed model"
                                                 : "Each of the two models")
               : fmt::format("Neither loss is below a fifth of its start after {} steps",
                             std::min(a.steps, b.steps));
  return fmt::format("{}, and {}: {}.", state, better, held_out_words(a, b, with));
}

std::string one_learned(const TrainingOutcome& learner, const std::string& name, const TrainingOutcome& other,
                        const std::string& other_name) {
  if (has_memorised(other))
    return fmt::format(
        "{} the task is learned; {} the examples are learned by heart, for the loss of the batches falls and "
        "that of held-out examples stays higher: {} of their answers are right, against {}.",
        name, other_name, percent(accuracy_of(other.held_out)), percent(accuracy_of(learner.held_out)));
  if (other.steps <= *learner.learned_at)
    return fmt::format(
        "{} the loss falls below a fifth of its start at step {}; {} it has taken {} steps only.", name,
        *learner.learned_at, other_name, other.steps);
  return fmt::format(
      "{} the task is learned, and {} it is not within {} steps: the loss falls below a fifth of its start "
      "at step {}; of held-out answers {} are right, against {}.",
      name, other_name, other.steps, *learner.learned_at, percent(accuracy_of(learner.held_out)),
      percent(accuracy_of(other.held_out)));
}

std::string verdict_of(const TrainingOutcome& a, const TrainingOutcome& b, const std::string& with) {
  if (b.failure) return fmt::format("The run {} stopped: {}.", with, b.failure->what);
  if (a.failure) return fmt::format("The run without the change stopped: {}.", a.failure->what);
  if (a.steps == 0 || b.steps == 0) return "Nothing can be compared before both runs have taken a step.";
  const bool learns = has_learned(a), changed_learns = has_learned(b);
  if (learns && changed_learns) return both_learned(a, b, with);
  if (learns) return one_learned(a, "Without the change", b, with);
  std::string capital = with;
  capital.front() = static_cast<char>(capital.front() - 'a' + 'A');
  if (changed_learns) return one_learned(b, capital, a, "without the change");
  return neither_learned(a, b, with);
}

// Of a model that was trained without the causal mask and answers by what follows.
std::string verdict_of_cheat(const TrainingOutcome& a, const TrainingOutcome& b, const std::string& with) {
  std::string verdict = fmt::format(
      "{} the loss falls below a fifth of its start at step {}, but not because the task is learned: with "
      "the mask on, "
      "{} of the held-out answers are right, against {} without the change.",
      with, *b.learned_at, percent(accuracy_of(*b.held_out_causal)), percent(accuracy_of(a.held_out)));
  verdict.front() = static_cast<char>(verdict.front() - 'a' + 'A');
  return verdict;
}

}  // namespace

ChangeAnswer change_answer(TrainingChange change, const TrainingOutcome& as_it_is,
                           const TrainingOutcome& changed) {
  const std::string with(training_change_entry(change).with);
  const bool cheats = has_learned(changed) && known_with_mask(changed) < little_left;
  ChangeAnswer answer{
      cheats ? verdict_of_cheat(as_it_is, changed, with) : verdict_of(as_it_is, changed, with), {}};
  if (as_it_is.steps > 0 && changed.steps > 0)
    answer.reasons = reasons_of(change, {as_it_is, changed, with, has_learned(as_it_is), has_learned(changed)});
  return answer;
}

std::string text_of_answer(const ChangeAnswer& answer) {
  std::string text = answer.verdict + "\n";
  for (const std::string& reason : answer.reasons) text += reason + "\n";
  return text;
}

}  // namespace headwise
