// Models that are made when a test lets them: "builtin:gated/NAME/STEP" is a copy of a small trained model.
// With the NAME "broken" or "large" it fails as a training does, or for want of memory.
#pragma once

#include <atomic>
#include <chrono>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/files/file_paths.h"
#include "core/tensor/cancellation.h"
#include "core/tensor/error.h"
#include "core/tensor/progress.h"

namespace headwise {

struct ModelGate {
  std::atomic<bool> open = false;
  std::atomic<double> fraction = 0.0;        // how far a model is that waits at the gate
  std::atomic<int> begun = 0, given_up = 0;  // makings
};

inline ModelGate& model_gate() {
  static ModelGate gate;
  return gate;
}

inline std::vector<NamedContent> gated_model(const std::vector<NamedContent>& files, const std::string& folder) {
  ModelGate& gate = model_gate();
  ++gate.begun;
  try {
    while (!gate.open) {
      check_cancelled();
      const ProgressPart part(gate.fraction, gate.fraction, "training the model");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Error&) {
    ++gate.given_up;
    throw;
  }
  if (folder.find("/broken/") != std::string::npos)
    throw Error(ExitStatus::input,
                {.where = folder, .what = "this training failed: step 3: the loss has exploded"});
  if (folder.find("/large/") != std::string::npos) throw std::bad_alloc();
  return files;
}

// Closes the gate. The model that is copied knows words such as garden, river and lamp, and has two heads.
inline ModelGate& close_model_gate() {
  static const bool offered = [] {
    const std::string trained = "builtin:trained/reverse,width=16,heads=2/0";
    std::vector<NamedContent> files;
    std::vector<std::string> names;
    for (const std::string& path : made_paths_in(trained)) {
      names.push_back(path.substr(trained.size() + 1));
      const auto bytes = *made_file(path);
      files.push_back({names.back(), std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    }
    add_folder_maker(
        {.prefix = "builtin:gated/", .parts = 2, .names = names, .make = [files](const std::string& folder) {
           return gated_model(files, folder);
         }});
    return true;
  }();
  (void)offered;
  ModelGate& gate = model_gate();
  gate.open = false;
  gate.fraction = 0.0;
  gate.begun = gate.given_up = 0;
  return gate;
}

}  // namespace headwise
