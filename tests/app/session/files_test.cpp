// Settings, folder listings and paths: what the window reads and writes beside scenarios.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/session/folder_listing.h"
#include "app/session/kept_work.h"
#include "app/session/settings.h"
#include "core/tensor/error.h"
#include "tests/checks.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

TEST_CASE("settings are read back as they were written, into a folder that is made for them") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a/b/settings.json");
  CHECK(load_settings(path).settings == Settings{});
  save_settings(path, {Theme::light, 1.5f});
  CHECK(load_settings(path).settings == Settings{Theme::light, 1.5f});
  CHECK_NOTHROW(save_settings("", {}));
}

TEST_CASE("damaged settings are set aside with a notice, and the defaults serve") {
  const TemporaryFolder folder;
  const std::string path = folder.file("settings.json");
  for (const char* content : {"", "{", "[1]", "{\"theme\": 7}", "{\"font_scale\": \"big\"}", "\xff\xfe"}) {
    std::ofstream(path) << content;
    CAPTURE(content);
    const LoadedSettings loaded = load_settings(path);
    CHECK(loaded.settings == Settings{});
    CHECK_CONTAINS(loaded.notice, path + ".damaged");
    CHECK_FALSE(fs::exists(path));
    CHECK(fs::exists(path + ".damaged"));
  }
}

TEST_CASE("settings of a newer version keep what is known, within bounds") {
  const TemporaryFolder folder;
  const std::string path = folder.file("settings.json");
  std::ofstream(path) << "{\"theme\": \"light\", \"font_scale\": 50, \"hologram\": true}";
  const LoadedSettings loaded = load_settings(path);
  CHECK(loaded.notice.empty());
  CHECK(loaded.settings.theme == Theme::light);
  CHECK(loaded.settings.font_scale == Settings::largest_font_scale);
}

TEST_CASE("what a newer version has written into the settings stays there when they are saved") {
  const TemporaryFolder folder;
  const std::string path = folder.file("settings.json");
  std::ofstream(path) << R"({"hologram": {"on": [1, "two"]}, "theme": "sepia", "font_scale": 1.5,
                             "suggestions_done": ["telepathy", "spotlight"]})";
  Settings settings = load_settings(path).settings;
  settings.filmstrip = false;
  settings.suggestions_done.set(static_cast<std::size_t>(Suggestion::ask));
  save_settings(path, settings);
  CHECK(load_settings(path).settings == settings);
  const auto written = [&] {
    std::ifstream file(path);
    return nlohmann::ordered_json::parse(file);
  };
  CHECK(written()["hologram"] == nlohmann::ordered_json::parse(R"({"on": [1, "two"]})"));
  CHECK(written()["theme"] == "sepia");  // was not changed, only unknown
  CHECK(written()["font_scale"] == 1.5);
  CHECK(written()["suggestions_done"] == nlohmann::ordered_json::parse(R"(["spotlight", "ask", "telepathy"])"));
  settings.theme = Theme::light;
  save_settings(path, settings);
  CHECK(written()["theme"] == "light");
  CHECK(written().contains("hologram"));
  std::ofstream(path) << std::string(500'000, '[');
  save_settings(path, settings);
  CHECK(load_settings(path).settings == settings);
}

TEST_CASE("settings that cannot be written are an Error of the output") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "x";
  try {
    save_settings(folder.file("file/settings.json"), {});
    FAIL("a file is no folder");
  } catch (const Error& error) {
    CHECK(error.status() == ExitStatus::output);
  }
}

TEST_CASE("settings live in the XDG folder") {
  const char* old = std::getenv("XDG_CONFIG_HOME");
  const std::string kept = old ? old : "";
  ::setenv("XDG_CONFIG_HOME", "/somewhere/config", 1);
  CHECK(settings_path() == "/somewhere/config/headwise/settings.json");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  CHECK(settings_path() != "relative/headwise/settings.json");
  old ? ::setenv("XDG_CONFIG_HOME", kept.c_str(), 1) : ::unsetenv("XDG_CONFIG_HOME");
}

TEST_CASE("a listing has folders first, then the files of the extension, without what is hidden") {
  const TemporaryFolder folder;
  fs::create_directories(folder.file("zoo"));
  for (const char* name : {"b.json", "a.json", ".hidden.json", "c.txt", "json"})
    std::ofstream(folder.file(name)) << "{}";
  constexpr std::array<std::string_view, 1> json{".json"};
  const FolderListing listing = list_folder(fs::path(folder.file("")).parent_path().string(), json);
  CHECK(listing.entries == std::vector<FolderEntry>{{"zoo", true}, {"a.json", false}, {"b.json", false}});
  CHECK(listing.note.empty());
  const FolderListing missing = list_folder(folder.file("nothing here"), json);
  CHECK(missing.entries.empty());
  CHECK_FALSE(missing.note.empty());
}

TEST_CASE("paths are taken apart as they are typed") {
  CHECK(folder_of("/a/b/c.json") == "/a/b/");
  CHECK(folder_of("/a/b/") == "/a/b/");
  CHECK(folder_of("c.json") == ".");
  CHECK(with_extension("/a.b/c", ".json") == "/a.b/c.json");
  CHECK(with_extension("/a/c.txt", ".json") == "/a/c.txt");
  CHECK(with_extension(".config", ".json") == ".config.json");
  CHECK(expanded_path("/x") == "/x");
  CHECK(expanded_path("~user") == "~user");
}

TEST_CASE("recent files are ten at most, the newest first, each once, and come back from their file") {
  const TemporaryFolder folder;
  const std::string list = folder.file("state/headwise/recent.json");
  std::vector<std::string> files;
  for (int i = 0; i < 14; ++i)
    files = with_recent_file(std::move(files), "/lessons/" + std::to_string(i) + ".json");
  CHECK(files.size() == 10);
  CHECK(files.front() == "/lessons/13.json");
  files = with_recent_file(std::move(files), "/lessons/./9.json");
  CHECK(files.front() == "/lessons/9.json");
  CHECK(files.size() == 10);
  CHECK(with_recent_file({}, "here.json").front().starts_with('/'));
  save_recent_files(list, files);
  CHECK(load_recent_files(list) == files);
}

TEST_CASE("a damaged list of recent files is an empty one") {
  const TemporaryFolder folder;
  CHECK(load_recent_files(folder.file("missing.json")).empty());
  CHECK(load_recent_files("").empty());
  for (const char* text : {"", "[", "{\"a\": 1}", "[1, null, \"\"]", "3"}) {
    std::ofstream(folder.file("recent.json")) << text;
    CHECK(load_recent_files(folder.file("recent.json")).empty());
  }
}
