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
    {"core/tensor", {2000, {}}},
    {"core/attention", {13850, {"core/tensor"}}},
    {"core/compare", {6800, {"core/tensor", "core/attention"}}},
    {"core/files", {4060, {"core/tensor"}}},
    {"core/export", {5720, {"core/tensor", "core/attention", "core/files"}}},
    {"core/fused", {3460, {"core/tensor", "core/attention"}}},
    {"core/gpu", {4600, {"core/tensor", "core/attention"}}},
    {"core/model", {12120, {"core/tensor", "core/attention", "core/files"}}},
    {"core/scenario", {7280, {"core/tensor", "core/attention", "core/files", "core/model"}}},
    {"core/backend",
     {1300, {"core/tensor", "core/attention", "core/files", "core/fused", "core/gpu", "core/scenario"}}},
    {"core/lessons",
     {6180,
      {"core/tensor", "core/attention", "core/compare", "core/files", "core/export", "core/model",
       "core/scenario"}}},
    {"core/train", {7200, {"core/tensor", "core/attention", "core/files", "core/model"}}},
    {"app/platform", {3290, {}}},
    {"app/session", {7880, {"app/platform"}}},
    {"app/content", {5700, {"app/session"}}},
    {"app/web", {730, {"app/session", "app/content"}}},
    {"app/widgets", {4830, {"app/platform", "app/session"}}},
    {"app/panels", {7160, {"app/platform", "app/session", "app/content", "app/widgets"}}},
    {"app/stage", {10520, {"app/session", "app/content", "app/widgets", "app/panels"}}},
    {"app/lesson", {2760, {"app/session", "app/content", "app/widgets", "app/panels", "app/stage"}}},
    {"app/training", {2140, {"app/session", "app/content", "app/widgets", "app/panels"}}},
    {"app/window",
     {7150,
      {"app/platform", "app/session", "app/content", "app/widgets", "app/panels", "app/stage", "app/lesson",
       "app/training"}}},
    {"app/cli", {6130, {"app/platform", "app/session", "app/content", "app/web", "app/window"}}},
};
// Parsed by all files of a library (CMakeLists.txt), and so above its rooms.
const std::set<std::string> precompiled{"core/precompiled.h", "app/precompiled.h", "app/cli/precompiled.h"};
const std::set<std::string> gl_folders{"core/gpu", "app/platform"};
const std::set<std::string> imgui_folders{"app/platform", "app/widgets", "app/panels", "app/stage",
                                          "app/training", "app/lesson",  "app/window"};

// What HEADWISE_GPU_ONLY builds, by itself: folders, and single files that its tests share with others.
const std::set<std::string> built_alone{"core/tensor", "core/attention", "core/fused",
                                        "core/gpu",    "tests/core/gpu", "tests/gpu"};
const std::set<std::string> shared_alone{"core/precompiled.h",
                                         "core/export/image.h",
                                         "app/platform/drawing_objects.h",
                                         "app/platform/drawing_objects.cpp",
                                         "app/platform/driver.h",
                                         "app/platform/driver.cpp",
                                         "app/platform/offscreen_context.h",
                                         "app/platform/offscreen_context.cpp",
                                         "tests/checks.h",
                                         "tests/skipped.h",
                                         "tests/core/fused/agreement.h",
                                         "tests/core/fused/agreement.cpp",
                                         "tests/core/attention/option_combinations.h",
                                         "tests/core/attention/option_combinations.cpp",
                                         "tests/core/attention/random_inputs.h",
                                         "tests/core/attention/latent_inputs.h"};

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

struct Include {
  std::string header;
  bool quoted;  // "…", and not <…>
};

std::vector<Include> includes_of(const std::string& content) {
  static const std::regex line(R"((?:^|\n)\s*#\s*include\s*([<"])([^>"\n]+)[>"])");
  std::vector<Include> found;
  for (std::sregex_iterator at(content.begin(), content.end(), line), end; at != end; ++at)
    found.push_back({(*at)[2], (*at)[1] == "\""});
  return found;
}

struct Source {
  std::string path, content;
};

std::vector<Source> sources_of(std::initializer_list<const char*> tops) {
  const fs::path root = HEADWISE_SOURCE_DIR;
  std::vector<Source> sources;
  for (const char* top : tops) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      std::ifstream file(entry.path());
      sources.push_back({fs::relative(entry.path(), root).string(),
                         std::string((std::istreambuf_iterator<char>(file)), {})});
    }
  }
  return sources;
}

std::vector<std::string> broken_rules(const std::string& path, const std::string& content) {
  const std::string folder = folder_of(path);
  const auto room = rooms.find(folder);
  std::vector<std::string> broken;
  for (const auto& [header, quoted] : includes_of(content)) {
    const auto breaks = [&](const std::string& rule) {
      broken.push_back(fmt::format("{} includes {}: {}", path, header, rule));
    };
    if (path.starts_with("core/") && header.starts_with("app/")) breaks("core never includes app");
    if (starts_with_any(header, {"epoxy/", "GL/", "GLES", "EGL/", "KHR/"}) && !gl_folders.contains(folder))
      breaks("GL headers only in core/gpu and app/platform");
    if (header.starts_with("GLFW/") && folder != "app/platform") breaks("GLFW only in app/platform");
    if (header.find("imgui") != std::string::npos && !imgui_folders.contains(folder) &&
        !precompiled.contains(path))
      breaks("ImGui only where the window is drawn");
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
  std::vector<std::string> missing;
  for (const auto& [header, quoted] : includes_of(content)) {
    const bool library = !quoted && header.find('/') != std::string::npos;
    const bool there = library ? starts_with_any(header, {"Eigen/", "fmt/", "epoxy/", "doctest/", "sys/"})
                               : !quoted || is_built_alone(header);
    if (!there)
      missing.push_back(fmt::format("{} includes {}, which HEADWISE_GPU_ONLY does not build", path, header));
  }
  return missing;
}

}  // namespace

TEST_CASE("what is built for a machine with a GPU and little else includes nothing that is not there") {
  std::size_t files = 0;
  for (const auto& [path, content] : sources_of({"core", "app", "tests"})) {
    if (!is_built_alone(path)) continue;
    for (const std::string& rule : missing_alone(path, content)) FAIL_CHECK(rule);
    ++files;
  }
  CHECK(files > 100);
  CHECK(missing_alone("core/gpu/a.cpp", "#include \"core/files/npy.h\"\n").size() == 1);
  CHECK(missing_alone("tests/gpu/a.cpp", "#include <nlohmann/json.hpp>\n").size() == 1);
  CHECK(missing_alone("core/gpu/a.cpp", "#include <vector>\n#include \"core/gpu/object.h\"\n").empty());
}

TEST_CASE("every source file includes only what its layer may know, and no room outgrows its budget") {
  std::map<std::string, long> lines;  // of the rooms that are there
  for (const auto& [path, content] : sources_of({"core", "app"})) {
    const std::string folder = folder_of(path);
    if (folder.find('/') != std::string::npos && folder != path)
      lines[folder] += static_cast<long>(std::ranges::count(content, '\n'));
    for (const std::string& rule : broken_rules(path, content)) FAIL_CHECK(rule);
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

TEST_CASE("a room has one door: room.h says what the room is for and names the headers that others include") {
  std::map<std::string, std::set<std::string>> named, entered;
  for (const auto& [path, content] : sources_of({"core", "app"})) {
    const std::string folder = folder_of(path);
    const bool door = path == folder + "/room.h";
    if (door) CHECK_MESSAGE(content.starts_with("// "), path, " does not say what the room is for");
    if (precompiled.contains(path)) continue;
    for (const auto& [header, quoted] : includes_of(content)) {
      if (door) named[folder].insert(header);
      if (!door && folder_of(header) != folder && rooms.contains(folder_of(header)))
        entered[folder_of(header)].insert(header);
    }
  }
  for (const auto& [name, room] : rooms) {
    CHECK_MESSAGE(fs::exists(fs::path(HEADWISE_SOURCE_DIR) / name / "room.h"), name, " has no room.h");
    for (const std::string& header : entered[name])
      CHECK_MESSAGE(named[name].contains(header), name, "/room.h does not name ", header,
                    ", which others include");
    for (const std::string& header : named[name])
      CHECK_MESSAGE(entered[name].contains(header), name, "/room.h names ", header,
                    ", which no other room includes");
  }
}

TEST_CASE("the include rules catch each kind of breach") {
  CHECK(broken_rules("core/tensor/a.h", "#include \"app/session/session.h\"\n").size() == 1);
  CHECK(broken_rules("core/attention/a.cpp", "#include \"core/gpu/gl_state.h\"\n").size() == 1);
  CHECK(broken_rules("app/stage/a.cpp", "#include <epoxy/gl.h>\n").size() == 1);
  CHECK(broken_rules("app/widgets/a.cpp", "#include <GLFW/glfw3.h>\n").size() == 1);
  CHECK(broken_rules("app/session/a.cpp", "#include <imgui.h>\n").size() == 1);
  CHECK(broken_rules("app/platform/a.cpp", "#include \"app/widgets/painter.h\"\n").size() == 1);
  CHECK(broken_rules("app/content/a.cpp", "  # include \"imgui_internal.h\"\n").size() == 1);
  CHECK(broken_rules("app/stage/a.h", "#include \"app/window/window_state.h\"\n").size() == 1);
  CHECK(broken_rules("app/stage/a.cpp", "#include <imgui.h>\n#include \"core/attention/trace.h\"\n").empty());
}
