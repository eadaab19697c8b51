// Who may include whom: the layers of the program, checked on its own sources.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

// What each folder of core may include besides itself. core/gpu is the OpenGL compute path.
const std::map<std::string, std::set<std::string>> core_layers{
    {"core/tensor", {}},
    {"core/attention", {"core/tensor"}},
    {"core/trace", {"core/tensor", "core/attention"}},
    {"core/answers",
     {"core/tensor", "core/attention", "core/trace", "core/scenario", "core/picture"}},  // views of a matrix
    {"core/files", {"core/tensor"}},
    {"core/scenario", {"core/tensor", "core/attention", "core/trace", "core/files", "core/model"}},
    {"core/picture", {"core/tensor", "core/files"}},
    {"core/fused", {"core/tensor", "core/attention", "core/trace"}},
    {"core/bench", {"core/tensor", "core/attention", "core/trace"}},
    {"core/gpu", {"core/tensor", "core/attention", "core/trace"}},
    {"core/model", {"core/tensor", "core/attention", "core/trace", "core/files"}},
};
const std::set<std::string> gl_folders{"core/gpu", "app/gl", "app/render", "app/platform"};
const std::set<std::string> imgui_folders{"app/platform", "app/widgets", "app/panels"};

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
    if (header.find("imgui") != std::string::npos && !imgui_folders.contains(folder)) {
      breaks("ImGui only in app/platform, app/widgets and app/panels");
    }
    const auto layer = core_layers.find(folder);
    if (layer != core_layers.end() && header.starts_with("core/")) {
      const std::string target = folder_of(header);
      if (target != folder && !layer->second.contains(target)) breaks(folder + " stands below " + target);
    }
    if (header.starts_with("tests/")) breaks("the program never includes its tests");
  }
  return broken;
}

}  // namespace

TEST_CASE("every source file includes only what its layer may know") {
  const fs::path root = HEADWISE_SOURCE_DIR;
  int files = 0;
  for (const char* top : {"core", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      ++files;
      std::ifstream file(entry.path());
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      for (const std::string& rule : broken_rules(fs::relative(entry.path(), root).string(), content))
        FAIL_CHECK(rule);
    }
  }
  CHECK(files > 20);
}

TEST_CASE("the include rules catch each kind of breach") {
  CHECK(broken_rules("core/tensor/a.h", "#include \"app/session/session.h\"\n").size() == 1);
  CHECK(broken_rules("core/attention/a.cpp", "#include \"core/trace/trace.h\"\n").size() == 1);
  CHECK(broken_rules("app/panels/a.cpp", "#include <epoxy/gl.h>\n").size() == 1);
  CHECK(broken_rules("app/widgets/a.cpp", "#include <GLFW/glfw3.h>\n").size() == 1);
  CHECK(broken_rules("app/session/a.cpp", "#include <imgui.h>\n").size() == 1);
  CHECK(broken_rules("app/render/a.cpp", "  # include \"imgui_internal.h\"\n").size() == 1);
  CHECK(broken_rules("app/panels/a.cpp", "#include <imgui.h>\n#include \"core/trace/trace.h\"\n").empty());
}
