// Trainings that wait while another one is watched.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/session/live_training_run.h"

namespace headwise {
namespace {

constexpr std::size_t most_kept = 4, most_seconds = 2;
constexpr Index most_kept_bytes = Index{512} << 20;

std::string name_of_source(const TaskSource& source) {
  return source.file.empty() ? source.name : std::filesystem::path(source.file).filename().string();
}

}  // namespace

std::string LiveTraining::name() const {
  return name_of_source(source_);
}

std::vector<KeptTraining> LiveTraining::kept() const {
  std::vector<KeptTraining> kept;
  for (const auto& aside : aside_) {
    Index reached = 0;
    for (const WatchedRun& run : aside->watched) reached = std::max(reached, run.reached());
    kept.push_back({aside->number, name_of_source(aside->source), reached, aside->watched.front().settings});
  }
  return kept;
}

void LiveTraining::keep_current() {
  if (reached() == 0) return;
  auto aside = std::make_unique<Aside>(Aside{.number = number_,
                                             .source = std::move(source_),
                                             .task = std::move(task_),
                                             .runs = std::move(runs_),
                                             .watched = std::move(watched_),
                                             .tokens = std::move(tokens_),
                                             .targets = std::move(targets_),
                                             .seconds = std::move(seconds_aside_)});
  aside_.insert(aside_.begin(), std::move(aside));
  Index bytes = 0;
  std::size_t fitting = 0;
  while (fitting < std::min(aside_.size(), most_kept)) {
    bytes += bytes_of(*aside_[fitting]);
    if (fitting > 0 && bytes > most_kept_bytes) break;
    ++fitting;
  }
  aside_.resize(fitting);
}

void LiveTraining::return_to(int number) {
  const auto found = std::ranges::find(aside_, number, [](const auto& aside) { return aside->number; });
  if (found == aside_.end()) return;
  const std::unique_ptr<Aside> wanted = std::move(*found);
  aside_.erase(found);
  stop();
  keep_current();
  number_ = wanted->number;
  source_ = std::move(wanted->source);
  task_ = std::move(wanted->task);
  runs_ = std::move(wanted->runs);
  watched_ = std::move(wanted->watched);
  tokens_ = std::move(wanted->tokens);
  targets_ = std::move(wanted->targets);
  seconds_aside_ = std::move(wanted->seconds);
  arrived_->runs.clear();
  arrived_->runs.resize(runs_.size());
  arrived_->tokens_per_second = 0.0;
  start(false, [] {});
}

void LiveTraining::set_second_aside() {
  if (runs_.size() < 2) return;
  if (watched_[1].reached() > 0) {
    auto aside = std::make_unique<Aside>();
    aside->runs.push_back(std::move(runs_[1]));
    aside->watched.push_back(std::move(watched_[1]));
    seconds_aside_.insert(seconds_aside_.begin(), std::move(aside));
    seconds_aside_.resize(std::min(seconds_aside_.size(), most_seconds));
  }
  runs_.resize(1);
  watched_.resize(1);
  arrived_->runs.resize(1);
}

std::unique_ptr<LiveTraining::Aside> LiveTraining::second_aside(TrainingChange change) {
  const auto found = std::ranges::find(seconds_aside_, std::make_optional(change),
                                       [](const auto& aside) { return aside->watched.front().change; });
  if (found == seconds_aside_.end()) return nullptr;
  std::unique_ptr<Aside> aside = std::move(*found);
  seconds_aside_.erase(found);
  return aside;
}

}  // namespace headwise
