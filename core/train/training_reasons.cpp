#include "core/train/training_reasons.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "core/tensor/join.h"

namespace headwise {
namespace reasons {

std::string percent(double share) {
  const double of_hundred = 100.0 * share;
  const bool near_all = of_hundred > 99.0 && of_hundred < 100.0;
  return near_all ? fmt::format("{:.1f} %", std::min(of_hundred, 99.9)) : fmt::format("{:.0f} %", of_hundred);
}

namespace {

template <class Counts>
StrongestHead strongest_that(const TrainingOutcome& of, const HabitWords& habit, const Counts& counts) {
  StrongestHead most;
  for (std::size_t layer = 0; layer < of.habits.size(); ++layer)
    for (std::size_t head = 0; head < of.habits[layer].size(); ++head)
      if (const double value = (of.habits[layer][head].*habit.value).value_or(0.0);
          value > most.value && counts(layer, head))
        most = {layer, head, value};
  return most;
}

}  // namespace

StrongestHead strongest(const TrainingOutcome& of, const HabitWords& habit) {
  return strongest_that(of, habit, [](std::size_t, std::size_t) { return true; });
}

bool has_habit(const TrainingOutcome& of, const HabitWords& habit, std::size_t layer, std::size_t head) {
  const bool known = layer < of.habits_before.size() && head < of.habits_before[layer].size();
  return is_habit(of.habits[layer][head].*habit.value,
                  known ? of.habits_before[layer][head].*habit.value : std::nullopt);
}

StrongestHead strongest_with(const TrainingOutcome& of, const HabitWords& habit) {
  return strongest_that(
      of, habit, [&](std::size_t layer, std::size_t head) { return has_habit(of, habit, layer, head); });
}

namespace {

// "Without the change, head 0.5 looks at the token before (0.45 of its weight) and head 1.2 at …"
std::string habits_of(const std::string& name, const TrainingOutcome& of) {
  std::string text;
  for (const HabitWords& habit : habit_words) {
    const StrongestHead most = strongest_with(of, habit);
    if (most.value == 0.0) continue;
    text += fmt::format("{} head {}{} {} ({:.2f}{})", text.empty() ? "" : ",", most.name(),
                        text.empty() ? " looks" : "", habit.looks, most.value,
                        text.empty() ? " of its weight" : "");
  }
  if (text.empty()) return fmt::format("{} no head has a habit that is measured here.", name);
  return name + text + ".";
}

}  // namespace

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

namespace {

// The sink has clearly taken from a habit of which less than this share is left.
constexpr double less_weight = 0.75;
// A head that is open by less than this is as good as silent.
constexpr double nearly_closed = 0.1;
// Heads whose largest learned bias is named.
constexpr std::size_t named_biases = 3;

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

// "0.31 on average, and most with 0.62 in head 1.3"
std::string mean_and_most(const TrainingOutcome& of, std::optional<double> TrainedHabits::*habit) {
  double sum = 0.0;
  std::size_t heads = 0;
  for (const auto& layer : of.habits)
    for (const TrainedHabits& head : layer) {
      sum += (head.*habit).value_or(0.0);
      ++heads;
    }
  const StrongestHead most = strongest(of, {habit, ""});
  return fmt::format("{:.2f} on average, and the most, {:.2f}, in head {}",
                     sum / static_cast<double>(std::max<std::size_t>(heads, 1)), most.value, most.name());
}

// What one of a query's scores gets if all are equal, the mean over the queries from `first` on;
// `more`: scores that are no key's.
double if_equal(const TrainingOutcome& of, Index first, Index more) {
  const PositionWindow seen = seen_by_token(of.settings.model);
  double sum = 0.0;
  for (Index query = first; query < of.length; ++query)
    sum += 1.0 / static_cast<double>(std::min(seen.behind, query) + 1 +
                                     std::min(seen.ahead, of.length - 1 - query) + more);
  return sum / static_cast<double>(std::max<Index>(of.length - first, 1));
}

// Whether a head rests there: its weight is clearly above what equal scores would give.
bool rests(double weight, double equal_weight) {
  return weight >= std::max(habit_from, 2.0 * equal_weight);
}

Sentences rest(const ComparedRuns& runs) {
  const auto most = [](const TrainingOutcome& of, std::optional<double> TrainedHabits::*habit) {
    return strongest(of, {habit, ""});
  };
  const double alike = if_equal(runs.as_it_is, 1, 0), begun = if_equal(runs.changed, 0, 1);
  const double before = most(runs.as_it_is, &TrainedHabits::first_token).value,
               after = most(runs.changed, &TrainedHabits::first_token).value;
  const StrongestHead sink = most(runs.changed, &TrainedHabits::sink);
  Sentences sentences{
      fmt::format(
          "A head need not spend all of its weight on tokens: its sink takes {}. If all scores and the "
          "sink were equal, it would take {:.2f}.",
          mean_and_most(runs.changed, &TrainedHabits::sink), begun),
      rests(sink.value, begun) ? fmt::format("Head {} has learned to rest there.", sink.name())
      : sink.value < begun     ? "The heads have learned to leave it: each has something to look at here."
                               : "No head has learned to rest there."};
  sentences.push_back(
      fmt::format("The first token gets {} {}, and {} without the change; {:.2f} if all scores "
                  "were equal.",
                  mean_and_most(runs.changed, &TrainedHabits::first_token), runs.with,
                  mean_and_most(runs.as_it_is, &TrainedHabits::first_token), alike));
  sentences.emplace_back(!rests(before, alike)
                             ? "Without the change no head rests on the first token in this task, so a sink "
                               "had nothing to take from it."
                         : !rests(after, alike) ? "No head rests on the first token any more."
                         : after < less_weight * before
                             ? "The head that rests most on the first token does so less than before."
                             : "A head goes on resting on the first token: the task may need that token.");
  add_habits(runs, sentences);
  return sentences;
}

Sentences gates(const ComparedRuns& runs) {
  Sentences sentences{parameters_of(runs)};
  StrongestHead open, closed, varied;
  closed.value = 1.0;
  for (std::size_t layer = 0; layer < runs.changed.gates.size(); ++layer)
    for (std::size_t head = 0; head < runs.changed.gates[layer].size(); ++head) {
      const HeadGate& gate = runs.changed.gates[layer][head];
      if (gate.mean > open.value) open = {layer, head, gate.mean};
      if (gate.mean < closed.value) closed = {layer, head, gate.mean};
      if (gate.most - gate.least > varied.value) varied = {layer, head, gate.most - gate.least};
    }
  if (runs.changed.gates.empty()) return sentences;
  const HeadGate& most = runs.changed.gates[varied.layer][varied.head];
  sentences.push_back(
      fmt::format("The gate lets {:.2f} of head {} through on average, and {:.2f} of head {}; it begins at "
                  "about 0.5, and "
                  "without a gate all goes through.",
                  open.value, open.name(), closed.value, closed.name()));
  sentences.push_back(
      fmt::format("That of head {} depends most on the token: the mean of its columns is {:.2f} at one and "
                  "{:.2f} at another.",
                  varied.name(), most.least, most.most));
  sentences.push_back(
      most.least < nearly_closed
          ? "So a token can silence a head, whatever the head has found."
          : "No token silences a head here: the gate makes single numbers smaller or larger.");
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

// "the token before", "the token itself", "the token 5 places after"
std::string token_at(Index distance) {
  if (distance == 0) return "the token itself";
  if (distance == 1) return "the token before";
  return fmt::format("the token {} {}", counted(std::abs(distance), "place"),
                     distance > 0 ? "before" : "after");
}

Sentences learned_distances(const ComparedRuns& runs) {
  Sentences sentences = positions(runs);
  const std::vector<HeadBias>& biases = runs.changed.biases;
  std::vector<std::size_t> heads(biases.size());
  std::iota(heads.begin(), heads.end(), std::size_t{0});
  std::ranges::stable_sort(heads, std::greater{}, [&](std::size_t head) { return biases[head].above; });
  heads.resize(std::min(heads.size(), named_biases));
  if (heads.empty()) return sentences;
  std::vector<std::string> names;
  for (const std::size_t head : heads)
    names.push_back(
        fmt::format("head {} for {} (+{:.2f})", head, token_at(biases[head].distance), biases[head].above));
  const double most = biases[heads.front()].above;
  sentences.insert(
      sentences.begin(),
      fmt::format(
          "All layers share the biases. The bias furthest above the head's mean is that of {}. A score "
          "that is {:.2f} larger has {:.1f} times the weight.",
          join(names, ", then "), most, std::exp(most)));
  return sentences;
}

Sentences causal_off(const ComparedRuns& runs) {
  const TrainingOutcome& of = runs.changed;
  if (!of.held_out_causal) return {};
  const double seen = accuracy_of(of.held_out), masked = accuracy_of(*of.held_out_causal);
  Sentences sentences{fmt::format(
      "{} of the answers stand at the next position, where every token can read them without the mask.",
      percent(of.next_answers))};
  const StrongestHead next = strongest_with(of, habit_words[3]);
  if (next.value > 0.0)
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

Sentences nearby(const ComparedRuns& runs) {
  const TrainModelConfig& model = runs.changed.settings.model;
  const Index behind = seen_by_token(model).behind, reach = behind * model.layers;
  Sentences sentences{fmt::format(
      "In each layer a token sees {} before it. What one layer has gathered, the next one passes on: {} "
      "reach {} "
      "back, in sequences of {}.",
      counted(behind, "token"), model.layers == 1 ? "1 layer can" : fmt::format("{} layers can", model.layers),
      counted(reach, "place"), counted(runs.changed.length, "token"))};
  if (reach < runs.changed.length - 1 && runs.learned && !runs.changed_learned)
    sentences.push_back("Nothing that stands further back can change an answer, however long it trains.");
  if (runs.learned && runs.changed_learned) sentences.push_back("For this task that is enough.");
  add_habits(runs, sentences);
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
  sentences.push_back(fmt::format("What this rate does without the norm, the change “{}” shows.",
                                  training_change_entry(TrainingChange::high_learning_rate).label));
  return sentences;
}

// In the order of TrainingChange.
constexpr Sentences (*reasons_of_change[])(const ComparedRuns& runs){
    wide_head,    fewer_heads, fewer_heads, frozen,    equal,          equal,
    fewer_keys,   fewer_keys,  latent_keys, scale,     length_of_rows, length_and_rate,
    rest,         causal_off,  nearby,      dropped,   gates,          no_output_matrix,
    positions,    positions,   positions,   positions, positions,      learned_distances,
    learning_rate};
static_assert(std::size(reasons_of_change) == static_cast<std::size_t>(TrainingChange::high_learning_rate) + 1);

}  // namespace
}  // namespace reasons

Sentences reasons_of(TrainingChange change, const ComparedRuns& runs) {
  return reasons::reasons_of_change[static_cast<std::size_t>(change)](runs);
}

}  // namespace headwise
