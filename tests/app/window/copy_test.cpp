// What the commands put into the clipboard, and the program as a file.
#include <fmt/format.h>
#include <filesystem>

#include "core/export/program.h"
#include "core/files/array_files.h"
#include "core/scenario/scenario_json.h"
#include "tests/app/clipboard.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

std::string notice(const WindowBench& bench) {
  const std::vector<Notice>& notices = bench.state().view.notices.notices;
  return notices.empty() ? "" : notices.back().text;
}

void save_program_as(WindowBench& bench, const std::string& path) {
  bench.ui->click("menu/File").click("menu/Save program…");
  REQUIRE(bench.ui->has("overlay/file"));
  bench.ui->key("Ctrl+A").type(path).key("Enter");
}

}  // namespace

TEST_CASE("Ctrl+Shift+C copies the step's result at this head as a table") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("step_bar/step/6").key("2").key("Ctrl+Shift+C");
  const std::string copied = clipboard();
  CHECK(copied.starts_with("L\\S\tThe\tanimal\t"));
  const Tensor& weights = *bench.trace().tensors.attn_weights;
  std::string row = "animal";
  for (Index col = 0; col < 12; ++col)
    row += fmt::format("\t{}", static_cast<float>(weights.at({0, 2, 1, col})));
  CHECK_CONTAINS(copied, "\n" + row + "\n");
  CHECK(std::count(copied.begin(), copied.end(), '\n') == 13);
  CHECK(notice(bench) == "Copied attn_weights[0,2] — L×S = 12×12 as a table");
}

TEST_CASE("the map is copied as an np.array, of the tensor that is looked at") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.selection().tensor = TensorId::concat;
  bench.ui->run_frames(2).click("menu/Edit").click("menu/Copy map as np.array");
  const Tensor& concat = *bench.trace().tensors.concat;
  CHECK(clipboard().starts_with(fmt::format("np.array([[{}, {}, ", static_cast<float>(concat.at({0, 0, 0})),
                                            static_cast<float>(concat.at({0, 0, 1})))));
  CHECK(clipboard().ends_with(
      fmt::format(", {}]], dtype=np.float32)", static_cast<float>(concat.at({0, 11, 127})))));
}

TEST_CASE("a step without a map says so and leaves the clipboard alone") {
  WINDOW_OR_SKIP(bench, open_window(900, 700, with_setting(Scenario{}, "op=scaled_dot_product_attention")));
  bench.selection().step = Step::project;
  bench.ui->run_frames(2);
  ImGui::SetClipboardText("mine");
  bench.ui->key("Ctrl+Shift+C");
  CHECK(clipboard() == "mine");
  CHECK(notice(bench) == "This step has no map to copy.");
}

TEST_CASE("the program is copied in the style that the inspector shows") {
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->click("menu/Edit").click("menu/Copy program");
  CHECK(clipboard() == program_text(bench.trace(), CodeStyle::pytorch));
  bench.ui->click("inspector/code/NumPy").click("menu/Edit").click("menu/Copy program");
  CHECK(clipboard() == program_text(bench.trace(), CodeStyle::numpy));
  CHECK(notice(bench).starts_with("Copied the program in NumPy"));
}

TEST_CASE("the program is saved where the dialog says, and a name without extension gets .py") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  save_program_as(bench, folder.file("mine"));
  CHECK_FALSE(bench.state().dialogs.files.open);
  CHECK(content_of(folder.file("mine.py")) == program_text(bench.trace(), CodeStyle::pytorch));
  CHECK_FALSE(fs::exists(folder.file("mine.npz")));
  CHECK(notice(bench) == "Saved " + folder.file("mine.py"));
  CHECK(bench.state().document.scenario_path.empty());
  bench.ui->click("menu/File").click("menu/Save program…");
  CHECK(bench.state().dialogs.files.path == folder.file("mine.py"));
  CHECK(bench.ui->has("file_dialog/entry/0"));
}

TEST_CASE("a program that cannot be written is told in the dialog, which stays") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_window());
  for (const std::string& name : {folder.file("mine.json"), std::string("/no/such/folder/mine.py")}) {
    save_program_as(bench, name);
    CAPTURE(name);
    CHECK(bench.state().dialogs.files.open);
    CHECK_FALSE(bench.state().dialogs.files.error.empty());
    CHECK_FALSE(fs::exists(name));
    bench.ui->key("Escape");
  }
  CHECK(bench.state().document.program_path.empty());
}

TEST_CASE("arrays too large to be pasted go into a file beside the program") {
  const TemporaryFolder folder;
  WindowBench bench =
      open_window(900, 700, with_setting(preset_scenario("random"), "attention.embed_dim=512"));
  if (!bench.ui) return;
  REQUIRE(program_array_bytes(bench.trace()) > largest_carried_bytes);
  ImGui::SetClipboardText("mine");
  bench.ui->click("menu/Edit").click("menu/Copy program");
  CHECK(clipboard() == "mine");
  CHECK_CONTAINS(notice(bench), "Save program");
  save_program_as(bench, folder.file("large.py"));
  CHECK(fs::exists(folder.file("large.py")));
  CHECK(fs::exists(folder.file("large.npz")));
  CHECK(notice(bench).ends_with("its arrays in an .npz beside it"));
}

TEST_CASE("a program's arrays never take the place of a file that the scenario reads") {
  const TemporaryFolder folder;
  const auto numbers = std::make_shared<Tensor>(Shape{{"N", 1}, {"L", 600}, {"E", 512}}, DType::f32);
  write_npz(folder.file("mine.npz"), {{"query", numbers, {}}});
  const std::string before = content_of(folder.file("mine.npz"));
  WINDOW_OR_SKIP(bench, open_window());
  bench.ui->push(FilesDropped{{folder.file("mine.npz")}}).run_frames(2);
  bench.session().finish();
  bench.ui->run_frames(2);
  CAPTURE(bench.session().error());
  REQUIRE(program_array_bytes(bench.trace()) > largest_carried_bytes);
  bench.ui->click("menu/File").click("menu/Save program…");
  CHECK(bench.state().dialogs.files.path == folder.file("mine.py"));
  bench.ui->key("Enter");
  CHECK(bench.state().dialogs.files.open);
  CHECK_CONTAINS(bench.state().dialogs.files.error, "that the scenario reads");
  CHECK(content_of(folder.file("mine.npz")) == before);
  CHECK_FALSE(fs::exists(folder.file("mine.py")));
}
