// One live number of a text: the contents of a pair of braces, or part of a condition
// (core/lessons/live_text.h lists them).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_inputs.h"

namespace headwise {

struct HeadWidthComparison;
struct LayoutComparison;

// What a text is about. Without a scenario or its inputs, numbers that need them are missing.
struct LiveSubject {
  const Trace& trace;
  const Scenario* scenario = nullptr;      // the one that the trace was computed from
  const ScenarioInputs* inputs = nullptr;  // its tokens, and the roles of its heads

  // Cached: a text may use several of their numbers.
  mutable std::shared_ptr<const HeadWidthComparison> head_width = {};
  mutable std::shared_ptr<const LayoutComparison> layouts = {};

  LiveSubject(const Trace& of, const Scenario* made_from = nullptr, const ScenarioInputs* with = nullptr)
      : trace(of), scenario(made_from), inputs(with) {}
};

// Whether the answers that need extra runs of the operator (layouts, wide) are computed.
enum class LiveAnswers { all, quick };

struct LiveValue {
  enum class Kind { missing, not_computed, number, word };
  Kind kind = Kind::missing;
  double number = 0.0;
  std::string text;  // as printed: "–" if missing, "…" if not computed
};

// A part of a tensor. A negative index counts from the end, −1 being the last.
struct LiveRange {
  Index from = 0;
  std::optional<Index> to;  // one past the last; nullopt: to the end
  friend bool operator==(const LiveRange&, const LiveRange&) = default;
};
struct LiveBox {
  TensorName tensor;
  std::vector<LiveRange> ranges;  // one per axis; empty: the whole tensor
  friend bool operator==(const LiveBox&, const LiveBox&) = default;
};

struct LiveQuantity {
  std::string word;  // "cell", "sum" … "spread", "query", "role", a letter, or "setting"
  std::string argument;
  std::vector<LiveBox> boxes;
  friend bool operator==(const LiveQuantity&, const LiveQuantity&) = default;
};

// Reads one quantity from the front of `text` and removes it, with the blanks before it: "sum q[0,1,:] > 3"
// leaves " > 3". Throws Error(usage) for an impossible quantity, suggesting what was meant.
LiveQuantity read_live_quantity(std::string_view& text);

// Throws only Error(cancelled): what cannot be computed is missing.
LiveValue live_value(const LiveQuantity& quantity, const LiveSubject& subject,
                     LiveAnswers answers = LiveAnswers::all);

// The cells of a box: along each axis from the first to one past the last.
// nullopt if the trace has no such cells.
struct LiveCellRange {
  std::vector<Index> from, to;
};
std::optional<LiveCellRange> live_box_cells(const LiveBox& box, const Trace& trace);
// Their numbers, row-major.
std::optional<std::vector<double>> live_box_numbers(const LiveBox& box, const Trace& trace);

LiveValue live_number_value(double number);
LiveValue live_count_value(Index count);
LiveValue live_word_value(std::string word);

// Throws Error(usage) about a text with braces.
[[noreturn]] void refuse_live_text(std::string_view got, const std::string& what, const std::string& expected);

// Whether the format has this key: "attention.scale".
bool is_setting_path(std::string_view path);
// "8", "true", "hand_made", "null"; for lists the number of entries. Missing for an unknown path.
LiveValue setting_value(const Scenario& scenario, std::string_view path);

}  // namespace headwise
