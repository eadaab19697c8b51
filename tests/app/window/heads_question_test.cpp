// "How many heads?", asked of the person who opens a model that does not say it.
#include <fstream>

#include "app/window/window_files.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/model/written_model.h"

using namespace headwise;
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
  WindowBench bench = open_window(width, height);
  if (!bench.ui) return bench;
  bench.ui->push(FilesDropped{{folder.file("model.safetensors")}});
  bench.ui->run_frames(4);
  return bench;
}

bool tells(const WindowBench& bench, const std::string& part) {
  for (const Notice& notice : bench.window->state().view.notices.notices)
    if (notice.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a model without config.json asks how many heads it has, and Enter takes the likeliest") {
  for (const auto& [width, height] : {std::pair{1280, 720}, {1600, 1000}}) {
    const TemporaryFolder folder;
    WINDOW_OR_SKIP(bench, open_bert(folder, width, height));
    REQUIRE(bench.session().error().empty());
    REQUIRE(bench.ui->has("overlay/heads_question"));
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
  CHECK(bench.window->state().dialogs.heads_question.typed == "4");
  bench.ui->click("heads_question/choice/0");
  const std::string first = bench.window->state().dialogs.heads_question.typed;
  CHECK(first == std::to_string(bench.window->state().dialogs.heads_question.choices[0].num_heads));
  bench.ui->key("Down");
  bench.ui->type("7");  // takes the place of what was chosen
  CHECK(bench.window->state().dialogs.heads_question.typed == "7");
  CHECK(bench.ui->has("error"));
  bench.ui->key("Enter");
  REQUIRE(bench.ui->has("overlay/heads_question"));
  bench.ui->key("Backspace");
  bench.ui->type("16");
  bench.ui->key("Enter");
  CHECK_FALSE(bench.ui->has("overlay/heads_question"));
  CHECK(bench.trace().options.num_heads == 16);
  // And afterwards where it always is.
  Scenario other = bench.scenario();
  other.attention.num_heads = 8;
  bench.window->state().document.session.edit(other, "num_heads");
  bench.ui->run_frames(2);
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().options.head_dim == 16);
}

TEST_CASE("a scenario that says the number of heads is opened without a question") {
  const TemporaryFolder folder;
  write_bert(folder);
  const auto open = [&](const char* attention) {
    WindowBench bench = open_window(1280, 720);
    if (!bench.ui) return true;
    const std::string path = folder.with_file(
        "scenario.json", std::string(R"({"headwise":1,"attention":{"embed_dim":128)") + attention +
                             R"(},"parameters":{"source":"model","file":"model.safetensors"}})");
    bench.ui->push(FilesDropped{{path}});
    bench.ui->run_frames(4);
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
  WINDOW_OR_SKIP(bench, open_window(1280, 1250));
  bench.ui->push(FilesDropped{{folder.file("model.safetensors")}});
  bench.ui->run_frames(4);
  bench.ui->key("Enter");
  REQUIRE(bench.session().error().empty());
  CHECK(bench.trace().options.num_heads == 4);
  CHECK(bench.trace().options.num_kv_heads == 1);
  bench.ui->click("setup/num_heads");
  bench.ui->key("Ctrl+A");
  bench.ui->type("16");
  CHECK(bench.session().error().empty());
  CHECK(bench.trace().options.num_heads == 16);
  CHECK(bench.trace().options.num_kv_heads == 4);
  // No other number of key/value heads fits: there is nothing to slide.
  bench.ui->click("setup/groups");
  CHECK(bench.trace().options.num_kv_heads == 4);
}

TEST_CASE("a layer that is cut into other heads than it was trained with says so under the setting") {
  WINDOW_OR_SKIP(bench, open_window(1280, 1250, preset_scenario("welcome")));
  CHECK_FALSE(bench.ui->has("setup/head_count_note"));
  Scenario other = bench.scenario();
  other.attention.num_heads = 4;
  bench.window->state().document.session.edit(other, "num_heads");
  bench.ui->run_frames(3);
  REQUIRE(bench.session().error().empty());
  REQUIRE(bench.ui->has("setup/head_count_note"));
  CHECK(bench.session().inputs().head_count_note ==
        "trained with 8 heads of 16; split differently here, as 4 of 32");
  CHECK(bench.ui->rect("setup/head_count_note").min.y > bench.ui->rect("setup/num_heads").min.y);
}
