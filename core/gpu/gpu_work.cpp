#include "core/gpu/gpu_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headwise {
namespace {

// A guess below any GPU, and about that of one thread of a software driver:
// used until something has been measured.
constexpr double first_speed = 1e6;

// Shorter times are those of launching.
constexpr double shortest_sample = 0.01;

// Of what was measured before. Where a piece may have begun beside the one before,
// only several together tell how long they take.
constexpr double kept_alone = 0.5, kept_behind_another = 0.8;

// Of the throughput from one piece to the next: a clock may be coarse.
constexpr double most_growth = 4.0;

}  // namespace

double GpuRate::throughput() const {
  return measured_ ? throughput_ : first_speed;
}

double GpuRate::speed() const {
  return measured_ ? speed_ : first_speed;
}

double GpuRate::processors() const {
  return std::max(1.0, throughput() / speed());
}

void GpuRate::measure(const Sample& sample, double milliseconds) {
  // A clock that does not tick says nothing.
  if (milliseconds <= 0.0 || sample.work <= 0.0) return;
  const double group_speed = sample.largest_group / std::max(milliseconds, shortest_sample);
  if (sample.alone && sample.one_unit && wants_group(sample.largest_group)) {
    speed_ = group_speed;
    timed_group_ = sample.largest_group;
  } else if (sample.alone || !measured_) {
    speed_ = std::max(speed_, group_speed);
  }
  const double kept = sample.may_overlap ? kept_behind_another : kept_alone;
  work_ = kept * work_ + sample.work;
  time_ = kept * time_ + milliseconds;
  const double now = work_ / std::max(time_, shortest_sample);
  throughput_ = measured_ ? std::min(now, most_growth * throughput_) : now;
  measured_ = true;
}

namespace {

constexpr std::size_t slices_under_way = 2;  // the next one waits in the queue when one ends

// What a work group may take: long enough that launching is nothing beside it, short enough that processors
// do not wait long for the last groups before a barrier, nor a desktop for one of them.
constexpr double milliseconds_of_group = 0.5;
constexpr double steps_of_nothing = 0.1;           // what a group costs that finds nothing to do
constexpr double milliseconds_of_dispatch = 0.01;  // for the driver and the GPU to begin with one

}  // namespace

void GpuWork::begin() {
  barrier();
  if (!stages_.empty() || !under_way_.empty()) return;
  added_ = handed_ = 0.0;
  units_.clear();
}

void GpuWork::add(GpuJob job) {
  units_[job.kind] += job.units;
  if (job.units <= 0 || job.steps <= 0) return;
  added_ += job.work * static_cast<double>(job.units * job.steps);
  if (!open_ || stages_.empty()) stages_.emplace_back();
  open_ = true;
  stages_.back().jobs.push_back(std::move(job));
  stages_.back().done.push_back(0);
}

void GpuWork::barrier() {
  open_ = false;
}

bool GpuWork::collect(bool wait) {
  Slice& slice = under_way_.front();
  while (!slice.pieces.empty()) {
    const std::optional<double> time = queue_->take_time(wait);
    if (!time) return false;
    const Piece& piece = slice.pieces.front();
    piece.rate->measure(piece.sample, *time);
    slice.milliseconds += *time;
    slice.pieces.pop_front();
  }
  total_ += slice.milliseconds;
  longest_ = std::max(longest_, slice.milliseconds);
  under_way_.pop_front();
  return true;
}

bool GpuWork::in_flight(const GpuRate& rate) const {
  return std::ranges::any_of(under_way_, [&](const Slice& slice) {
    return std::ranges::any_of(slice.pieces, [&](const Piece& piece) { return piece.rate == &rate; });
  });
}

GpuRate GpuWork::rate_of(const GpuJob& job) const {
  const auto at = rates_.find({job.kind, job.variant});
  return at == rates_.end() ? GpuRate() : at->second;
}

Index GpuWork::steps_of(const GpuJob& job, Index first) const {
  const Index left = job.steps - first;
  Index most = job.most_steps > 0 ? std::min(job.most_steps, left) : left;
  if (steps_at_once_ > 0) return std::min(most, steps_at_once_);
  const GpuRate rate = rate_of(job);
  const double step = job.work / static_cast<double>(job.groups);
  const double fits = rate.measured() ? milliseconds_of_group * rate.speed() / step : 1.0;
  const Index least = rate.measured() ? least_steps_ : 1;
  most = std::min(std::max(static_cast<Index>(std::min(fits, 1e9)), least), most);
  const Index rounds = (left + most - 1) / most;
  return (left + rounds - 1) / rounds;  // about the same in each
}

// Of the first stage, the next steps of every job.
void GpuWork::begin_round() {
  Stage& stage = stages_.front();
  for (std::size_t i = 0; i < stage.jobs.size(); ++i) {
    if (stage.done[i] == stage.jobs[i].steps) continue;
    const Index steps = steps_of(stage.jobs[i], stage.done[i]);
    round_.push_back({i, stage.done[i], steps});
    stage.done[i] += steps;
  }
  barrier_due_ = true;
}

void GpuWork::end_part() {
  next_unit_ = 0;
  round_.pop_front();
  if (!round_.empty()) return;
  const Stage& stage = stages_.front();
  for (std::size_t i = 0; i < stage.jobs.size(); ++i)
    if (stage.done[i] < stage.jobs[i].steps) return;
  stages_.pop_front();
}

GpuWork::Fit GpuWork::fit(const GpuJob& job, const Part& part, double most_work, Index least,
                          bool is_timed) const {
  const Index left = job.units - next_unit_;
  const double groups = static_cast<double>(job.groups);
  Fit fit;
  if (!job.steps_done) {
    const double unit = job.work * static_cast<double>(part.steps);
    const auto fitting = static_cast<Index>(std::clamp(most_work / unit, 0.0, 1e12));
    fit.units = std::clamp(fitting, std::min(least, left), left);
    fit.work = fit.charged = unit * static_cast<double>(fit.units);
    fit.largest_group = unit / groups;
    return fit;
  }
  for (; fit.units < left; ++fit.units) {
    const Index steps = job.steps_done(next_unit_ + fit.units, part.first_step, part.first_step + part.steps);
    const double unit = job.work * static_cast<double>(steps);
    const double charged = job.work * std::max(static_cast<double>(steps), steps_of_nothing);
    const bool enough = fit.units >= least && !(is_timed && fit.work == 0.0);
    if (enough && fit.charged + charged > most_work) break;
    fit.work += unit;
    fit.charged += charged;
    fit.largest_group = std::max(fit.largest_group, unit / groups);
  }
  return fit;
}

// What is dispatched next is timed with the dispatch before it where both are of one kind and nothing stands
// between them: a driver may not begin the second before the end of the first if each is timed.
void GpuWork::hand_over(Slice& slice, GpuRate& rate, const GpuRate::Sample& sample) {
  const bool may_overlap = !barrier_due_ && last_rate_ == &rate;
  if (may_overlap && !slice.pieces.empty() && !slice.pieces.back().sample.one_unit) {
    GpuRate::Sample& whole = slice.pieces.back().sample;
    whole.work += sample.work;
    whole.largest_group = std::max(whole.largest_group, sample.largest_group);
    return;
  }
  if (!slice.pieces.empty()) queue_->end_piece();
  if (std::exchange(barrier_due_, false)) queue_->barrier();
  queue_->begin_piece();
  slice.pieces.push_back({&rate, sample});
  slice.pieces.back().sample.may_overlap = may_overlap;
  last_rate_ = &rate;
}

void GpuWork::fill(Slice& slice, double milliseconds) {
  double used = 0.0;
  while (!stages_.empty() && used < 0.9 * milliseconds) {
    if (round_.empty()) begin_round();
    const Part part = round_.front();
    const GpuJob& job = stages_.front().jobs[part.job];
    GpuRate& rate = rates_[{job.kind, job.variant}];
    const bool first = slice.pieces.empty();
    const bool alone = barrier_due_ || (first && under_way_.empty());
    // Until one unit of a kind has been timed, no other is handed over, and nothing behind it.
    const bool learned = rate.measured();
    if (!learned && (!first || in_flight(rate))) return;
    const double room = learned ? (milliseconds - used) * rate.throughput() : 0.0;
    // Units that skip all their steps tell no time: the first one that does not comes with them.
    Fit fits = fit(job, part, room, first ? 1 : 0, !learned);
    if (fits.units == 0) return;
    if (alone && learned && rate.wants_group(fits.largest_group)) {
      // the others follow without a barrier, so that nobody waits for it
      fits = fit(job, part, 0.0, 1, false);
    } else if (alone && learned && fits.units == 1 && first) {
      // A second unit may well take no time of its own,
      // and where it does the two are no longer than two slices.
      const Fit two = fit(job, part, 0.0, 2, false);
      if (two.charged <= 2.0 * room) fits = two;
    }
    // Whole rounds of the processors: a driver that does not begin a dispatch before the end of the previous
    // one leaves none of them idle.
    const auto at_a_time = static_cast<Index>(std::lround(rate.processors())) / job.groups;
    if (learned && fits.units < job.units - next_unit_ && at_a_time > 1 && fits.units > at_a_time)
      fits = fit(job, part, 0.0, fits.units - fits.units % at_a_time, false);
    // After a barrier at least one group has to run from its beginning to its end.
    double time = fits.charged / rate.throughput() + milliseconds_of_dispatch;
    if (alone) time = std::max(time, fits.largest_group / rate.speed());
    if (!first && used + time > 1.25 * milliseconds) return;
    hand_over(slice, rate, {fits.work, fits.largest_group, alone, fits.units == 1});
    job.dispatch({next_unit_, fits.units, part.first_step, part.steps});
    handed_ += job.work * static_cast<double>(fits.units * part.steps);
    used += time;
    next_unit_ += fits.units;
    if (next_unit_ == job.units) end_part();
    if (!learned) return;
  }
}

bool GpuWork::advance(const SliceLimits& limits, bool wait) {
  least_steps_ = std::max<Index>(limits.least_steps, 1);
  while (!under_way_.empty() && collect(false)) {
  }
  const bool more = !stages_.empty();
  const bool full = !more || under_way_.size() >= slices_under_way;
  if (full && !under_way_.empty() && wait) collect(true);
  if (!more) return !under_way_.empty();
  if (under_way_.size() >= slices_under_way) return true;

  Slice slice;
  fill(slice, limits.milliseconds);
  if (slice.pieces.empty()) {  // a kind that is being timed
    if (wait && !under_way_.empty()) collect(true);
    return true;
  }
  queue_->end_piece();
  if (stages_.empty()) queue_->barrier();  // whoever reads the results does not know what was written last
  queue_->submit();
  under_way_.push_back(std::move(slice));
  return true;
}

Index GpuWork::units(const std::string& kind) const {
  const auto at = units_.find(kind);
  return at == units_.end() ? 0 : at->second;
}

double GpuWork::processors(const std::string& kind) const {
  double most = 0.0;
  for (const auto& [key, rate] : rates_)
    if (key.first == kind && rate.measured()) most = std::max(most, rate.processors());
  return most;
}

double GpuWork::progress() const {
  return added_ > 0.0 ? handed_ / added_ : 1.0;
}

}  // namespace headwise
