// What nobody should do, and somebody will: the last good picture stays, and one sentence says what happened.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/session/kept_work.h"
#include "app/window/window_files.h"
#include "core/scenario/embeddings.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"
#include "tests/environment_variable.h"

using namespace headwise;

namespace {

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word ";
  return text;
}

bool has_notice(const WindowBench& bench, std::string_view part) {
  for (const Notice& notice : bench.state().view.notices.notices)
    if (notice.text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("whatever is dropped that is no scenario: one sentence says so, in a notice and in the log") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted());
  NoticesState& notices = bench.state().view.notices;
  notices.log = ErrorLog(folder.file("state/headwise/errors.log"));
  const TracePtr before = bench.session().trace_ptr();
  const std::pair<std::string, std::string_view> cases[] = {
      {folder.file(""), "old.pt"},  // a folder whose only arrays are in a pickle
      {folder.with_file("newer.json", R"({"headwise": 2})"), "written by a newer Headwise"},
      {folder.with_file("broken.json", R"({"headwise": 1, "attention": )"), "this is not JSON"},
      {folder.with_file("old.pt", "\x80\x02}q\x01."), "safetensors"},
      {folder.with_file("words.txt", "words"), "Headwise cannot read this kind of file"},
      {folder.with_file("nothing", ""), "nothing"},
      {folder.file("missing.json"), "missing.json"}};
  for (const auto& [path, part] : cases) {
    CAPTURE(path);
    notices.dismiss_all();
    bench.ui->push(FilesDropped{{path}}).run_frames(2);
    CHECK(bench.session().trace_ptr() == before);
    REQUIRE(notices.notices.size() == 1);
    const std::string sentence = notices.notices.front().text;
    CAPTURE(sentence);
    CHECK(notices.notices.front().error);
    CHECK_CONTAINS(sentence, part);
    CHECK_CONTAINS(content_of(notices.log.path()), part);
  }
}

TEST_CASE("of several files that are dropped the first is opened, and that is said") {
  const TemporaryFolder folder;
  WINDOW_OR_SKIP(bench, open_unpainted());
  const std::string first = folder.with_file("first.json", R"({"headwise": 1, "inputs": {"query_length": 3}})");
  bench.ui->push(FilesDropped{{first, folder.file("second.json")}}).run_frames(2);
  CHECK(bench.scenario().inputs.query_length == 3);
  CHECK(has_notice(bench, "2 files were dropped; only the first was opened."));
}

TEST_CASE("a text that would not fit is shown as far as it fits, which is said, and keeps all its bytes") {
  Scenario scenario;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = words(100000);
  const std::optional<Shortened> shortened = shortened_to_fit(scenario);
  REQUIRE(shortened);
  const Index kept = token_count(shortened->scenario.inputs.text);
  CHECK(estimated_trace_bytes(scenario, kept, kept) <= static_cast<double>(most_trace_bytes));
  CHECK(estimated_trace_bytes(scenario, kept + 1, kept + 1) > 0.4 * static_cast<double>(most_trace_bytes));
  CHECK(shortened->note.ends_with("of 100,000 tokens."));
  scenario.inputs.text = words(300);
  CHECK_FALSE(shortened_to_fit(scenario));
  CHECK(shortened_to_fit(scenario, 1 << 20));
  CHECK_FALSE(shortened_to_fit(scenario, 64));  // not one token: the error says what is too large
}

TEST_CASE("a trace of a shortened text belongs to the whole, says how much is shown, and is edited further") {
  Scenario scenario;
  scenario.attention.embed_dim = 8;
  scenario.attention.num_heads = 1;
  scenario.inputs.source = InputSource::text;
  scenario.inputs.text = words(1200);
  const Index room = Index{1} << 20;
  const ComputationPtr computed = compute(scenario, nullptr, room);
  CHECK(computed->scenario == scenario);
  REQUIRE(computed->shortened);
  const Index shown = computed->trace->tensors.query->shape().size(1);
  CHECK(shown > 100);
  CHECK(shown < 1200);
  CHECK(computed->inputs.notes.front() == computed->shortened->note);
  CHECK(computed->shortened->note.ends_with("of 1,200 tokens."));
  scenario.mask.is_causal = true;
  const ComputationPtr edited = compute(scenario, computed.get(), room);
  CHECK(edited->trace->tensors.query == computed->trace->tensors.query);
  CHECK(edited->trace->tensors.attn_weights->at({0, 0, 0, 1}) == 0.0);
}

TEST_CASE("the first tokens of a text are its beginning, whole tokens only") {
  CHECK(first_tokens("It didn't  rain.", 0).empty());
  CHECK(first_tokens("It didn't  rain.", 2) == "It did");
  CHECK(first_tokens("It didn't  rain.", 4) == "It didn't  rain");
  CHECK(first_tokens("It didn't  rain.", 99) == "It didn't  rain.");
  CHECK(first_tokens("  ", 3).empty());
}

TEST_CASE("without a text the stage asks for a sentence, and every view takes it") {
  Scenario scenario = preset_scenario("hand_made");
  scenario.inputs.text = "";
  WINDOW_OR_SKIP(bench, open_unpainted(1000, 700, scenario));
  for (int view = 0; view < stage_view_count; ++view) {
    for (int step = 0; step < step_count; ++step) bench.ui->key("Right").run_frames(2);
    bench.ui->key("Home").key("A");
  }
  CHECK(bench.session().error().empty());
  CHECK_FALSE(bench.ui->has("stage/result"));
}

TEST_CASE("odd texts are drawn in a window of any size, and keep their bytes") {
  const std::string odd[] = {
      "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 \xf0\x9f\x98\x80",
      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85",
      "\xe6\xb3\xa8\xe6\x84\x8f\xe5\x8a\x9b\xe6\x9c\xba\xe5\x88\xb6",
      "e\xcc\x81\xcc\x82\xcc\x83 \xff\xfe \xc0\x80 \x01\x7f", std::string(3000, 'x')};
  for (const std::string& text : odd) {
    Scenario scenario = preset_scenario("hand_made");
    scenario.inputs.text = text;
    WINDOW_OR_SKIP(bench, open_unpainted(700, 500, scenario));
    bench.ui->click("tab/settings").run_frames(2).click("setup/text").key("End").resize(1, 1);
    bench.ui->resize(3, 900).resize(700, 500);
    CHECK(bench.scenario().inputs.text == text);
    CHECK(bench.session().error().empty());
  }
}

TEST_CASE("what was in a window that ends before its time is kept, and can be opened again") {
  const TemporaryFolder folder;
  const test::EnvironmentVariable state("XDG_STATE_HOME", folder.file("state"));
  Scenario scenario = preset_scenario("hand_made");
  scenario.mask.is_causal = true;
  const std::string path = rescue_scenario(scenario);
  CHECK(path == folder.file("state/headwise/rescued.json"));
  CHECK(read_scenario_file(path).mask.is_causal);
  // A folder that cannot be made.
  state.set("/dev/null/x");
  CHECK(rescue_scenario(scenario).empty());
  ErrorLog("/dev/null/x/errors.log").write("nobody sees this");
}

TEST_CASE("the log has one line an error, and keeps to its size") {
  const TemporaryFolder folder;
  const ErrorLog log(folder.file("logs/errors.log"));
  log.write("first\nline");
  log.write("second");
  const std::string content = content_of(log.path());
  CHECK(std::count(content.begin(), content.end(), '\n') == 2);
  CHECK_CONTAINS(content, "first\\nline");
  CHECK(content[4] == '-');
  for (int i = 0; i < 3000; ++i) log.write(std::string(10000, 'x'));
  CHECK(std::filesystem::file_size(log.path()) <= ErrorLog::largest_bytes + 64);
  CHECK(std::filesystem::file_size(log.path() + ".old") <= ErrorLog::largest_bytes + 64);
}

TEST_CASE("the menu shows the log, newest last, and where it is") {
  WINDOW_OR_SKIP(bench, open_unpainted());
  const TemporaryFolder folder;
  const std::string path = folder.file("errors.log");
  bench.state().view.notices.log = ErrorLog(path);
  for (const char* error : {"the first error", "the second error"})
    bench.state().view.notices.log.write(error);
  bench.ui->key("Ctrl+Shift+P").type("error log").key("Enter");
  CHECK(bench.ui->has("log/lines"));
  const LogSheetState& log = bench.state().dialogs.log;
  CHECK(log.path == path);
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[1].ends_with("the second error"));
  bench.ui->click("log/copy");
  CHECK(std::string(ImGui::GetClipboardText()) == path);
  bench.ui->click("overlay/close");
  CHECK_FALSE(bench.state().dialogs.any_open());
}
