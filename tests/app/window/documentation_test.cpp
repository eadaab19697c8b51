// Help, Documentation: read in the window, and handed to a web browser.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "app/platform/desktop_program.h"
#include "tests/app/window_bench.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

// Programs that take the place of the system's until it ends.
class OtherPath {
 public:
  OtherPath() {
    if (const char* path = std::getenv("PATH")) path_ = path;
    if (const char* browser = std::getenv("BROWSER")) browser_ = browser;
    setenv("PATH", fs::path(folder_.file("x")).parent_path().c_str(), 1);
    unsetenv("BROWSER");
  }
  ~OtherPath() {
    setenv("PATH", path_.c_str(), 1);
    if (!browser_.empty()) setenv("BROWSER", browser_.c_str(), 1);
  }
  OtherPath(const OtherPath&) = delete;
  OtherPath& operator=(const OtherPath&) = delete;

  std::string file(const std::string& name) const { return folder_.file(name); }
  // Writes what it is started with into the file "opened".
  void add_program(const std::string& name) const {
    fs::permissions(folder_.with_file(name, "#!/bin/sh\necho \"$1\" > '" + file("opened") + "'\n"),
                    fs::perms::owner_all);
  }
  // The file that it was started with; empty after ten seconds without one.
  std::string opened() const {
    std::string line;
    for (int i = 0; i < 1000 && line.empty(); ++i) {
      std::ifstream file(folder_.file("opened"));
      std::getline(file, line);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return line;
  }

 private:
  TemporaryFolder folder_;
  std::string path_, browser_;
};

void open_documentation(WindowBench& bench) {
  bench.ui->click("menu/Help").click("menu/Documentation");
}

}  // namespace

TEST_CASE("the documentation is read in the window: pages by tab and by link, scrolled, closed by Escape") {
  const OtherPath none{};
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 800));
  open_documentation(bench);
  REQUIRE(bench.ui->has("overlay/docs"));
  CHECK(bench.ui->has("says/window"));
  CHECK_FALSE(bench.ui->has("docs/browser"));  // there is none
  const DocSheetState& docs = bench.state().dialogs.docs;
  CHECK(docs.page == 0);

  bench.ui->key("End");
  CHECK_FALSE(bench.ui->has("says/Steps"));
  bench.ui->key("Home");
  CHECK(bench.ui->has("says/Steps"));
  const UiRect tabs = bench.ui->rect("docs/pages");
  bench.ui->move_to(tabs.min.x + 60, tabs.max.y + 100).wheel(-20);
  CHECK_FALSE(bench.ui->has("says/Steps"));

  bench.ui->click(tabs.min.x + 0.35 * (tabs.max.x - tabs.min.x), tabs.min.y + 5);
  CHECK(docs.page == 2);
  CHECK(bench.ui->has("says/command"));
  bench.ui->move_to(tabs.min.x + 60, tabs.max.y + 100).wheel(-3);
  bench.ui->click("docs/link/scenarios");
  CHECK(docs.page == 3);
  bench.ui->key("Escape");
  CHECK_FALSE(bench.ui->has("overlay/docs"));
  CHECK(bench.selection().step == Step::inputs);
}

TEST_CASE("where there is a browser it is started with all pages as one HTML file") {
  const OtherPath other{};
  other.add_program("xdg-open");
  CHECK(browser_program() == other.file("xdg-open"));
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  bench.state().document.kept_folder = other.file("kept");
  open_documentation(bench);
  bench.ui->click("docs/browser");
  const std::string file = other.opened();
  CHECK(file == other.file("kept/headwise-docs.html"));
  CHECK_CONTAINS(content_of(file), "<h1>The command line</h1>");
  REQUIRE_FALSE(bench.state().view.notices.notices.empty());
  CHECK(bench.state().view.notices.notices.back().text.starts_with("Opening "));
}

TEST_CASE("a browser that cannot be started is said, and where the page is") {
  const OtherPath other{};
  other.add_program("x-www-browser");
  CHECK_FALSE(open_in_browser(other.file("missing"), "page.html"));
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 720));
  bench.state().document.kept_folder = other.file("kept");
  open_documentation(bench);
  fs::remove(other.file("x-www-browser"));  // gone since the sheet was opened
  bench.ui->click("docs/browser");
  REQUIRE_FALSE(bench.state().view.notices.notices.empty());
  const std::string told = bench.state().view.notices.notices.back().text;
  CHECK_CONTAINS(told, "No web browser could be started");
  CHECK_CONTAINS(told, "headwise-docs.html");
}

TEST_CASE("BROWSER is taken before the system's choice, by its name or by its path") {
  const OtherPath other{};
  for (const char* name : {"xdg-open", "x-www-browser", "mine"}) other.add_program(name);
  CHECK(fs::path(browser_program()).filename() == "x-www-browser");
  setenv("BROWSER", "mine", 1);
  CHECK(browser_program() == other.file("mine"));
  setenv("BROWSER", other.file("mine").c_str(), 1);
  CHECK(browser_program() == other.file("mine"));
  setenv("BROWSER", "not-there", 1);
  CHECK(fs::path(browser_program()).filename() == "x-www-browser");
  unsetenv("BROWSER");
}

TEST_CASE("where the documentation speaks of a page of a lesson, its title leads there") {
  WINDOW_OR_SKIP(bench, open_unpainted(1280, 800));
  WindowState& state = bench.state();
  int links = 0;
  std::optional<DocPlace> place;
  for (std::size_t page = 0; page < doc_pages().size(); ++page)
    for (std::size_t block = 0; block < doc_pages()[page].blocks.size(); ++block)
      for (const auto& cell : doc_pages()[page].blocks[block].cells)
        for (const DocText& run : cell)
          if (run.style == DocStyle::lesson) {
            ++links;
            if (run.text == "Without positions") place = DocPlace{static_cast<int>(page), block};
          }
  CHECK(links >= 8);
  REQUIRE(place);
  state.dialogs.docs.open = true;
  state.dialogs.docs.wanted = place;
  bench.ui->run_frames(4).click("docs/lesson/Without positions").run_until_still();
  CHECK_FALSE(state.dialogs.docs.open);
  REQUIRE(state.document.walk.page);
  CHECK(state.document.walk.shown()->title == "Without positions");
}
