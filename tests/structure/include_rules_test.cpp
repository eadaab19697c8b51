// Who may include whom, and how large a room may be: the layers of the program, checked on its own sources.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Room {
  long lines;                      // of its .cpp and .h files: as many as there may be
  std::set<std::string> includes;  // other rooms
};
// The rooms, with what each may include: core from the tensors up, app from the window's pieces to the window
// as a whole. Its lines are a budget: whoever needs more says so in this table, and whoever needs fewer takes
// them back. core/gpu is the OpenGL compute path.
constexpr long idle_lines = 200;  // that a budget may have
const std::map<std::string, Room> rooms{
    {"core/tensor", {2170, {}}},
    {"core/attention", {3010, {"core/tensor"}}},
    {"core/files", {3920, {"core/tensor"}}},
    {"core/picture", {4070, {"core/tensor", "core/files"}}},
    {"core/trace", {4360, {"core/tensor", "core/attention"}}},
    {"core/reference", {1740, {"core/tensor", "core/attention", "core/trace"}}},
    {"core/fused", {2680, {"core/tensor", "core/attention", "core/trace", "core/reference"}}},
    {"core/gpu", {4300, {"core/tensor", "core/attention", "core/trace", "core/reference"}}},
    {"core/compare", {5890, {"core/tensor", "core/attention", "core/trace", "core/reference"}}},
    {"core/bench", {410, {"core/tensor", "core/attention", "core/trace", "core/reference"}}},
    {"core/model", {9160, {"core/tensor", "core/attention", "core/trace", "core/files"}}},
    {"core/train", {6380, {"core/tensor", "core/attention", "core/trace", "core/files", "core/model"}}},
    {"core/backend",
     {470,
      {"core/tensor", "core/attention", "core/trace", "core/reference", "core/fused", "core/gpu",
       "core/scenario", "core/files"}}},
    {"core/scenario", {6180, {"core/tensor", "core/attention", "core/trace", "core/files", "core/model"}}},
    {"core/answers",
     {3410,
      {"core/tensor", "core/attention", "core/trace", "core/reference", "core/compare", "core/scenario",
       "core/model", "core/picture"}}},  // the habits of heads; views of a matrix
    {"core/code", {980, {"core/tensor", "core/attention", "core/trace", "core/files", "core/answers"}}},
    {"core/full_size", {740, {"core/tensor", "core/attention", "core/trace", "core/fused", "core/scenario"}}},
    {"core/playlist", {1850, {"core/tensor", "core/trace", "core/files", "core/scenario", "core/answers"}}},
    {"core/search", {590, {"core/tensor", "core/files"}}},
    {"app/gl", {670, {}}},
    {"app/render", {790, {"app/gl"}}},
    {"app/platform", {1760, {"app/gl"}}},
    {"app/session", {7830, {"app/gl", "app/platform"}}},
    {"app/content", {5330, {"app/session"}}},
    {"app/widgets", {4560, {"app/render", "app/platform", "app/session"}}},
    {"app/panels", {650, {"app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/stage", {8790, {"app/panels", "app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/inspector",
     {1400, {"app/stage", "app/panels", "app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/setup", {1740, {"app/panels", "app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/sheets",
     {4080, {"app/setup", "app/panels", "app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/training", {2100, {"app/panels", "app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/opening", {520, {"app/widgets", "app/platform", "app/session", "app/content"}}},
    {"app/window",
     {9810,
      {"app/opening", "app/training", "app/sheets", "app/setup", "app/inspector", "app/stage", "app/panels",
       "app/widgets", "app/render", "app/platform", "app/session", "app/content"}}},
    {"app/cli", {5110, {"app/window", "app/platform", "app/session", "app/gl"}}},
};
// Parsed by all files of a library (CMakeLists.txt), and so above its rooms.
const std::set<std::string> precompiled{"core/precompiled.h", "app/precompiled.h", "app/cli/precompiled.h"};
const std::set<std::string> gl_folders{"core/gpu", "app/gl", "app/render", "app/platform"};
const std::set<std::string> imgui_folders{"app/platform",  "app/widgets", "app/panels", "app/stage",
                                          "app/inspector", "app/setup",   "app/sheets", "app/training",
                                          "app/opening",   "app/window"};

// What HEADWISE_GPU_ONLY builds, by itself: folders, and single files that its tests share with others.
const std::set<std::string> built_alone{"core/tensor",    "core/attention", "core/trace", "core/reference",
                                        "core/fused",     "core/bench",     "core/gpu",   "app/gl",
                                        "tests/core/gpu", "tests/gpu"};
const std::set<std::string> shared_alone{"core/precompiled.h",
                                         "core/picture/image.h",
                                         "tests/checks.h",
                                         "tests/skipped.h",
                                         "tests/core/fused/agreement.h",
                                         "tests/core/fused/agreement.cpp",
                                         "tests/core/trace/option_combinations.h",
                                         "tests/core/trace/option_combinations.cpp",
                                         "tests/core/attention/random_inputs.h"};

bool starts_with_any(const std::string& text, std::initializer_list<const char*> prefixes) {
  for (const char* prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

// The first two parts of a path: "core/tensor/shape.h" → "core/tensor".
std::string folder_of(const std::string& path) {
  const auto second = path.find('/', path.find('/') + 1);
  return second == std::string::npos ? path.substr(0, path.find('/')) : path.substr(0, second);
}

std::vector<std::string> broken_rules(const std::string& path, const std::string& content) {
  static const std::regex include_line(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  const std::string folder = folder_of(path);
  std::vector<std::string> broken;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, include_line)) continue;
    const std::string header = match[1];
    const auto breaks = [&](const std::string& rule) {
      broken.push_back(fmt::format("{} includes {}: {}", path, header, rule));
    };
    if (path.starts_with("core/") && header.starts_with("app/")) breaks("core never includes app");
    if (starts_with_any(header, {"epoxy/", "GL/", "GLES", "EGL/", "KHR/"}) && !gl_folders.contains(folder)) {
      breaks("GL headers only in core/gpu, app/gl, app/render and app/platform");
    }
    if (header.starts_with("GLFW/") && folder != "app/platform") breaks("GLFW only in app/platform");
    if (header.find("imgui") != std::string::npos && !imgui_folders.contains(folder) &&
        !precompiled.contains(path)) {
      breaks("ImGui only where the window is drawn");
    }
    const auto room = rooms.find(folder);
    const bool ours = header.starts_with("core/") || (path.starts_with("app/") && header.starts_with("app/"));
    if (room != rooms.end() && ours && !precompiled.contains(path)) {
      const std::string target = folder_of(header);
      const bool from_app = path.starts_with("app/") && header.starts_with("core/");
      if (target != folder && !from_app && !room->second.includes.contains(target))
        breaks(folder + " stands below " + target);
    }
    if (header.starts_with("tests/")) breaks("the program never includes its tests");
  }
  return broken;
}

bool is_built_alone(const std::string& path) {
  const bool in_folder = built_alone.contains(path.substr(0, path.rfind('/')));
  return (in_folder && path != "tests/gpu/on_a_gpu_test.cpp") || shared_alone.contains(path);
}

// Includes of a file of HEADWISE_GPU_ONLY that are not there on a machine with a compiler and a driver.
std::vector<std::string> missing_alone(const std::string& path, const std::string& content) {
  static const std::regex include_line(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<std::string> missing;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, include_line)) continue;
    const std::string header = match[2];
    const bool library = header.find('/') != std::string::npos && match[1] == "<";
    const bool there = library ? starts_with_any(header, {"Eigen/", "fmt/", "epoxy/", "doctest/", "sys/"})
                               : match[1] == "<" || is_built_alone(header);
    if (!there)
      missing.push_back(fmt::format("{} includes {}, which HEADWISE_GPU_ONLY does not build", path, header));
  }
  return missing;
}

}  // namespace

TEST_CASE("what is built for a machine with a GPU and little else includes nothing that is not there") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  std::size_t files = 0;
  for (const char* top : {"core", "app", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string path = fs::relative(entry.path(), root).string(), extension = entry.path().extension();
      if ((extension != ".h" && extension != ".cpp") || !is_built_alone(path)) continue;
      std::ifstream file(entry.path());
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      for (const std::string& rule : missing_alone(path, content)) FAIL_CHECK(rule);
      ++files;
    }
  }
  CHECK(files > 100);
  CHECK(missing_alone("core/gpu/a.cpp", "#include \"core/files/npy.h\"\n").size() == 1);
  CHECK(missing_alone("tests/gpu/a.cpp", "#include <nlohmann/json.hpp>\n").size() == 1);
  CHECK(missing_alone("app/gl/a.cpp", "#include <vector>\n#include \"core/gpu/object.h\"\n").empty());
}

TEST_CASE("every source file includes only what its layer may know, and no room outgrows its budget") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  std::map<std::string, long> lines;  // of the rooms that are there
  for (const char* top : {"core", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      const std::string path = fs::relative(entry.path(), root).string();
      std::ifstream file(entry.path());
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (folder_of(path).find('/') != std::string::npos)
        lines[folder_of(path)] += static_cast<long>(std::ranges::count(content, '\n'));
      for (const std::string& rule : broken_rules(path, content)) FAIL_CHECK(rule);
    }
  }
  // A room that the table does not know could include anything.
  CHECK(lines.size() == rooms.size());
  for (const auto& [name, are] : lines) {
    CAPTURE(name);
    REQUIRE_MESSAGE(rooms.contains(name), name, " has no place in the order of rooms");
    const long budget = rooms.at(name).lines;
    CHECK_MESSAGE(are <= budget, name, " has ", are, " lines, ", are - budget, " more than the table allows");
    CHECK_MESSAGE(are > budget - idle_lines, name, " has ", are, " lines: the table can ask for fewer");
  }
}

TEST_CASE("the include rules catch each kind of breach") {
  CHECK(broken_rules("core/tensor/a.h", "#include \"app/session/session.h\"\n").size() == 1);
  CHECK(broken_rules("core/attention/a.cpp", "#include \"core/trace/trace.h\"\n").size() == 1);
  CHECK(broken_rules("app/stage/a.cpp", "#include <epoxy/gl.h>\n").size() == 1);
  CHECK(broken_rules("app/widgets/a.cpp", "#include <GLFW/glfw3.h>\n").size() == 1);
  CHECK(broken_rules("app/session/a.cpp", "#include <imgui.h>\n").size() == 1);
  CHECK(broken_rules("app/render/a.cpp", "  # include \"imgui_internal.h\"\n").size() == 1);
  CHECK(broken_rules("app/content/a.h", "#include <imgui.h>\n").size() == 1);
  CHECK(broken_rules("app/stage/a.h", "#include \"app/window/window_state.h\"\n").size() == 1);
  CHECK(broken_rules("core/trace/a.cpp", "#include \"core/reference/stage_cache.h\"\n").size() == 1);
  CHECK(broken_rules("app/stage/a.cpp", "#include <imgui.h>\n#include \"core/trace/trace.h\"\n").empty());
}
