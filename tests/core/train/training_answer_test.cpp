// What is said of a change to a training: each sentence as the numbers of both runs have it.
#include "core/train/training_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/training_changes.h"
#include "tests/checks.h"
#include "tests/core/train/small_training.h"

namespace headwise::test {
namespace {

// A run of induction that learned at a step, with a clear head for each of its two jobs.
TrainingOutcome learned_run(Index at) {
  TrainingOutcome of;
  of.settings = usual_settings(named_task("induction"));
  of.parameters = 106240;
  of.steps = 1000;
  of.length = 32;
  of.first_loss = of.highest_loss = 3.6;
  of.last_loss = 0.01;
  of.learned_at = at;
  of.held_out = {.loss = 0.01, .counted = 1000, .correct = 998};
  of.guessed = 0.04;
  of.next_answers = 0.95;
  const auto heads = static_cast<std::size_t>(of.settings.model.heads);
  of.habits.assign(2, std::vector<TrainedHabits>(heads, {0.1, 0.1, 0.1, 0.1, std::nullopt}));
  of.habits[0][3].previous_token = 0.9;
  of.habits[1][2].induction = 0.97;
  of.maps_apart = {0.4, 0.3};
  of.heads_apart = 1.5;
  of.head_gradients_apart = 1.1;
  return of;
}

TrainingOutcome lost_run() {
  TrainingOutcome of = learned_run(0);
  of.learned_at.reset();
  of.last_loss = 3.1;
  of.held_out = {.loss = 3.1, .counted = 1000, .correct = 110};
  for (auto& layer : of.habits)
    for (TrainedHabits& head : layer) head = {0.1, 0.1, 0.1, 0.1, std::nullopt};
  return of;
}

TrainingOutcome changed_run(TrainingOutcome of, TrainingChange change) {
  of.settings = *changed_settings(of.settings, change);
  const auto heads = static_cast<std::size_t>(of.settings.model.heads);
  for (auto& layer : of.habits) {
    if (heads < layer.size())
      layer[0] = *std::ranges::max_element(layer, {}, [](const TrainedHabits& habits) {
        return std::max(*habits.previous_token, *habits.induction);
      });
    layer.resize(heads);
  }
  return of;
}

std::string said(TrainingChange change, const TrainingOutcome& as_it_is, const TrainingOutcome& changed) {
  return text_of_answer(change_answer(change, as_it_is, changed));
}

void says(const std::string& text, const std::string& part) {
  CHECK_CONTAINS(text, part);
}
void silent(const std::string& text, const std::string& part) {
  CHECK_LACKS(text, part);
}

}  // namespace

TEST_CASE("fewer heads are said to be enough only if they are as right") {
  const TrainingOutcome whole = learned_run(90);
  TrainingOutcome fewer = learned_run(120);
  says(said(TrainingChange::half_the_heads, whole, changed_run(fewer, TrainingChange::half_the_heads)),
       "needs no more than 4 heads");
  fewer.held_out.correct = 700;
  const std::string text =
      said(TrainingChange::half_the_heads, whole, changed_run(fewer, TrainingChange::half_the_heads));
  silent(text, "needs no more than");
  says(text, "4 heads in a layer leave some answers wrong");
}

TEST_CASE("a head is said to look somewhere only if it has come to look there") {
  const TrainingOutcome whole = learned_run(90);
  TrainingOutcome changed = changed_run(whole, TrainingChange::half_the_heads);
  changed.habits_before = changed.habits;
  const TrainingChange change = TrainingChange::half_the_heads;
  says(said(change, whole, changed), "no head has a habit that is measured here");
  for (auto& layer : changed.habits_before)
    for (TrainedHabits& head : layer) head = {0.1, 0.1, 0.1, 0.1, std::nullopt};
  says(said(change, whole, changed), "looks at the token before (0.90 of its weight)");
}

TEST_CASE("a verdict says which run learned, when, and how well, as the numbers have it") {
  const TrainingChange wide = TrainingChange::one_wide_head;
  const auto verdict = [&](const TrainingOutcome& a, const TrainingOutcome& b) {
    return change_answer(wide, a, changed_run(b, wide)).verdict;
  };
  says(verdict(learned_run(100), learned_run(110)), "with one wide head about as soon");
  says(verdict(learned_run(100), learned_run(60)), "with one wide head sooner");
  says(verdict(learned_run(100), learned_run(60)),
       "at step 100 without the change, and at step 60 with one wide head");
  says(verdict(learned_run(100), learned_run(200)), "with one wide head later");
  says(verdict(learned_run(100), learned_run(60)), "99.8 % of the answers");
  says(verdict(learned_run(100), lost_run()),
       "Without the change the task is learned, and with one wide head it is not");
  says(verdict(learned_run(100), lost_run()), "99.8 % are right, against 11 %");
  says(verdict(lost_run(), learned_run(100)),
       "With one wide head the task is learned, and without the change it is not");
  says(verdict(lost_run(), lost_run()),
       "Neither loss is below a fifth of its start after 1000 steps, and the two are about as good");
  TrainingOutcome better = lost_run();
  better.held_out.correct = 400;
  says(verdict(lost_run(), better), "with one wide head it is better");
  says(verdict(better, lost_run()), "with one wide head it is worse");
  TrainingOutcome early = lost_run();
  early.steps = 50;
  says(verdict(learned_run(100), early), "with one wide head it has taken 50 steps only");
  early.steps = 0;
  CHECK(change_answer(wide, learned_run(100), changed_run(early, wide)).reasons.empty());
  TrainingOutcome failed = lost_run();
  failed.failure = TrainingFailure{12, "loss", "step 12: the loss has exploded"};
  says(verdict(learned_run(100), failed),
       "The run with one wide head stopped: step 12: the loss has exploded");
}

TEST_CASE("a run whose held-out loss stays high has learned by heart, and its verdict says so") {
  TrainingOutcome heart = learned_run(200);
  heart.held_out = {.loss = 3.5, .counted = 1000, .correct = 570};
  const TrainingChange change = TrainingChange::dropout;
  says(said(change, learned_run(300), changed_run(heart, change)),
       "with dropout 0.2 the examples are learned by heart");
  says(said(change, heart, changed_run(learned_run(300), change)),
       "without the change the examples are learned by heart");
  says(said(change, heart, changed_run(heart, change)),
       "Each of the two models learns the examples of its batches by heart");
  says(said(change, heart, changed_run(lost_run(), change)),
       "Without the change, the model learns the examples of its batches by heart");
}

TEST_CASE(
    "one wide head against eight: what is said of the maps follows from who learned and how the maps "
    "differ") {
  const TrainingChange wide = TrainingChange::one_wide_head;
  TrainingOutcome alike = learned_run(100);
  alike.maps_apart = {0.02, 0.03};
  const std::string both = said(wide, learned_run(100), changed_run(learned_run(80), wide)),
                    same = said(wide, alike, changed_run(learned_run(80), wide)),
                    only_many = said(wide, learned_run(100), changed_run(lost_run(), wide)),
                    only_wide = said(wide, lost_run(), changed_run(learned_run(80), wide)),
                    none = said(wide, lost_run(), changed_run(lost_run(), wide));
  for (const std::string& text : {both, same, only_many, only_wide, none}) {
    says(text, "Both have 106240 parameters");
    says(text, "with 8 heads each query takes 8 weighted means");
    says(text, "comparing 64 numbers instead of 8");
  }
  says(both, "can be solved with one map in each layer");
  says(both, "differ on average by 40 % of their weight in layer 0, 30 % of their weight in layer 1");
  says(both,
       "Without the change, head 0.3 looks at the token before (0.90 of its weight), head 1.2 at what came "
       "after");
  says(both, "With one wide head, head 0.0 looks at the token before (0.90 of its weight), head 1.0 at what");
  says(same, "The heads do nearly the same here");
  TrainingOutcome less = learned_run(80);
  less.held_out.correct = 860;
  const std::string well = said(wide, learned_run(100), changed_run(less, wide));
  says(well, "Both learn it, with one wide head about as soon, but less well");
  says(well, "leaves some answers wrong here that several maps get right");
  silent(well, "can be solved with one map");
  says(only_many, "one map in each layer was not enough");
  says(only_many, "With one wide head, no head has a habit that is measured here");
  says(only_wide, "harder to learn than one wide one");
  for (const char* part : {"was not enough", "can be solved", "do nearly the same", "harder to learn"})
    silent(none, part);
}

TEST_CASE("heads that begin equal stay equal or have parted, as their numbers and gradients say") {
  const TrainingChange change = TrainingChange::equal_heads;
  TrainingOutcome equal = changed_run(learned_run(120), change);
  equal.heads_apart = equal.head_gradients_apart = 0.0;
  says(said(change, learned_run(100), equal), "8 heads work as one, for ever");
  equal.heads_apart = 0.25;
  says(said(change, learned_run(100), equal), "differ by up to 25 % of the largest");
  says(said(change, learned_run(100), equal), "these are rounding errors");
  equal.settings.model.dropout = 0.1;
  equal.settings.model.positions = TrainPositions::alibi;
  says(said(change, learned_run(100), equal),
       "ALiBi gives each head a different slope, and dropout drops different weights in each head");
  silent(said(change, learned_run(100), equal), "rounding errors");
  TrainingOutcome apart = changed_run(learned_run(120), TrainingChange::equal_but_output);
  says(said(TrainingChange::equal_but_output, learned_run(100), apart), "the columns of W_O are random");
}

TEST_CASE("without the causal mask, what is left with the mask on says whether the model cheats") {
  const TrainingChange change = TrainingChange::no_causal_mask;
  TrainingOutcome cheat = changed_run(learned_run(30), change);
  cheat.habits[0][4].next_token = 0.95;
  const auto with_mask = [&](Index correct) {
    cheat.held_out_causal = BatchResult{.loss = 1.0, .counted = 1000, .correct = correct};
    return said(change, learned_run(100), cheat);
  };
  says(with_mask(50), "It has learned to read the answer, and next to nothing of the task");
  says(with_mask(50), "the same model is right in 5 % of the answers; without it in 99.8 %");
  says(with_mask(50), "Head 0.4 looks at the next token, with 0.95 of its weight");
  says(with_mask(50),
       "Without the causal mask the loss falls below a fifth of its start at step 30, but not because");
  says(with_mask(600), "Both learn it");
  says(with_mask(600), "A part of what it has learned needs the tokens that follow");
  says(with_mask(990), "hardly needs the tokens that follow");
  silent(with_mask(990), "learned to read the answer");
  cheat.next_answers = 0.0;
  says(with_mask(50), "What it has learned needs the tokens that follow");
  cheat.held_out.correct = 60;
  says(with_mask(50), "little more than a guess");
}

TEST_CASE("a frozen head's work is said to be taken over only if another head of its layer has the habit") {
  const TrainingChange change = TrainingChange::frozen_head;
  TrainingOutcome before = learned_run(100), after = changed_run(learned_run(100), change);
  says(said(change, before, after), "Head 0.0 has no habit that is measured here");
  before.habits[0][0].previous_token = 0.8;
  says(said(change, before, after), "Frozen, it gives 0.10; head 0.3 has the habit with 0.90");
  after.habits[0][3].previous_token = 0.1;
  says(said(change, before, after), "no other head of its layer has the habit");
}

TEST_CASE("of QK-norm the bound of the scores is told, and beside a high learning rate its losses") {
  const std::string norm =
      said(TrainingChange::qk_norm, learned_run(100), changed_run(lost_run(), TrainingChange::qk_norm));
  const Index width = head_width_of(learned_run(100).settings.model);
  says(norm, fmt::format("no score passes {:.2f} once it is divided", std::sqrt(static_cast<double>(width))));
  says(norm, "learn a weight for each column");
  const TrainingChange both = TrainingChange::qk_norm_high_learning_rate;
  TrainingOutcome high = changed_run(lost_run(), both);
  high.highest_loss = 9.0;
  says(said(both, learned_run(100), high), "no score passes");
  says(said(both, learned_run(100), high), "is 9 at its highest");
  says(said(both, learned_run(100), high), "without the norm, the change “learning rate × 30” shows");
}

TEST_CASE("of a sink it is told whether heads rest there, and what is left for the first token") {
  const TrainingChange change = TrainingChange::sink;
  TrainingOutcome before = learned_run(100), after = changed_run(learned_run(90), change);
  const auto set_sinks = [&](double share) {
    for (auto& layer : after.habits)
      for (TrainedHabits& head : layer) head.sink = share;
  };
  set_sinks(0.05);
  says(said(change, before, after), "its sink takes 0.05 on average, and the most, 0.05, in head 0.0");
  says(said(change, before, after),
       "If all scores and the sink were equal, it would take 0.10.");  // 1/2 + 1/3 + … + 1/33 over 32
  says(said(change, before, after), "have learned to leave it");
  set_sinks(0.2);
  says(said(change, before, after), "No head has learned to rest there");
  after.habits[1][5].sink = 0.6;
  says(said(change, before, after), "0.23 on average, and the most, 0.60, in head 1.5");
  says(said(change, before, after), "Head 1.5 has learned to rest there");
  says(said(change, before, after), "no head rests on the first token in this task");
  before.habits[1][5].first_token = 0.9;
  says(said(change, before, after),
       "0.15 on average, and the most, 0.90, in head 1.5 without the change; 0.10 if all scores were equal");
  says(said(change, before, after), "No head rests on the first token any more");
  after.habits[1][5].first_token = 0.5;
  says(said(change, before, after), "does so less than before");
  after.habits[1][5].first_token = 0.8;
  says(said(change, before, after), "A head goes on resting on the first token");
  // Of three tokens the first gets 5/12 anyway.
  before.length = after.length = 3;
  before.habits[1][5].first_token = 0.6;
  says(said(change, before, after), "no head rests on the first token in this task");
}

TEST_CASE("of a window it is told how far back the layers reach together") {
  const TrainingChange change = TrainingChange::sliding_window;
  TrainingOutcome after = changed_run(learned_run(90), change);
  says(
      said(change, learned_run(100), after),
      "In each layer a token sees 3 tokens before it. What one layer has gathered, the next one passes on: 2 "
      "layers can reach 6 places back, in sequences of 32 tokens.");
  says(said(change, learned_run(100), after), "For this task that is enough.");
  TrainingOutcome lost = changed_run(lost_run(), change);
  says(said(change, learned_run(100), lost), "Nothing that stands further back can change an answer");
  after.settings.model.layers = lost.settings.model.layers = 1;
  says(said(change, learned_run(100), after), "1 layer can reach 3 places back");
  lost.length = 4;
  CHECK(said(change, learned_run(100), lost).find("Nothing that stands further back") == std::string::npos);
}

TEST_CASE("of latents it is told what a cache keeps, and what heads share") {
  const TrainingChange change = TrainingChange::latents;
  TrainingOutcome after = changed_run(learned_run(90), change);
  CHECK(after.settings.model.latent_width == 16);
  says(said(change, learned_run(100), after),
       "A cache keeps 18 numbers a token in each layer, a latent of 16 and 2 columns that the keys of all "
       "heads share. Without the change it keeps 128, the keys and values of all heads: it is now 0.141 "
       "times as large.");
  says(said(change, learned_run(100), after), "all of them are made of the same 18 numbers. Two maps differ");
  says(said(change, learned_run(100), after), "For this task 18 numbers a token are enough.");
  after.settings.model.positions = TrainPositions::rotary;
  says(said(change, learned_run(100), after), "and only the 2 shared columns are rotated by positions.");
  says(said(change, learned_run(100), changed_run(lost_run(), change)), "too narrow for this task");
  TrainingSettings grouped = learned_run(0).settings;
  grouped.model.kv_heads = 4;
  CHECK_FALSE(changed_settings(grouped, change));
  CHECK_FALSE(changed_settings(after.settings, change));
  CHECK_FALSE(changed_settings(after.settings, TrainingChange::qk_norm));
  CHECK(changed_settings(after.settings, TrainingChange::half_the_heads));
}

TEST_CASE("of an output gate it is told which head it closes, and whether a token silences one") {
  const TrainingChange change = TrainingChange::output_gate;
  TrainingOutcome after = changed_run(learned_run(90), change);
  after.gates.assign(2, std::vector<HeadGate>(8, {.mean = 0.5, .least = 0.4, .most = 0.6}));
  after.gates[0][3] = {.mean = 0.8, .least = 0.3, .most = 0.9};
  after.gates[1][1] = {.mean = 0.2, .least = 0.15, .most = 0.3};
  says(said(change, learned_run(100), after),
       "lets 0.80 of head 0.3 through on average, and 0.20 of head 1.1");
  says(said(change, learned_run(100), after), "head 0.3 depends most on the token");
  says(said(change, learned_run(100), after), "0.30 at one and 0.90 at another");
  says(said(change, learned_run(100), after), "No token silences a head here");
  after.gates[0][3].least = 0.02;
  says(said(change, learned_run(100), after), "a token can silence a head");
}

TEST_CASE("of a relative bias it is told which distances the heads prefer") {
  const TrainingChange change = TrainingChange::relative_bias;
  TrainingOutcome after = changed_run(learned_run(90), change);
  after.biases.assign(8, {.distance = 0, .above = 0.3});
  after.biases[2] = {.distance = -4, .above = 1.5};
  after.biases[5] = {.distance = 1, .above = 3.14};
  after.biases[6] = {.distance = 0, .above = 1.25};
  says(said(change, learned_run(100), after),
       "that of head 5 for the token before (+3.14), then head 2 for the token 4 places after (+1.50), then "
       "head 6 "
       "for the token itself (+1.25). A score that is 3.14 larger has 23.1 times the weight.");
}

TEST_CASE("a learning rate that is too high is told by its losses") {
  const TrainingChange change = TrainingChange::high_learning_rate;
  TrainingOutcome high = changed_run(lost_run(), change);
  says(said(change, learned_run(100), high), "too long to settle");
  // After a few steps nothing is known of either.
  TrainingOutcome early = lost_run();
  early.steps = 12;
  TrainingOutcome early_high = changed_run(early, change);
  early_high.highest_loss = early_high.first_loss;
  says(said(change, early, early_high), "Neither has learned the task yet");
  high.highest_loss = 9.0;
  says(said(change, learned_run(100), high), "the steps are so long that");
  says(said(change, learned_run(100), high), "is 9 at its highest");
  high = changed_run(learned_run(300), change);
  high.highest_loss = 9.0;
  says(said(change, learned_run(100), high), "rose well above its start and then fell");
}

TEST_CASE("every change has reasons, whoever learned") {
  for (const TrainingChangeEntry& entry : training_change_entries()) {
    CAPTURE(std::string(entry.name));
    for (const TrainingOutcome& before : {learned_run(100), lost_run()})
      for (const TrainingOutcome& after : {learned_run(90), lost_run()}) {
        TrainingOutcome base = before, changed = after;
        if (entry.change == TrainingChange::learned_positions)
          base.settings.model.positions = changed.settings.model.positions = TrainPositions::rotary;
        changed = changed_run(changed, entry.change);
        if (entry.change == TrainingChange::no_causal_mask) changed.held_out_causal = changed.held_out;
        const ChangeAnswer answer = change_answer(entry.change, base, changed);
        CHECK(answer.verdict.ends_with("."));
        CHECK(!answer.reasons.empty());
        for (const std::string& reason : answer.reasons) CHECK(reason.ends_with("."));
      }
  }
}

}  // namespace headwise::test
