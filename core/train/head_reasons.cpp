// What changes of the heads themselves did: their number, their width, what they share and how they begin.
#include "core/train/training_reasons.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/tensor/join.h"

namespace headwise {
namespace reasons {

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
    if (!has_habit(runs.as_it_is, habit, 0, 0)) continue;
    StrongestHead other;
    for (std::size_t head = 1; head < runs.changed.habits[0].size(); ++head)
      if (const double value = (runs.changed.habits[0][head].*habit.value).value_or(0.0);
          value > other.value && has_habit(runs.changed, habit, 0, head))
        other = {0, head, value};
    const double now = (runs.changed.habits[0][0].*habit.value).value_or(0.0);
    sentences.push_back(fmt::format(
        "Without the change, head 0.0 learns to look {} ({:.2f} of its weight). Frozen, it gives {:.2f}; {}.",
        habit.looks, had, now,
        other.value == 0.0 ? "and no other head of its layer has the habit"
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

Sentences latent_keys(const ComparedRuns& runs) {
  const TrainModelConfig &before = runs.as_it_is.settings.model, &after = runs.changed.settings.model;
  const Index C = *after.latent_width, R = shared_key_width_of(after);
  const Index rows = 2 * before.kv_heads * head_width_of(before);
  Sentences sentences{
      fmt::format("{} A cache keeps {} numbers a token in each layer, a latent of {} and {} columns that the "
                  "keys of all heads share. Without the change it keeps {}, the keys and values of all "
                  "heads: it is now {:.3g} times as large.",
                  parameters_of(runs), C + R, C, R, rows,
                  static_cast<double>(C + R) / static_cast<double>(rows)),
      fmt::format("Each head still has keys and values of its own, but all of them are made of the same {} "
                  "numbers{}. Two maps differ on average by {} {}, and by {} without the change.",
                  C + R,
                  after.positions == TrainPositions::rotary
                      ? fmt::format(", and only the {} shared columns are rotated by positions", R)
                      : "",
                  layers_apart(runs.changed), runs.with, layers_apart(runs.as_it_is))};
  if (runs.learned && runs.changed_learned && !changed_is_worse(runs))
    sentences.push_back(fmt::format("For this task {} numbers a token are enough.", C + R));
  if (runs.learned && !runs.changed_learned)
    sentences.push_back(
        "More steps, and wider latents, would show whether these are too narrow for this task or only learn "
        "more slowly.");
  add_habits(runs, sentences);
  return sentences;
}

}  // namespace reasons
}  // namespace headwise
