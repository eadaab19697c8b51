// The sheet of a model's heads, and the question of how many heads a model has that does not say.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "app/window/window_files.h"
#include "core/files/array_files.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/core/model/written_model.h"

using namespace headwise;

namespace {

Scenario sentence_scenario() {
  return scenario_from_json(R"({"headwise":1, "attention":{"embed_dim":128,"num_heads":8},
    "inputs":{"source":"text","text":"The animal didn't cross the street because it was too tired."},
    "parameters":{"source":"model","file":")" HEADWISE_SOURCE_DIR R"(/assets/models/sentences","layer":0}})",
                            "the test");
}

// Our own model, with one NaN in the query weights of the first head of a layer; its path.
std::string with_nan_in_layer(const TemporaryFolder& folder, int layer) {
  const std::string own = HEADWISE_SOURCE_DIR "/assets/models/sentences/";
  const std::string damaged = fmt::format("encoder.layer.{}.attention.self.query.weight", layer);
  std::vector<NamedTensor> arrays = read_array_file(own + "model.safetensors");
  for (NamedTensor& array : arrays) {
    if (array.name != damaged) continue;
    Tensor weight(*array.tensor);
    weight.set_flat(0, std::numeric_limits<double>::quiet_NaN());
    array.tensor = std::make_shared<const Tensor>(std::move(weight));
  }
  write_safetensors(folder.file("model.safetensors"), arrays);
  for (const char* file : {"config.json", "vocab.txt"}) folder.with_file(file, content_of(own + file));
  return std::filesystem::path(folder.file("x")).parent_path().string();
}

HeadsSheetState& sheet(WindowBench& bench) {
  return bench.state().dialogs.heads;
}

// Frames until nothing is measured and muted any more.
void wait(WindowBench& bench) {
  HeadFinding& finding = bench.state().document.head_finding;
  bench.ui->run_frames(1).run_until([&] { return !finding.survey.running() && !finding.to_mute; }).run_frames(2);
}

WindowBench open_sheet(int width, int height) {
  WindowBench bench = open_unpainted(width, height, sentence_scenario());
  if (!bench.ui) return bench;
  bench.ui->key("R");
  wait(bench);
  return bench;
}

std::string column(HeadColumn id) {
  return "heads/column/" + std::to_string(static_cast<int>(id));
}

}  // namespace

TEST_CASE("the sheet of heads says in one sentence what to do where there is no model or no text") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, preset_scenario("random")));
  bench.ui->key("R");
  CHECK(sheet(bench).open);
  CHECK(bench.ui->has("heads/missing"));
  CHECK_FALSE(bench.ui->has("heads/rows"));
  bench.ui->key("R");
  CHECK_FALSE(sheet(bench).open);
  bench.ui->click("menu/View").click("menu/Heads of the model…");
  CHECK(sheet(bench).open);
  bench.ui->key("Escape");
  CHECK_FALSE(sheet(bench).open);
}

TEST_CASE("every head of every layer has its row, inside the sheet at every usual size") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}, {900, 600}}) {
    WINDOW_OR_SKIP(bench, open_sheet(width, height));
    REQUIRE(bench.ui->has("heads/row/0"));
    const UiRect frame = bench.ui->rect("overlay/heads"), rows = bench.ui->rect("heads/rows");
    CHECK(rows.max.y <= frame.max.y);
    CHECK(frame.min.y >= 0.0f);
    CHECK(frame.max.y <= static_cast<float>(height));
    if (width >= 1280) {
      CHECK(bench.ui->has("heads/row/15"));
      for (int c = 0; c < head_column_count; ++c) {
        const UiRect at = bench.ui->rect("heads/column/" + std::to_string(c));
        CHECK(at.max.x <= frame.max.x + 1);
        if (c > 0) CHECK(at.min.x == bench.ui->rect("heads/column/" + std::to_string(c - 1)).max.x);
      }
    }
    bench.ui->save_png("heads_of_model_" + std::to_string(width));
  }
}

TEST_CASE("in a narrow window the table scrolls sideways under its heads, and every column is reached") {
  WINDOW_OR_SKIP(bench, open_sheet(640, 720));
  REQUIRE(bench.ui->has("heads/row/0"));
  const UiRect frame = bench.ui->rect("overlay/heads");
  const std::string last = column(HeadColumn::largest_change), first = column(HeadColumn::head);
  const float before = bench.ui->rect(last).min.x, stays = bench.ui->rect(first).min.x;
  CHECK(before > frame.max.x);
  CHECK(bench.ui->rect("heads/mute").max.x < frame.max.x);
  for (int i = 0; i < 12; ++i) bench.ui->key("Right");
  CHECK(bench.ui->rect(last).max.x <= frame.max.x);
  CHECK(bench.ui->rect(first).min.x == stays);
  CHECK(bench.ui->rect("heads/row/0").min.x == stays);
  for (int i = 0; i < 12; ++i) bench.ui->key("Left");
  CHECK(bench.ui->rect(last).min.x == before);
  // By Tab too: what has the focus is seen.
  for (int i = 0; i < 10; ++i) bench.ui->key("Tab");
  bench.ui->run_frames(2);
  CHECK(bench.ui->rect(column(column_of(HeadScore::entropy))).max.x <= frame.max.x);
  bench.ui->key("Enter");
  CHECK(sheet(bench).table.order.column == column_of(HeadScore::entropy));
}

TEST_CASE("an empty text is told in the place of the table") {
  Scenario scenario = sentence_scenario();
  scenario.inputs.text = " ";
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720, scenario));
  bench.ui->key("R");
  wait(bench);
  CHECK(bench.ui->has("heads/missing"));
  CHECK_FALSE(bench.ui->has("heads/rows"));
}

TEST_CASE("a click on a column's head sorts the table, a second click the other way") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  const auto first = [&] { return sheet(bench).table.sorted.front(); };
  CHECK(first() == 0);
  bench.ui->click(column(column_of(HeadScore::previous_token)));
  CHECK(first() == 7);  // 0.7, the card's head of the word before
  bench.ui->click(column(column_of(HeadScore::next_token)));
  CHECK(first() == 4);
  bench.ui->click(column(column_of(HeadScore::next_token)));
  CHECK(sheet(bench).table.sorted.back() == 4);
  // What is not known yet sorts nothing.
  bench.ui->click(column(HeadColumn::effect));
  CHECK(sheet(bench).table.sorted.back() == 4);
  // By the keyboard: Tab to the head of the columns, Enter.
  bench.ui->key("Tab").key("Tab").key("Enter");
  CHECK(sheet(bench).table.order == HeadOrder{HeadColumn::head, false});
}

TEST_CASE("a click on a row leads to that layer and head, and can be undone") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  bench.ui->click("heads/head/15");
  CHECK_FALSE(sheet(bench).open);
  CHECK(bench.scenario().parameters.layer == 1);
  CHECK(bench.selection().head == 7);
  CHECK(bench.selection().step == Step::softmax);
  CHECK(bench.session().undo_label() == "show head 1.7");
  bench.ui->key("Ctrl+Z");
  CHECK(bench.scenario().parameters.layer == 0);
  // In the same layer nothing is edited.
  bench.ui->key("R");
  wait(bench);
  bench.ui->click("heads/head/3");
  CHECK(bench.selection().head == 3);
  CHECK_FALSE(bench.session().history().can_undo());
}

TEST_CASE("what lay under a row that was clicked says nothing until the mouse moves") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  const UiRect under = bench.ui->rect("setup/causal"), row = bench.ui->rect("heads/row/9");
  const float x = 0.5f * (under.min.x + under.max.x);
  REQUIRE(x > row.min.x);
  for (int i = 0; i < 16; ++i) {
    const UiRect at = bench.ui->rect("heads/row/" + std::to_string(i));
    const float y = 0.5f * (under.min.y + under.max.y);
    if (y < at.min.y || y >= at.max.y) continue;
    bench.ui->click(x, y);
    break;
  }
  REQUIRE_FALSE(sheet(bench).open);
  bench.ui->run_frames(4, 0.4);
  CHECK_FALSE(bench.ui->has("tooltip"));
  bench.ui->move_to(2, 2).move_to("setup/causal").run_frames(3, 0.4);
  CHECK(bench.ui->has("tooltip"));
}

TEST_CASE("the maps that were measured are those that the window shows") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  const std::shared_ptr<const HeadSurvey> survey = sheet(bench).table.sorted_survey;
  REQUIRE(survey);
  bench.ui->click("heads/head/15");
  bench.session().finish();
  const Tensor& shown = *bench.trace().tensors.attn_weights;
  REQUIRE(shown.shape().sizes() == std::vector<Index>{1, 8, 16, 16});
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j)
      CHECK(shown.at({0, 7, i, j}) == doctest::Approx(survey->pictures[1]->at({7, i, j})).epsilon(1e-4));
}

TEST_CASE("the arrows go through the rows and Enter leads to the head") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  bench.ui->key("Down").key("Down");
  CHECK(sheet(bench).table.at == 1);
  bench.ui->key("End");
  CHECK(sheet(bench).table.at == 15);
  CHECK(bench.selection().step == Step::inputs);  // the window behind keeps its place
  bench.ui->key("Enter");
  CHECK_FALSE(sheet(bench).open);
  CHECK(bench.scenario().parameters.layer == 1);
  CHECK(bench.selection().head == 7);
}

TEST_CASE("who opens the sheet sees the head that the window shows; what scrolls is reached by the keys") {
  WINDOW_OR_SKIP(bench, open_unpainted(900, 480, sentence_scenario()));
  Scenario last = bench.scenario();
  last.parameters.layer = 1;
  bench.session().edit(last, "layer");
  bench.selection().head = 7;
  bench.ui->key("R");
  wait(bench);
  const auto is_seen = [&](const std::string& name) {
    if (!bench.ui->has(name)) return false;
    const UiRect row = bench.ui->rect(name), rows = bench.ui->rect("heads/rows");
    return row.min.y >= rows.min.y - 1 && row.max.y <= rows.max.y + 1;
  };
  CHECK(is_seen("heads/head/15"));
  CHECK_FALSE(is_seen("heads/head/0"));
  bench.ui->key("Home");
  CHECK(is_seen("heads/head/0"));
  bench.ui->key("PageDown");
  CHECK(sheet(bench).table.at > 1);
}

TEST_CASE("the small picture of a map is larger under the mouse") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  const UiRect row = bench.ui->rect("heads/row/4");
  bench.ui->move_to(static_cast<double>(row.min.x) + 20, 0.5 * static_cast<double>(row.min.y + row.max.y));
  bench.ui->run_frames(2);
  CHECK(bench.ui->has("heads/enlarged"));
  bench.ui->move_to(static_cast<double>(row.min.x) + 400, 0.5 * static_cast<double>(row.min.y + row.max.y));
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("heads/enlarged"));
}

TEST_CASE("each head is muted in turn, and the table is sorted by what that does") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  bench.ui->click("heads/mute");
  wait(bench);
  REQUIRE(sheet(bench).table.sorted_muting);
  bench.ui->click(column(HeadColumn::effect));
  // The head that finds the noun.
  CHECK(sheet(bench).table.sorted.front() == 15);
  const auto question = head_question(bench.scenario());
  REQUIRE(question);
  const auto muted = bench.state().document.head_finding.muting.cached(*question);
  REQUIRE(muted);
  const std::string& change = muted->answer->changes[15];
  CHECK(change.starts_with("animal 0.99 → "));
  CHECK(change.ends_with(" at it (10)"));
}

TEST_CASE("muting that is given up, or whose sheet is closed, leaves nothing behind") {
  WINDOW_OR_SKIP(bench, open_sheet(1280, 720));
  HeadFinding& finding = bench.state().document.head_finding;
  const auto question = head_question(bench.scenario());
  finding.to_mute = question;
  bench.ui->run_frames(1).key("Escape");
  CHECK_FALSE(finding.to_mute.has_value());
  finding.muting.finish();
  bench.ui->run_frames(2);
  CHECK_FALSE(sheet(bench).open);
  // A text that was edited meanwhile is another question, and is measured anew.
  Scenario edited = bench.scenario();
  edited.inputs.text = "The dog saw the cat.";
  bench.session().edit(edited, "text");
  bench.ui->key("R");
  wait(bench);
  REQUIRE(sheet(bench).table.sorted_survey);
  CHECK(sheet(bench).table.sorted_survey->length == 8);
}

TEST_CASE("heads whose weights are NaN are named, and a prediction that is NaN has no effect to tell") {
  const TemporaryFolder folder;
  const HeadQuestion question{with_nan_in_layer(folder, 1), "The animal was tired."};
  const FoundHeads found = find_heads(question);
  CHECK_CONTAINS(found.notice, "1 of 16 heads (1.0) have NaN weights");
  const MutedHeads muted = mute_heads(question);
  for (const MutedHead& head : muted.muting->heads)
    CHECK(head.positions == 0);  // the untouched prediction is NaN already
}

using namespace headwise::test;

namespace {

constexpr const char* prefix = "bert.encoder.layer.0.attention.";

void write_bert(const TemporaryFolder& folder) {
  const std::string name = prefix;
  write_model(folder,
              {{name + "self.query.weight", {128, 128}},
               {name + "self.key.weight", {128, 128}},
               {name + "self.value.weight", {128, 128}},
               {name + "output.dense.weight", {128, 128}}},
              "");
}

WindowBench open_bert(const TemporaryFolder& folder, int width = 1280, int height = 720) {
  write_bert(folder);
  WindowBench bench = open_unpainted(width, height);
  if (!bench.ui) return bench;
  bench.ui->push(FilesDropped{{folder.file("model.safetensors")}}).run_frames(4);
  return bench;
}

bool tells(const WindowBench& bench, const std::string& part) {
  for (const Notice& notice : bench.state().view.notices.notices)
    if (notice.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a model without config.json asks how many heads it has, and Enter takes the likeliest") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    const TemporaryFolder folder;
    WINDOW_OR_SKIP(bench, open_bert(folder, width, height));
    REQUIRE(bench.session().error().empty());
    const UiRect frame = bench.ui->rect("overlay/heads_question");
    CHECK(frame.max.y <= static_cast<float>(height));
    CHECK(bench.ui->rect("heads_question/accept").max.y < frame.max.y);
    bench.ui->key("Enter");
    CHECK_FALSE(bench.ui->has("overlay/heads_question"));
    CHECK(bench.trace().options.num_heads == 2);
    CHECK(bench.trace().options.head_dim == 64);
    CHECK_FALSE(tells(bench, "assumed"));
    CHECK(tells(bench, "layer 0 of 1, BERT"));
    CHECK_CONTAINS(scenario_to_json(bench.scenario()), "\"num_heads\": 2");
  }
}

TEST_CASE("Escape keeps the number that is assumed, and it is told") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_bert(folder));
  bench.ui->key("Escape");
  CHECK_FALSE(bench.ui->has("overlay/heads_question"));
  CHECK(bench.trace().options.num_heads == 2);
  CHECK(tells(bench, "2 are assumed"));
  CHECK(bench.ui->has("setup/head_count_note"));
}

TEST_CASE("another number is chosen by the arrows, by the mouse or typed, and no other is taken") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_bert(folder));
  bench.ui->key("Up");  // narrower heads
  CHECK(bench.state().dialogs.heads_question.typed == "4");
  bench.ui->click("heads_question/choice/0");
  const std::string first = bench.state().dialogs.heads_question.typed;
  CHECK(first == std::to_string(bench.state().dialogs.heads_question.choices[0].num_heads));
  bench.ui->key("Down");
  bench.ui->type("7");  // takes the place of what was chosen
  CHECK(bench.state().dialogs.heads_question.typed == "7");
  CHECK(bench.ui->has("error"));
  bench.ui->key("Enter");
  REQUIRE(bench.ui->has("overlay/heads_question"));
  bench.ui->key("Backspace").type("16").key("Enter");
  CHECK_FALSE(bench.ui->has("overlay/heads_question"));
  CHECK(bench.trace().options.num_heads == 16);
  // And afterwards where it always is.
  Scenario other = bench.scenario();
  other.attention.num_heads = 8;
  bench.session().edit(other, "num_heads");
  bench.ui->run_frames(2);
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().options.head_dim == 16);
}

TEST_CASE("a scenario that says the number of heads is opened without a question") {
  const TemporaryFolder folder;
  write_bert(folder);
  const auto open = [&](const char* attention) {
    WindowBench bench = open_unpainted(1280, 720);
    if (!bench.ui) return true;
    const std::string path = folder.with_file(
        "scenario.json", std::string(R"({"headwise":1,"attention":{"embed_dim":128)") + attention +
                             R"(},"parameters":{"source":"model","file":"model.safetensors"}})");
    bench.ui->push(FilesDropped{{path}}).run_frames(4);
    CHECK(bench.session().error().empty());
    CHECK(bench.ui->has("overlay/heads_question") == !*attention);
    return bench.ui->has("overlay/heads_question");
  };
  open(R"(,"num_heads":8)");
  open("");
}

TEST_CASE("the setup goes through the numbers of heads that a grouped layer can be cut into") {
  const TemporaryFolder folder;
  const std::string name = "model.layers.0.self_attn.";
  write_model(folder,
              {{name + "q_proj.weight", {128, 128}},
               {name + "k_proj.weight", {32, 128}},
               {name + "v_proj.weight", {32, 128}},
               {name + "o_proj.weight", {128, 128}}},
              "");
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 1250));
  bench.ui->push(FilesDropped{{folder.file("model.safetensors")}}).run_frames(4).key("Enter");
  REQUIRE(bench.session().error().empty());
  CHECK(bench.trace().options.num_heads == 4);
  CHECK(bench.trace().options.num_kv_heads == 1);
  bench.ui->click("setup/num_heads").key("Ctrl+A").type("16");
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().options.num_heads == 16);
  CHECK(bench.trace().options.num_kv_heads == 4);
  // No other number of key/value heads fits: there is nothing to slide.
  bench.ui->click("setup/groups");
  CHECK(bench.trace().options.num_kv_heads == 4);
}

TEST_CASE("a layer that is cut into other heads than it was trained with says so under the setting") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 1250, preset_scenario("welcome")));
  CHECK_FALSE(bench.ui->has("setup/head_count_note"));
  Scenario other = bench.scenario();
  other.attention.num_heads = 4;
  bench.session().edit(other, "num_heads");
  bench.ui->run_frames(3);
  REQUIRE(bench.session().error().empty());
  REQUIRE(bench.ui->has("setup/head_count_note"));
  CHECK(bench.session().inputs().head_count_note ==
        "trained with 8 heads of 16; split differently here, as 4 of 32");
  CHECK(bench.ui->rect("setup/head_count_note").min.y > bench.ui->rect("setup/num_heads").min.y);
}
