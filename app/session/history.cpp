#include "app/session/history.h"

#include <utility>

namespace headwise {

std::size_t scenario_bytes(const Scenario& scenario) {
  std::size_t bytes = sizeof(Scenario) + scenario.inputs.text.capacity();
  for (const auto* text : {&scenario.inputs.key_text, &scenario.inputs.file, &scenario.inputs.picture,
                           &scenario.parameters.file, &scenario.mask.preset, &scenario.mask.file}) {
    if (*text) bytes += (*text)->capacity();
  }
  if (scenario.mask.valid_lens) {
    for (const auto& lens : *scenario.mask.valid_lens)
      bytes += sizeof(lens) + lens.capacity() * sizeof(lens[0]);
  }
  if (scenario.head_gain) bytes += scenario.head_gain->capacity() * sizeof(double);
  if (scenario.frozen_heads && scenario.frozen_heads->attn_weights)
    bytes += scenario.frozen_heads->attn_weights->bytes();
  for (const CellEdit& edit : scenario.edits)
    bytes += sizeof(edit) + edit.tensor.capacity() + edit.index.capacity() * sizeof(std::int64_t);
  return bytes;
}

History::History(Scenario first, std::size_t max_bytes) : max_bytes_(max_bytes) {
  append(std::move(first), "");
}

void History::append(Scenario scenario, std::string label, std::optional<std::size_t> page) {
  const std::size_t bytes = scenario_bytes(scenario) + label.capacity();
  steps_.push_back({std::move(scenario), std::move(label), page, bytes});
  bytes_ += bytes;
}

void History::drop_back() {
  bytes_ -= steps_.back().bytes;
  steps_.pop_back();
}

void History::drop_oldest() {
  while (bytes_ > max_bytes_ && at_ > 0) {
    bytes_ -= steps_.front().bytes;
    steps_.pop_front();
    --at_;
  }
}

void History::turn_page(Scenario scenario, std::string label, std::size_t page, bool unseen) {
  open_ = false;
  while (can_redo()) drop_back();
  if (unseen && at_ > 0) {
    drop_back();
    --at_;
  }
  append(std::move(scenario), std::move(label), page);
  ++at_;
  drop_oldest();
}

bool History::push(Scenario scenario, std::string label, bool continues) {
  const bool merges = open_ && at_ > 0 && steps_[at_].label == label;
  if (scenario == current()) {
    open_ = continues && merges;
    return merges;
  }
  while (can_redo()) drop_back();
  if (merges) {
    drop_back();
    --at_;
  }
  // Dragged or typed back to where it started: nothing happened.
  const bool returned = merges && scenario == current();
  open_ = continues && !returned;
  if (returned) return true;
  append(std::move(scenario), std::move(label));
  ++at_;
  drop_oldest();
  return merges;
}

std::string History::undo_label() const {
  return can_undo() ? steps_[at_].label : "";
}

std::string History::redo_label() const {
  return can_redo() ? steps_[at_ + 1].label : "";
}

bool History::undo() {
  open_ = false;
  if (!can_undo()) return false;
  --at_;
  return true;
}

bool History::redo() {
  open_ = false;
  if (!can_redo()) return false;
  ++at_;
  return true;
}

}  // namespace headwise
