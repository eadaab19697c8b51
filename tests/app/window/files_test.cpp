// Files through the window: export, save, open, drop, and what cannot be read or written.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "app/window/window_files.h"
#include "core/files/array_files.h"
#include "core/model/transformer/text_model.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

void replace_text(WindowBench& bench, std::string_view field, std::string_view text) {
  bench.ui->click(field).key("Ctrl+A").type(text);
}

}  // namespace

TEST_CASE("Ctrl+E writes the picture under focus to the file that is named") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("step_bar/step/6").key("2");
  for (const char* name : {"weights.npy", "weights.csv", "weights.png", "weights.svg"}) {
    bench.ui->key("Ctrl+E");
    REQUIRE(bench.ui->has("overlay/export"));
    bench.ui->key("Ctrl+A");
    bench.ui->type(folder.file(name)).key("Enter");
    CAPTURE(name);
    CHECK_FALSE(bench.state().dialogs.export_dialog.open);
    CHECK(fs::exists(folder.file(name)));
    REQUIRE_FALSE(bench.state().view.notices.notices.empty());
    CHECK_CONTAINS(bench.state().view.notices.notices.back().text, name);
  }
  const std::vector<NamedTensor> arrays = read_array_file(folder.file("weights.npy"));
  REQUIRE(arrays.size() == 1);
  const Tensor& weights = *bench.trace().tensors.attn_weights;
  REQUIRE(arrays[0].tensor->size() == 144);
  for (Index i = 0; i < 144; ++i) CHECK(arrays[0].tensor->flat(i) == weights.flat(2 * 144 + i));
  CHECK(content_of(folder.file("weights.png")).substr(1, 3) == "PNG");
  CHECK_CONTAINS(content_of(folder.file("weights.svg")), "animal");
  CHECK_CONTAINS(content_of(folder.file("weights.csv")), "animal");
}

TEST_CASE("what cannot be exported is told in the dialog, which stays") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Ctrl+E");
  for (const char* name : {"/no/such/folder/picture.png", "picture.gif", "picture"}) {
    replace_text(bench, "export/path", name);
    bench.ui->click("export/accept");
    CAPTURE(name);
    CHECK(bench.state().dialogs.export_dialog.open);
    CHECK_FALSE(bench.state().dialogs.export_dialog.error.empty());
    CHECK(bench.ui->has("error"));
  }
  bench.ui->click("export/cancel");
  CHECK_FALSE(bench.state().dialogs.export_dialog.open);
  bench.ui->run_frames(2);
  CHECK_FALSE(bench.ui->has("overlay/export"));
}

TEST_CASE("the export takes what the stage shows: all heads, or a tensor chosen in the graph") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("step_bar/step/3").key("A").key("Ctrl+E");
  CHECK_FALSE(bench.state().dialogs.export_dialog.what.head.has_value());
  CHECK(bench.state().dialogs.export_dialog.path.ends_with("/scores-all_heads.png"));
  bench.ui->key("Escape");
  bench.selection().tensor = TensorId::concat;
  bench.ui->run_frames(2).key("Ctrl+E");
  CHECK(bench.state().dialogs.export_dialog.path.ends_with("/concat-all_heads.png"));
}

TEST_CASE("a scenario is saved, changed, and opened again as it was") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("C");
  const Scenario saved = bench.scenario();
  bench.ui->key("Ctrl+S").key("Ctrl+A").type(folder.file("mine")).key("Enter");
  REQUIRE(fs::exists(folder.file("mine.json")));
  CHECK(read_scenario_file(folder.file("mine.json")) == saved);
  bench.ui->key("C").key("M");
  CHECK_FALSE(bench.scenario() == saved);
  bench.ui->key("Ctrl+O");
  bench.ui->click("file_dialog/entry/0").click("file_dialog/accept");
  CHECK(bench.scenario() == saved);
  CHECK(bench.trace().options.is_causal);
  bench.ui->key("Ctrl+Z");
  CHECK_FALSE(bench.scenario() == saved);
}

TEST_CASE("a file that is no scenario is told and changes nothing") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  const Scenario before = bench.scenario();
  std::ofstream(folder.file("broken.json")) << "{ \"headwise\": 1, ";
  std::ofstream(folder.file("key.json")) << "{ \"headwise\": 1, \"attention\": { \"num_head\": 4 } }";
  std::ofstream(folder.file("model.pt")) << "PK\x03\x04";
  for (const char* name : {"broken.json", "key.json", "model.pt", "missing.json", ""}) {
    bench.state().view.notices.dismiss_all();
    bench.ui->push(FilesDropped{{folder.file(name)}}).run_frames(3);
    CAPTURE(name);
    CHECK(bench.scenario() == before);
    REQUIRE(bench.state().view.notices.notices.size() == 1);
    CHECK(bench.state().view.notices.notices[0].error);
    CHECK(bench.ui->has("notice/0"));
  }
  bench.ui->key("Ctrl+O");
  replace_text(bench, "file_dialog/path", folder.file("key.json"));
  bench.ui->key("Enter");
  CHECK(bench.state().dialogs.files.open);
  CHECK_CONTAINS(bench.state().dialogs.files.error, "num_heads");
}

TEST_CASE("a scenario that is dropped is opened, and an impossible one is told over the stage") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  std::ofstream(folder.file("small.json"))
      << "{ \"headwise\": 1, \"attention\": { \"embed_dim\": 16, \"num_heads\": 2 } }";
  std::ofstream(folder.file("odd.json"))
      << "{ \"headwise\": 1, \"attention\": { \"embed_dim\": 16, \"num_heads\": 3 } }";
  bench.ui->key("7").push(FilesDropped{{folder.file("small.json")}}).run_frames(3);
  CHECK(bench.trace().options.num_heads == 2);
  CHECK(bench.selection().head == 1);
  bench.ui->push(FilesDropped{{folder.file("odd.json")}}).run_frames(3);
  CHECK(bench.trace().options.num_heads == 2);
  CHECK(bench.ui->has("notice/lasting"));
}

TEST_CASE("the theme and the size of the text are remembered") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  bench.state().view.settings_file = folder.file("config/headwise/settings.json");
  bench.ui->key("T").key("Ctrl+=");
  const LoadedSettings loaded = load_settings(folder.file("config/headwise/settings.json"));
  CHECK(loaded.settings.theme == Theme::light);
  CHECK(loaded.settings.font_scale == doctest::Approx(1.125));
  CHECK(loaded.notice.empty());
}

TEST_CASE("a notice goes by itself after a while") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->key("Ctrl+C");  // there is no cell to copy
  CHECK(bench.ui->has("notice/0"));
  CHECK(bench.ui->result().wake_after < 10.0);
  bench.ui->run_frames(8, 1.0);
  CHECK_FALSE(bench.ui->has("notice/0"));
  CHECK(std::isinf(bench.ui->result().wake_after));
}

TEST_CASE("files that were opened stand in the menu, and one that is gone cannot be chosen") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  bench.state().document.recent_file = folder.file("state/recent.json");
  for (const char* name : {"first.json", "second.json"}) {
    std::ofstream(folder.file(name)) << R"({ "headwise": 1, "attention": { "embed_dim": 16, "num_heads": 2 } })";
    bench.ui->push(FilesDropped{{folder.file(name)}}).run_frames(3);
  }
  CHECK(bench.state().document.recent_files ==
        std::vector<std::string>{folder.file("second.json"), folder.file("first.json")});
  CHECK(fs::exists(folder.file("state/recent.json")));
  fs::remove(folder.file("second.json"));
  bench.ui->key("M");
  const Scenario edited = bench.scenario();
  bench.ui->click("menu/File").move_to("menu/Open recent").run_frames(30);
  REQUIRE(bench.ui->has("menu/recent/1"));
  bench.ui->click("menu/recent/0");
  CHECK(bench.scenario() == edited);
  bench.ui->click("menu/recent/1");
  CHECK_FALSE(bench.scenario() == edited);
}

TEST_CASE("a file of arrays that holds the parameters too gives the numbers that it was written with") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window(1280, 800));
  const TracePtr before = bench.session().trace_ptr();
  std::vector<NamedTensor> arrays;
  for (const TensorEntry& entry : tensor_entries())
    if (const TensorPtr tensor = before->tensor(entry.id))
      arrays.push_back({std::string(entry.name), tensor, ""});
  const std::string path = folder.file("trace.npz");
  write_npz(path, arrays);
  open_file(bench.state(), path);
  CHECK(bench.scenario().parameters.source == ParameterSource::file);
  CHECK(bench.scenario().attention.num_heads == 8);
  REQUIRE(bench.session().error().empty());
  CHECK(identical(*bench.trace().tensors.scores, *before->tensors.scores));
  CHECK_CONTAINS(bench.state().view.notices.notices.back().text, "the parameters");

  write_npz(folder.file("inputs.npz"), {{"query", before->tensors.query, ""}});
  open_file(bench.state(), folder.file("inputs.npz"));
  CHECK(bench.scenario().parameters.source == ParameterSource::random);
  CHECK_CONTAINS(bench.state().view.notices.notices.back().text, "they are random");
}

TEST_CASE("a folder with a model opens on its first layer, and the setup goes to the others") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  fs::create_directories(folder.file("model"));
  std::vector<NamedTensor> arrays;
  for (int layer = 0; layer < 2; ++layer) {
    for (const char* name : {"query", "key", "value"}) {
      Tensor weight(Shape{{"out", 8}, {"in", 8}}, DType::f32);
      weight.set_flat(0, 1.0 + layer);
      arrays.push_back({"encoder.layer." + std::to_string(layer) + ".attention.self." + name + ".weight",
                        std::make_shared<const Tensor>(std::move(weight)), ""});
    }
    arrays.push_back({"encoder.layer." + std::to_string(layer) + ".attention.output.dense.weight",
                      std::make_shared<const Tensor>(Shape{{"out", 8}, {"in", 8}}, DType::f32), ""});
  }
  write_safetensors(folder.file("model/model.safetensors"), arrays);
  std::ofstream(folder.file("model/config.json")) << R"({"num_attention_heads":2})";

  bench.ui->push(FilesDropped{{folder.file("model")}}).run_frames(3);
  REQUIRE(bench.session().error().empty());
  CHECK(bench.scenario().parameters.source == ParameterSource::model);
  CHECK(bench.scenario().attention.num_heads == 2);
  CHECK(bench.trace().tensors.q_proj_weight->flat(0) == 1.0);
  const std::string told = bench.state().view.notices.notices.back().text;
  CHECK_CONTAINS(told, "layer 0 of 2, BERT (encoder.layer.0)");
  CHECK_CONTAINS(told, "inputs are random");

  Scenario next = bench.scenario();
  next.parameters.layer = 1;
  bench.session().edit(next, "layer 1");
  bench.ui->run_frames(3);
  CHECK(bench.trace().tensors.q_proj_weight->flat(0) == 2.0);
  CHECK(bench.ui->has("setup/layer"));
}

TEST_CASE("words that a model does not know are told right under the text") {
  WINDOW_OR_SKIP(bench, open_window());
  Scenario scenario = layer_scenario("builtin:sentences", TextModel::open("builtin:sentences")->layers(), 1);
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = "the animal was too tired .";
  bench.session().edit(scenario, "a model");
  bench.ui->run_frames(3);
  REQUIRE(bench.session().error().empty());
  const float without = bench.ui->rect("setup/attention").min.y;
  scenario.inputs.text = "the animal was too усталый .";
  bench.session().edit(scenario, "a word");
  bench.ui->run_frames(3);
  CHECK(bench.session().inputs().notes.size() == 1);
  CHECK(bench.ui->rect("setup/attention").min.y > without + 10.0f);
}

TEST_CASE("saving again writes the file at hand without asking, and a preset is not the file of before") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  const WindowState& state = bench.state();
  bench.ui->key("Ctrl+S").key("Ctrl+A").type(folder.file("mine")).key("Enter").key("C").key("Ctrl+S");
  CHECK_FALSE(state.dialogs.files.open);
  CHECK(read_scenario_file(folder.file("mine.json")) == bench.scenario());
  CHECK(state.view.notices.notices.back().text == "Saved the scenario in " + folder.file("mine.json"));
  bench.ui->key("Ctrl+Shift+S");
  CHECK(state.dialogs.files.open);
  CHECK(state.dialogs.files.path == folder.file("mine.json"));
  bench.ui->key("Escape");

  const std::string before = folder.file("mine.json");
  const Scenario mine = bench.scenario();
  bench.ui->click("menu/File").run_frames(2).click("menu/preset/random").run_frames(3);
  REQUIRE(bench.scenario() == preset_scenario("random"));
  bench.ui->key("Ctrl+S");
  REQUIRE(state.dialogs.files.open);
  CHECK(state.dialogs.files.path != before);
  bench.ui->key("Escape");
  CHECK(read_scenario_file(before) == mine);
}
