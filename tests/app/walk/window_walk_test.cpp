// A random walk through the window: whatever is done to it, nothing crashes, OpenGL has nothing to say, the
// numbers belong to the scenario, and undo leads back to where it began.
//   HEADWISE_WALK_EVENTS  how many things are done (1000)
//   HEADWISE_WALK_SEED    which (1)
//   HEADWISE_WALK_LOG     a file that each of them is written to before it is done,
//                         for a walk that ends in a crash
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>

#include "app/session/folder_listing.h"
#include "core/scenario/layer_scenario.h"
#include "core/scenario/scenario_json.h"
#include "core/tensor/error.h"
#include "tests/app/walk/random_person.h"
#include "tests/app/window_bench.h"
#include "tests/core/files/temporary_folder.h"

using namespace headwise;
namespace fs = std::filesystem;

namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : std::strtoull(value, nullptr, 10);
}

// Beyond this a person would wait: the walk goes back instead.
constexpr double largest_work = 5e7;

// The process works inside of a folder of its own, and finds its settings there.
class OwnPlace {
 public:
  OwnPlace() : before_(fs::current_path()) {
    fs::current_path(folder_.file(""));
    for (const char* name :
         {"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "TMPDIR"}) {
      const char* value = std::getenv(name);
      variables_.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
      setenv(name, folder_.file("").c_str(), 1);
    }
  }
  ~OwnPlace() {
    fs::current_path(before_);
    for (const auto& [name, value] : variables_) {
      if (value) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
  }
  OwnPlace(const OwnPlace&) = delete;
  OwnPlace& operator=(const OwnPlace&) = delete;

  const TemporaryFolder& folder() const { return folder_; }
  // Nothing may be written anywhere else, whatever is typed.
  void keep_inside(std::string& path, const std::string& otherwise) const {
    if (path.empty()) return;
    const fs::path own = fs::canonical(folder_.file("")).lexically_normal();
    const fs::path meant = fs::absolute(expanded_path(path)).lexically_normal();
    const auto [end, ignored] = std::mismatch(own.begin(), own.end(), meant.begin(), meant.end());
    // A folder's path may end in an empty part.
    if (end != own.end() && !end->empty()) path = folder_.file(otherwise);
  }

 private:
  TemporaryFolder folder_;
  fs::path before_;
  std::vector<std::pair<std::string, std::optional<std::string>>> variables_;
};

std::vector<std::string> files_to_drop(const TemporaryFolder& folder) {
  std::vector<std::string> files;
  for (const Preset& preset : presets())
    files.push_back(folder.with_file(std::string(preset.name) + ".json", std::string(preset.json)));
  files.push_back(
      folder.with_file("sentences.json", R"({"headwise": 1, "attention": {"embed_dim": 128, "num_heads": 8},
        "inputs": {"source": "text", "text": "The dog saw the cat."},
        "parameters": {"source": "model", "file": ")" HEADWISE_SOURCE_DIR R"(/assets/models/sentences"}})"));
  files.push_back(folder.with_file("newer.json", R"({"headwise": 2})"));
  files.push_back(folder.with_file("broken.json", R"({"headwise": 1, "attention": )"));
  files.push_back(folder.with_file("model.pt", "PK\x03\x04 archive/data.pkl"));
  files.push_back(folder.with_file("empty.npy", ""));
  files.push_back(folder.with_file("words.txt", "words"));
  files.push_back(folder.file("missing.json"));
  files.push_back(folder.file(""));
  return files;
}

bool all_finite(const UiRect& rect) {
  return std::isfinite(rect.min.x) && std::isfinite(rect.min.y) && std::isfinite(rect.max.x) &&
         std::isfinite(rect.max.y);
}

class Walk {
 public:
  Walk(WindowBench& bench, const OwnPlace& place, std::uint64_t seed)
      : bench_(bench), place_(place), first_(bench.scenario()), person_(seed, files_to_drop(place.folder())) {
    if (const char* log = std::getenv("HEADWISE_WALK_LOG")) log_.open(log);
    // Before every frame: a path that was typed in one is read in the next at the earliest,
    // and not as it was typed.
    bench_.ui->set_frame([this](const FrameInput& input, const Fonts& fonts, float pixels) {
      keep_inside();
      return bench_.window->frame(input, fonts, pixels);
    });
  }

  // False where something was wrong: it has been told.
  bool one_event(std::uint64_t number) {
    last_.push_back(fmt::format("{}: {}", number, person_.act(*bench_.ui)));
    if (last_.size() > 12) last_.pop_front();
    if (log_.is_open()) log_ << last_.back() << std::endl;
    keep_tame();
    const std::string wrong = what_is_wrong(number);
    if (wrong.empty()) return true;
    FAIL_CHECK(wrong << "\nafter:\n  " << fmt::format("{}", fmt::join(last_, "\n  ")));
    return false;
  }

  void go_back() {
    Session& session = bench_.window->state().document.session;
    session.finish();
    if (!session.error().empty()) session.undo();
    const Scenario last = session.scenario();
    std::size_t undone = 0;
    while (session.undo()) {
      session.finish();
      ++undone;
      if (undone % 16 == 0) bench_.ui->run_frames(1);
    }
    CHECK(undone > 0);
    CHECK(session.error().empty());
    CHECK(session.scenario() == first_);
    CHECK(identical(*session.trace().tensors.output, *compute(first_, nullptr)->trace->tensors.output));
    for (; undone > 0; --undone) {
      CHECK(session.redo());
      session.finish();
    }
    CHECK(session.scenario() == last);
    bench_.ui->run_frames(2);
  }

 private:
  // All that the window may write to: what dialogs ask for, and the files of settings and of what was opened.
  void keep_inside() {
    WindowState& state = bench_.window->state();
    place_.keep_inside(state.dialogs.files.path, "scenario.json");
    place_.keep_inside(state.dialogs.export_dialog.path, "picture.png");
    place_.keep_inside(state.view.settings_file, "settings.json");
    place_.keep_inside(state.document.recent_file, "recent.json");
  }

  void keep_tame() {
    WindowState& state = bench_.window->state();
    state.quit = false;
    while (estimated_work(state.document.session.scenario()) > largest_work && state.document.session.undo()) {
    }
  }

  std::string what_is_wrong(std::uint64_t number) {
    const WindowState& state = bench_.window->state();
    const Session& session = state.document.session;
    if (!bench_.ui->gl_messages().empty()) return "OpenGL says: " + bench_.ui->gl_messages().front();
    for (const std::string& name : bench_.ui->names())
      if (!all_finite(bench_.ui->rect(name))) return name + " stands nowhere";
    if (selection_within(state.view.selection, state.document.trace_at_hand()) != state.view.selection)
      return "the place looked at is not in the trace";
    if (!session.computing() && session.error().empty() && !(session.traced_scenario() == session.scenario()))
      return "the trace is that of another scenario";
    if (number % 20 == 0) {
      const Scenario& shown = session.traced_scenario();
      try {
        Scenario again = scenario_from_json(scenario_to_json(shown), "saved");
        again.origin.folder = shown.origin.folder;
        again = with_layer_values(again);  // a file leaves out what the layer of a model decides
        if (!(again == shown)) return "a scenario comes back different: " + scenario_to_json(shown);
      } catch (const Error& error) {
        return fmt::format("a scenario cannot be read again: {}\n{}", error.what(), scenario_to_json(shown));
      }
      const ComputationPtr fresh = compute(shown, nullptr);
      for (const TensorEntry& entry : tensor_entries()) {
        const TensorPtr ours = session.trace().tensor(entry.id), theirs = fresh->trace->tensor(entry.id);
        if ((ours == nullptr) != (theirs == nullptr) || (ours && !identical(*ours, *theirs)))
          return fmt::format("{} is not what its scenario makes: {}", entry.name, scenario_to_json(shown));
      }
    }
    return "";
  }

  WindowBench& bench_;
  const OwnPlace& place_;
  Scenario first_;
  RandomPerson person_;
  std::deque<std::string> last_;
  std::ofstream log_;
};

}  // namespace

TEST_CASE("a random walk finds nothing wrong, and undo leads back to its beginning") {
  const std::uint64_t events = number_from("HEADWISE_WALK_EVENTS", 1000);
  const std::uint64_t seed = number_from("HEADWISE_WALK_SEED", 1);
  const OwnPlace place;
  const Preset& preset = presets()[seed % presets().size()];
  WINDOW_OR_SKIP(bench, open_window(900, 700, preset_scenario(preset.name)));
  bench.state().view.settings_file = place.folder().file("settings.json");
  CAPTURE(seed);
  Walk walk(bench, place, seed);
  for (std::uint64_t number = 1; number <= events; ++number) {
    // Rasterising is most of the time of software GL;
    // what can go wrong in it goes wrong in every tenth picture too.
    bench.ui->rasterise(number % 10 == 0);
    if (!walk.one_event(number)) return;
  }
  walk.go_back();
}
