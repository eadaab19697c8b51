// What a training that is set up comes to before it begins.
#include <doctest/doctest.h>

#include "app/session/training_draft.h"
#include "tests/core/train/small_training.h"

using namespace headwise;
using headwise::test::two_head_settings;

TEST_CASE("a draft of a task has its usual settings, and tells its parameters and the memory of its past") {
  const TrainingDraft draft = usual_draft({.name = "induction"});
  CHECK(draft.error.empty());
  CHECK(draft.settings == usual_settings(named_task("induction")));
  CHECK(draft.parameters == train_parameter_count(train_parameters(draft.settings.model)));
  CHECK(draft.most_bytes == LiveTraining::most_bytes(draft.settings));
}

TEST_CASE("the model follows the sizes of the task, and usual sizes come back") {
  TrainingDraft draft = usual_draft({.name = "induction"});
  const Index parameters = draft.parameters;
  draft.source.sizes = {.length = 48, .symbols = 20};
  weigh(draft);
  CHECK(draft.error.empty());
  CHECK(draft.settings.model.longest_sequence == 48);
  CHECK(draft.settings.model.vocabulary == 20);
  CHECK(draft.task->length == 48);
  // Two embeddings of 12 words less, 16 positions more.
  CHECK(draft.parameters == parameters + (16 - 2 * 12) * draft.settings.model.width);
  draft = usual_draft(draft.source);
  CHECK(draft.task->length == 32);
  CHECK(draft.parameters == parameters);
}

TEST_CASE("what cannot be trained is said in one sentence, until it can be") {
  TrainingDraft draft = usual_draft({.name = "reverse"});
  const auto refused = [&](auto&& change, const char* begins) {
    TrainingDraft wrong = draft;
    change(wrong);
    weigh(wrong);
    CHECK_MESSAGE(wrong.error.starts_with(begins), wrong.error);
    CHECK(wrong.error.find('\n') == std::string::npos);
    wrong.source.sizes = {};
    wrong.settings = draft.settings;
    weigh(wrong);
    CHECK(wrong.error.empty());
    CHECK(wrong.parameters == draft.parameters);
  };
  refused([](TrainingDraft& d) { d.settings.model.width = 8; }, "width");
  refused([](TrainingDraft& d) { d.settings.model.heads = 5; }, "kv_heads");
  refused([](TrainingDraft& d) { d.settings.batch = 0; }, "batch");
  refused([](TrainingDraft& d) { d.settings.optimiser.learning_rate = 0.0; }, "learning_rate");
  refused([](TrainingDraft& d) { d.settings.optimiser.cosine_steps = 5; }, "cosine_steps");
  refused([](TrainingDraft& d) { d.settings.model.dropout = 1.0; }, "dropout");
  refused([](TrainingDraft& d) { d.source.sizes.length = 7; }, "task reverse");
  refused([](TrainingDraft& d) { d.source.sizes.symbols = 1; }, "task reverse");
  CHECK_FALSE(usual_draft({.name = "chess"}).error.empty());
}

TEST_CASE("the number of heads divides the width, and key/value heads divide the heads") {
  TrainModelConfig model;
  model.width = 48;
  CHECK(head_counts(model) == std::vector<Index>{1, 2, 3, 4, 6, 8, 12, 16});
  set_heads(model, 12);
  CHECK(model.kv_heads == 12);
  CHECK(kv_head_counts(model) == std::vector<Index>{1, 2, 3, 4, 6, 12});
  model.kv_heads = 4;
  set_heads(model, 6);
  CHECK(model.kv_heads == 3);
  model.head_width = 5;
  CHECK(head_counts(model).size() == 16);
}

TEST_CASE("a draft of the watched training has its sizes and settings, and no lost head stays frozen") {
  LiveTraining training;
  TaskSource source{.name = "previous-token", .sizes = {.length = 8}};
  TrainingSettings settings = two_head_settings(task_of(source), 4, 0.0);
  settings.model.frozen_heads = {{0, 0}, {0, 1}};
  training.begin(source, settings);
  TrainingDraft draft = draft_of(training);
  CHECK(draft.settings == settings);
  CHECK(draft.source.sizes.length == 8);
  CHECK(draft.error.empty());
  set_heads(draft.settings.model, 1);
  weigh(draft);
  CHECK(draft.error.empty());
  CHECK(draft.settings.model.frozen_heads == std::vector<FrozenHead>{{0, 0}});
}
