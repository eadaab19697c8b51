#include "app/content/motion.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

constexpr double snapping = 0.04;  // of a step

// Does every cell of the result come from one cell of one tensor?
bool moves_cells(const Rule& rule) {
  if (rule.combine != Combine::copy && rule.combine != Combine::product_sum) return false;
  return rule.products.size() == 1 && rule.products[0].sums.empty() && rule.products[0].where.empty();
}

Tensor matrix(Index rows, Index cols) {
  return Tensor(Shape{{"row", rows}, {"column", cols}}, DType::f64);
}

}  // namespace

void begin_motion(MotionState& motion, std::span<const Step> shown, Step from, Step to) {
  const bool next = place_of_step(shown, to) == place_of_step(shown, from) + 1;
  motion.progress = next ? 0.0 : 1.0;
  motion.running = next;
}

void skip_motion(MotionState& motion) {
  motion.progress = 1.0;
  motion.running = false;
}

bool advance_motion(MotionState& motion, double seconds, double speed) {
  if (!motion.running) return false;
  motion.progress += seconds * speed / motion_seconds;
  if (motion.progress >= 1.0) skip_motion(motion);
  return motion.running;
}

double timeline_position(std::span<const Step> shown, Step step, double progress) {
  return std::max(0.0, static_cast<double>(place_of_step(shown, step)) - 1.0 + progress);
}

TimelinePlace timeline_place(std::span<const Step> shown, double position) {
  const double inside = std::clamp(position, 0.0, static_cast<double>(shown.size() - 1));
  const double nearest = std::round(inside);
  if (std::abs(inside - nearest) < snapping) return {shown[static_cast<std::size_t>(nearest)], 1.0};
  const double into = std::ceil(inside);
  return {shown[static_cast<std::size_t>(into)], inside - (into - 1.0)};
}

double eased(double x) {
  const double inside = std::clamp(x, 0.0, 1.0);
  return inside * inside * (3.0 - 2.0 * inside);
}

double phase(double x, double begin, double end) {
  return std::clamp((x - begin) / (end - begin), 0.0, 1.0);
}

Making making_of(const Rule& rule) {
  switch (rule.combine) {
    case Combine::softmax:
    case Combine::full_softmax:
      return Making::settle;
    case Combine::add_mask:
      return Making::fall;
    case Combine::clip:
    case Combine::scale:
    case Combine::rotation:
    case Combine::dropout:
    case Combine::gate:
    case Combine::norm:
    case Combine::mean:
      return Making::morph;
    default:
      return moves_cells(rule) ? Making::blocks : Making::sweep;
  }
}

std::vector<MovingBlock> moving_blocks(const Trace& trace, const Rule& rule, Index batch) {
  if (!moves_cells(rule) || rule.sizes.size() < 3 || batch >= rule.sizes[0]) return {};
  const Operand& source = rule.products[0].factors[0];
  const Shape& shape = trace.tensor(rule.result)->shape();
  // Heads are either a separate axis, or blocks of the last one.
  const int rank = static_cast<int>(rule.sizes.size());
  const int axis = rank == 4 ? 1 : rank - 1;
  const Index size = rule.sizes[static_cast<std::size_t>(axis)];
  const Index joined = rank == 4 ? 1 : head_block(trace, shape.name(axis));
  const Index block = joined > 0 ? joined : std::max<Index>(size, 1);
  std::vector<MovingBlock> blocks;
  for (Index begin = 0; begin < size; begin += block) {
    MovingBlock moving{{source.tensor, {}, {}}, {rule.result, {}, {}}};
    std::vector<Interval> ranges;
    for (int a = 0; a < rank; ++a) {
      Interval range{0, rule.sizes[static_cast<std::size_t>(a)]};
      if (a == 0) range = {batch, batch + 1};
      if (a == axis) range = {begin, std::min(begin + block, size)};
      if (range.empty()) return {};
      ranges.push_back(range);
      moving.to.begin.push_back(range.begin);
      moving.to.end.push_back(range.end);
    }
    for (const AxisMap& map : source.axes) {
      const Interval from = mapped_interval(map, ranges);
      moving.from.begin.push_back(from.begin);
      moving.from.end.push_back(from.end);
    }
    blocks.push_back(std::move(moving));
  }
  return blocks;
}

SweepFront sweep_front(double t, Index rows, Index cols) {
  constexpr double first_row_share = 0.5;
  const double inside = std::clamp(t, 0.0, 1.0);
  if (rows <= 0) return {};
  const double first = rows == 1 ? 1.0 : first_row_share;
  if (inside < first) return {0, inside / first * static_cast<double>(cols)};
  if (rows == 1) return {1, 0.0};
  const double row = 1.0 + (inside - first) / (1.0 - first) * static_cast<double>(rows - 1);
  const Index whole = std::min(static_cast<Index>(row), rows);
  return {whole, whole == rows ? 0.0 : (row - static_cast<double>(whole)) * static_cast<double>(cols)};
}

TensorPtr between(const MatrixView& a, const MatrixView& b, double t) {
  Tensor mixed = matrix(b.rows, b.cols);
  for (Index row = 0; row < b.rows; ++row) {
    for (Index col = 0; col < b.cols; ++col) {
      const double x = a.value(row, col), y = b.value(row, col);
      const bool finite = std::isfinite(x) && std::isfinite(y);
      mixed.set_flat(row * b.cols + col, finite ? (1.0 - t) * x + t * y : t < 0.5 ? x : y);
    }
  }
  return std::make_shared<const Tensor>(std::move(mixed));
}

WrittenNumbers written_numbers(double t) {
  return {t >= 0.5, std::abs(2.0 * t - 1.0)};
}

TensorPtr row_exponentials(const MatrixView& masked_scores) {
  Tensor exponentials = matrix(masked_scores.rows, masked_scores.cols);
  for (Index row = 0; row < masked_scores.rows; ++row) {
    double maximum = -std::numeric_limits<double>::infinity();
    for (Index col = 0; col < masked_scores.cols; ++col)
      maximum = std::max(maximum, masked_scores.value(row, col));
    for (Index col = 0; col < masked_scores.cols; ++col) {
      const double x = masked_scores.value(row, col);
      exponentials.set_flat(row * masked_scores.cols + col,
                            x == -std::numeric_limits<double>::infinity() ? 0.0 : std::exp(x - maximum));
    }
  }
  return std::make_shared<const Tensor>(std::move(exponentials));
}

}  // namespace headwise
