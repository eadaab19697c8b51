#include "core/train/training_outcome.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/tensor/join.h"

namespace headwise {
namespace {

// Why a change did what it did: sentences for each change, made from the numbers of both runs.

// "97 %"; one decimal place between 99 and 100, so that a miss shows.
std::string percent(double share) {
  const double of_hundred = 100.0 * share;
  const bool near_all = of_hundred > 99.0 && of_hundred < 100.0;
  return near_all ? fmt::format("{:.1f} %", std::min(of_hundred, 99.9)) : fmt::format("{:.0f} %", of_hundred);
}

struct ComparedRuns {
  const TrainingOutcome& as_it_is;
  const TrainingOutcome& changed;
  std::string with;               // "with one wide head"
  bool learned, changed_learned;  // the task, also on held-out examples
};

// Differences of accuracy below this are not spoken of.
constexpr double clearly_better = 0.03;
using Sentences = std::vector<std::string>;

// Less of its weight than this is no habit of a head.
constexpr double least_habit = 0.3;

// Maps that differ by less are nearly the same.
constexpr double nearly_same = 0.15;

struct HabitWords {
  std::optional<double> TrainedHabits::*value;
  const char* looks;  // "head 0.3 looks …"
};

constexpr std::array habit_words{
    HabitWords{&TrainedHabits::previous_token, "at the token before"},
    HabitWords{&TrainedHabits::induction, "at what came after the same token before"},
    HabitWords{&TrainedHabits::same_token, "at the same token before"},
    HabitWords{&TrainedHabits::next_token, "at the next token"}};

struct StrongestHead {
  std::size_t layer = 0, head = 0;
  double value = 0.0;
  std::string name() const { return fmt::format("{}.{}", layer, head); }
};

// The head with most of a habit; in one layer only, if that is given.
StrongestHead strongest(const TrainingOutcome& of, const HabitWords& habit) {
  StrongestHead most;
  for (std::size_t layer = 0; layer < of.habits.size(); ++layer)
    for (std::size_t head = 0; head < of.habits[layer].size(); ++head)
      if (const double value = (of.habits[layer][head].*habit.value).value_or(0.0); value > most.value)
        most = {layer, head, value};
  return most;
}

// "Without the change, head 0.5 looks at the token before (0.45 of its weight) and head 1.2 at …"
std::string habits_of(const std::string& name, const TrainingOutcome& of) {
  std::string text;
  for (const HabitWords& habit : habit_words) {
    const StrongestHead most = strongest(of, habit);
    if (most.value < least_habit) continue;
    text += fmt::format("{} head {}{} {} ({:.2f}{})", text.empty() ? "" : ",", most.name(),
                        text.empty() ? " looks" : "", habit.looks, most.value,
                        text.empty() ? " of its weight" : "");
  }
  if (text.empty()) return fmt::format("{} no head has a habit that is measured here.", name);
  return name + text + ".";
}

std::string changed_name(const ComparedRuns& runs) {
  std::string name = runs.with;
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name + ",";
}

void add_habits(const ComparedRuns& runs, Sentences& sentences) {
  sentences.push_back(habits_of("Without the change,", runs.as_it_is));
  sentences.push_back(habits_of(changed_name(runs), runs.changed));
}

std::string parameters_of(const ComparedRuns& runs) {
  const Index before = runs.as_it_is.parameters, after = runs.changed.parameters;
  if (before == after) return fmt::format("Both have {} parameters.", before);
  return fmt::format("It has {} parameters {}, and {} without the change.", after, runs.with, before);
}

std::string layers_apart(const TrainingOutcome& of) {
  std::vector<std::string> layers;
  for (std::size_t layer = 0; layer < of.maps_apart.size(); ++layer)
    layers.push_back(fmt::format("{} of their weight in layer {}", percent(of.maps_apart[layer]), layer));
  return join(layers, ", ");
}

bool changed_is_worse(const ComparedRuns& runs) {
  return accuracy_of(runs.changed.held_out) < accuracy_of(runs.as_it_is.held_out) - clearly_better;
}

Sentences wide_head(const ComparedRuns& runs) {
  const TrainModelConfig& before = runs.as_it_is.settings.model;
  const Index width = head_width_of(runs.changed.settings.model);
  Sentences sentences{fmt::format(
      "{} {} heads of {} columns and one of {} have matrices of the same size, but not the same function: a "
      "head has one attention map, so with {} heads each query takes {} weighted means of the tokens in a "
      "layer, and with one head a single one, which it finds by comparing {} numbers instead of {}.",
      parameters_of(runs), before.heads, head_width_of(before), width, before.heads, before.heads, width,
      head_width_of(before))};
  sentences.push_back(fmt::format("Without the change, the maps of two heads differ on average by {}.",
                                  layers_apart(runs.as_it_is)));
  add_habits(runs, sentences);
  const bool all_same =
      std::ranges::all_of(runs.as_it_is.maps_apart, [](double apart) { return apart < nearly_same; });
  const bool worse = changed_is_worse(runs);
  if (runs.learned && runs.changed_learned && worse)
    sentences.push_back(
        "After as many steps, one map in each layer leaves some answers wrong here that several maps get "
        "right. Whether "
        "one map cannot do it, or learns it less reliably, shows with more steps and another seed.");
  if (runs.learned && runs.changed_learned && !worse)
    sentences.push_back(
        all_same ? "The heads do nearly the same here, so one map in each layer can stand for all of them."
                 : "This task can be solved with one map in each layer. The others divide the same work, or "
                   "do what the answer does not need.");
  if (runs.learned && !runs.changed_learned)
    sentences.push_back(
        "Within these steps one map in each layer was not enough: a query takes a single weighted mean "
        "there, in which "
        "what it needs from several places is mixed. More steps and another seed show whether it only takes "
        "longer.");
  if (!runs.learned && runs.changed_learned)
    sentences.push_back(
        "Here a few narrow comparisons were harder to learn than one wide one. How many numbers a head "
        "compares counts as well as how many heads there are.");
  return sentences;
}

Sentences fewer_heads(const ComparedRuns& runs) {
  const TrainModelConfig &before = runs.as_it_is.settings.model, &after = runs.changed.settings.model;
  Sentences sentences{fmt::format("{} Each layer has {} of {} attention maps, of heads with {} columns.",
                                  parameters_of(runs), after.heads, before.heads, head_width_of(after))};
  add_habits(runs, sentences);
  if (runs.learned && runs.changed_learned && !changed_is_worse(runs))
    sentences.push_back(
        fmt::format("The task needs no more than {} in a layer.", counted(after.heads, "head")));
  if (runs.learned && runs.changed_learned && changed_is_worse(runs))
    sentences.push_back(
        fmt::format("After as many steps, {} in a layer leave{} some answers wrong here that {} get right. "
                    "More steps show "
                    "whether that lasts.",
                    after.heads == 1 ? "one head" : fmt::format("{} heads", after.heads),
                    after.heads == 1 ? "s" : "", before.heads));
  return sentences;
}

Sentences frozen(const ComparedRuns& runs) {
  Sentences sentences;
  if (runs.as_it_is.habits.empty() || runs.as_it_is.habits[0].empty()) return sentences;
  const TrainedHabits& before = runs.as_it_is.habits[0][0];
  for (const HabitWords& habit : habit_words) {
    const double had = (before.*habit.value).value_or(0.0);
    if (had < least_habit) continue;
    StrongestHead other;
    for (std::size_t head = 1; head < runs.changed.habits[0].size(); ++head)
      if (const double value = (runs.changed.habits[0][head].*habit.value).value_or(0.0); value > other.value)
        other = {0, head, value};
    const double now = (runs.changed.habits[0][0].*habit.value).value_or(0.0);
    sentences.push_back(fmt::format(
        "Without the change, head 0.0 learns to look {} ({:.2f} of its weight). Frozen, it gives {:.2f}; {}.",
        habit.looks, had, now,
        other.value < least_habit
            ? "and no other head of its layer has the habit"
            : fmt::format("head {} has the habit with {:.2f}", other.name(), other.value)));
  }
  if (sentences.empty())
    sentences.push_back("Head 0.0 has no habit that is measured here, also when it is trained.");
  sentences.push_back(
      "A frozen head still takes part in every forward pass, so the others learn around what it happens to "
      "give.");
  return sentences;
}

Sentences equal(const ComparedRuns& runs) {
  const TrainingOutcome& of = runs.changed;
  const TrainModelConfig& model = of.settings.model;
  if (of.heads_apart == 0.0 && of.head_gradients_apart == 0.0)
    return {
        fmt::format("After {} steps the heads have the same numbers to the last bit, and the same gradients.",
                    of.steps),
        fmt::format(
            "Equal heads make equal maps and equal outputs, and equal columns of W_O hand each of them the "
            "same gradient back. Nothing tells them apart, so {} heads work as one, for ever.",
            model.heads),
        "What makes heads differ is that they begin at different random numbers."};
  Sentences causes;
  if (model.positions == TrainPositions::alibi) causes.push_back("ALiBi gives each head a different slope");
  if (model.dropout > 0.0) causes.push_back("dropout drops different weights in each head");
  if (!model.frozen_heads.empty()) causes.push_back("some heads are frozen");
  if (!model.out_projection)
    causes.push_back(
        "without W_O each head writes into other columns, and what follows treats columns differently");
  if (model.out_projection && !model.equal_out_projection)
    causes.push_back(
        "the columns of W_O are random, so each head writes something different and gets a different "
        "gradient");
  const bool rounding = causes.empty();
  if (rounding) causes.push_back("nothing in the model does, so these are rounding errors");
  return {fmt::format("After {} steps the heads have parted: their numbers differ by up to {} of the "
                      "largest, and their gradients by {}.",
                      of.steps, percent(of.heads_apart), percent(of.head_gradients_apart)),
          fmt::format("Something must treat the heads differently: {}.", join(causes, ", and "))};
}

Sentences fewer_keys(const ComparedRuns& runs) {
  const TrainModelConfig& after = runs.changed.settings.model;
  Sentences sentences{fmt::format(
      "{} {} query heads share a key and value head, so a cache of keys and values is {:.3g} times as large.",
      parameters_of(runs), after.heads / after.kv_heads,
      static_cast<double>(after.kv_heads) / static_cast<double>(after.heads))};
  sentences.push_back(
      fmt::format("Heads that share keys still have queries, and so maps, of their own: two maps differ on "
                  "average by {} {}, and by {} without the change.",
                  layers_apart(runs.changed), runs.with, layers_apart(runs.as_it_is)));
  add_habits(runs, sentences);
  return sentences;
}

Sentences scale(const ComparedRuns& runs) {
  const double root = std::sqrt(static_cast<double>(head_width_of(runs.changed.settings.model)));
  Sentences sentences{
      fmt::format("Scores are √{} = {:.2f} times as large in the beginning. The larger the scores, the "
                  "nearer the weights are to 0 and 1, where the softmax passes hardly any gradient on.",
                  head_width_of(runs.changed.settings.model), root)};
  if (runs.learned && runs.changed_learned)
    sentences.push_back(
        fmt::format("Training can make up for a factor of {:.2f} with smaller W_Q and W_K. Wider heads "
                    "need the scale more, for the factor grows with their width.",
                    root));
  add_habits(runs, sentences);
  return sentences;
}

std::string bound_of_scores(const TrainModelConfig& model) {
  const auto width = static_cast<double>(head_width_of(model));
  return fmt::format(
      "Each head's rows of q and k are √{0} = {1:.2f} long, whatever W_Q and W_K become, so no score "
      "passes {2:.2f}{3}.",
      head_width_of(model), std::sqrt(width), model.scaled ? std::sqrt(width) : width,
      model.scaled ? " once it is divided by √D" : "");
}

Sentences length_of_rows(const ComparedRuns& runs) {
  Sentences sentences{bound_of_scores(runs.changed.settings.model)};
  if (runs.learned && !runs.changed_learned)
    sentences.push_back(
        "Scores this small may not put nearly all of a head's weight on one key among many: most models with "
        "such a norm learn a weight for each column, or a scale.");
  add_habits(runs, sentences);
  return sentences;
}

Sentences no_output_matrix(const ComparedRuns& runs) {
  const TrainModelConfig& model = runs.changed.settings.model;
  Sentences sentences{
      parameters_of(runs),
      fmt::format("Each head adds its {} numbers to columns of its own of the model's {}. W_V still chooses "
                  "what it writes there, and what follows reads all columns.",
                  head_width_of(model), model.width)};
  if (runs.learned && runs.changed_learned) sentences.push_back("This task can be learned without W_O.");
  add_habits(runs, sentences);
  return sentences;
}

Sentences positions(const ComparedRuns& runs) {
  const TrainModelConfig& model = runs.changed.settings.model;
  Sentences sentences;
  if (model.positions == TrainPositions::none)
    sentences.push_back(model.causal
                            ? "Without positions only the causal mask tells the order: the first token sees "
                              "one key, the next two, and so on."
                            : "Without positions and without a mask, another order of the tokens only "
                              "reorders the result: the model cannot know where a token stands.");
  const StrongestHead before = strongest(runs.as_it_is, habit_words[0]),
                      after = strongest(runs.changed, habit_words[0]);
  sentences.push_back(
      fmt::format("Looking at the token before takes positions. The head that does so most gives it {:.2f} "
                  "of its weight {}, and "
                  "{:.2f} without the change.",
                  after.value, runs.with, before.value));
  add_habits(runs, sentences);
  return sentences;
}

Sentences causal_off(const ComparedRuns& runs) {
  const TrainingOutcome& of = runs.changed;
  if (!of.held_out_causal) return {};
  const double seen = accuracy_of(of.held_out), masked = accuracy_of(*of.held_out_causal);
  Sentences sentences{fmt::format(
      "{} of the answers stand at the next position, where every token can read them without the mask.",
      percent(of.next_answers))};
  const StrongestHead next = strongest(of, habit_words[3]);
  if (next.value >= least_habit)
    sentences.push_back(
        fmt::format("Head {} looks at the next token, with {:.2f} of its weight.", next.name(), next.value));
  sentences.push_back(
      fmt::format("With the causal mask on, the same model is right in {} of the answers; without it in {}, "
                  "and always saying the most frequent answer is right in {}.",
                  percent(masked), percent(seen), percent(of.guessed)));
  const double left = known_with_mask(of);
  if (seen - of.guessed < least_known)
    sentences.push_back("It knows little more than a guess either way.");
  else if (left < little_left)
    sentences.push_back(of.next_answers > 0.5
                            ? "It has learned to read the answer, and next to nothing of the task."
                            : "What it has learned needs the tokens that follow.");
  else if (left < 0.75)
    sentences.push_back("A part of what it has learned needs the tokens that follow.");
  else
    sentences.push_back("What it has learned hardly needs the tokens that follow.");
  return sentences;
}

Sentences dropped(const ComparedRuns& runs) {
  Sentences sentences{
      fmt::format("In training each weight is dropped with a probability of {}, and the others are divided "
                  "by {}. A head whose answer hangs on one token loses it in as many of the queries, unless "
                  "another head looks there too.",
                  percent(runs.changed.settings.model.dropout), 1.0 - runs.changed.settings.model.dropout)};
  sentences.push_back(fmt::format(
      "The loss of the last batches is {:.3g} with it, and {:.3g} without the change; on held-out "
      "examples, where nothing is dropped, {:.3g} and {:.3g}.",
      runs.changed.last_loss, runs.as_it_is.last_loss, runs.changed.held_out.loss, runs.as_it_is.held_out.loss));
  add_habits(runs, sentences);
  return sentences;
}

Sentences learning_rate(const ComparedRuns& runs) {
  const TrainingOutcome& of = runs.changed;
  const double guessing = std::log(static_cast<double>(of.settings.model.vocabulary));
  Sentences sentences{fmt::format(
      "The loss begins at {:.3g}, is {:.3g} at its highest and {:.3g} in the last batches; a guess among all "
      "{} tokens costs {:.3g}. Without the change, the highest is {:.3g} and the last {:.3g}.",
      of.first_loss, of.highest_loss, of.last_loss, of.settings.model.vocabulary, guessing,
      runs.as_it_is.highest_loss, runs.as_it_is.last_loss)};
  if (of.failure) return sentences;
  const bool rose = of.highest_loss > 1.2 * of.first_loss;
  if (!runs.changed_learned && !rose && !runs.learned)
    sentences.push_back("Neither has learned the task yet: more steps show which learning rate can.");
  else if (!runs.changed_learned)
    sentences.push_back(rose ? "At its highest the loss is well above its start: the steps are so long that "
                               "they go past the minimum."
                             : "The steps are too long to settle anywhere low.");
  else if (rose)
    sentences.push_back(
        "The loss rose well above its start and then fell; with another seed it may not fall.");
  return sentences;
}

Sentences length_and_rate(const ComparedRuns& runs) {
  Sentences sentences = learning_rate(runs);
  sentences.insert(sentences.begin(), bound_of_scores(runs.changed.settings.model));
  return sentences;
}

// In the order of TrainingChange.
constexpr Sentences (*reasons_of_change[])(const ComparedRuns& runs){
    wide_head,       fewer_heads,      fewer_heads, frozen,    equal,
    equal,           fewer_keys,       fewer_keys,  scale,     length_of_rows,
    length_and_rate, no_output_matrix, positions,   positions, positions,
    positions,       positions,        causal_off,  dropped,   learning_rate};
static_assert(std::size(reasons_of_change) == static_cast<std::size_t>(TrainingChange::high_learning_rate) + 1);

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
    answer.reasons = reasons_of_change[static_cast<std::size_t>(change)](
        {as_it_is, changed, with, has_learned(as_it_is), has_learned(changed)});
  return answer;
}

std::string text_of_answer(const ChangeAnswer& answer) {
  std::string text = answer.verdict + "\n";
  for (const std::string& reason : answer.reasons) text += reason + "\n";
  return text;
}

}  // namespace headwise
