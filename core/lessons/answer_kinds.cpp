// The kinds of answers, each a row of one table: its keys in a file, what may be wrong with it as it is
// written, its key on a trace, how a report tells that key, and whether what was given is right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "core/lessons/answer_key.h"
#include "core/lessons/given_kinds.h"
#include "core/lessons/live_text.h"
#include "core/lessons/page_fields.h"
#include "core/lessons/playlist.h"
#include "core/tensor/edit_distance.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double rounding = 1e-3;  // by which a row of weights may miss its sum

// A key of an answer in a file.
struct AnswerField {
  std::string key;
  std::variant<std::string PageAnswer::*, double PageAnswer::*, std::optional<TensorId> PageAnswer::*,
               std::vector<AnswerOption> PageAnswer::*>
      member;
  const char* expected = nullptr;  // of a text that must not be blank; the key of an option's text
  bool needed = true;
};

// Reads an answer; in a draft, what is still being written is read as it is.
struct AnswerReader {
  const JsonValue& json;
  const bool draft;

  void read(const AnswerField& field, std::string& text) const {
    if (!json.contains(field.key) && (draft || !field.needed)) return;
    const JsonValue value = json.needed(field.key, field.expected ? field.expected : "");
    value.read(text);
    if (field.expected && !draft && is_blank(text)) value.refuse("the text is empty", field.expected);
  }

  void read(const AnswerField& field, double& tolerance) const {
    json.read_key(field.key, tolerance, above_zero);
  }

  // A tensor that can be clicked.
  void read(const AnswerField& field, std::optional<TensorId>& tensor) const {
    const JsonValue value = json.needed(field.key, field.expected);
    const TensorName name = tensor_of(value);
    if (name.gradient) value.refuse("a gradient is not clicked", "a tensor");
    tensor = name.id;
  }

  void read(const AnswerField& field, std::vector<AnswerOption>& options) const {
    const std::string expected = fmt::format("a list of 2 to 9 objects with {} and is", field.expected);
    const JsonValue list = json[field.key];
    if (!json.contains(field.key)) list.refuse_got("the options are missing", "", expected);
    const std::size_t count = list.json().size();
    if (!list.json().is_array() || count < PageAnswer::least_options || count > PageAnswer::most_options)
      list.refuse("wrong options", expected);
    list.each(
        [&](const JsonValue& entry) {
          options.push_back(AnswerReader{entry, draft}.option(field.expected));
        },
        true);
  }

 private:
  AnswerOption option(const std::string& key) const {
    json.object(fmt::format("an object with {} and is", key)).only({key, "is", "why", "see"});
    AnswerOption option;
    if (key == "tensor" && !draft) {
      std::optional<TensorId> tensor;
      read({key, {}, "the tensor that is clicked"}, tensor);
      option.text = tensor_entry(*tensor).name;
    } else {
      read({key, {}, "what can be chosen"}, option.text);
    }
    read({"is", {}, "the condition under which it is right"}, option.is);
    read({"why", {}, nullptr, false}, option.why);
    read({"see", {}, nullptr, false}, option.see);
    return option;
  }
};

void write(OrderedJson& json, const AnswerField& field, const std::string& text) {
  if (!text.empty() || field.needed) json[field.key] = text;
}

void write(OrderedJson& json, const AnswerField& field, double tolerance) {
  if (tolerance > 0.0) json[field.key] = tolerance;
}

void write(OrderedJson& json, const AnswerField& field, std::optional<TensorId> tensor) {
  json[field.key] = tensor_entry(*tensor).name;
}

void write(OrderedJson& json, const AnswerField& field, const std::vector<AnswerOption>& options) {
  for (const AnswerOption& option : options) {
    OrderedJson& each =
        json[field.key].emplace_back(OrderedJson{{field.expected, option.text}, {"is", option.is}});
    if (!option.why.empty()) each["why"] = option.why;
    if (!option.see.empty()) each["see"] = option.see;
  }
}

// Why there is no key; nothing, if its numbers take long to compute.
struct NoKey {
  std::string problem;
};

// Finds a key on a trace. Throws NoKey.
struct KeyFinder {
  const PageAnswer& answer;
  const LiveSubject& subject;
  LiveAnswers answers;

  LiveValue value(const LiveExpression& expression) const {
    LiveValue value = live_value(expression, subject, answers);
    if (value.kind == LiveValue::Kind::not_computed) throw NoKey{};
    return value;
  }

  bool truth(const LiveExpression& condition, const std::string& who, const std::string& written) const {
    const std::optional<bool> holds = live_truth(condition, subject, answers);
    if (holds) return *holds;
    if (answers == LiveAnswers::quick) throw NoKey{};
    throw NoKey{fmt::format("the trace lacks a number that {}: {}", who, written)};
  }

  Index index(const std::string& written) const {
    const LiveValue found = value(whole_expression(written));
    if (found.kind == LiveValue::Kind::number && found.number == std::floor(found.number) &&
        found.number >= 0.0 && found.number <= 1e15)
      return static_cast<Index>(found.number);
    throw NoKey{fmt::format("the key {} is {}, which is no index", written, found.text)};
  }

  LiveCells cells(Index most) const {
    LiveCells cells = live_cells(whole_expression(answer.is), subject, most);
    if (!cells.problem.empty()) throw NoKey{cells.problem};
    return cells;
  }
};

AnswerKey number_key(const KeyFinder& of) {
  const LiveValue value = of.value(whole_expression(of.answer.is));
  if (value.kind == LiveValue::Kind::missing)
    throw NoKey{fmt::format("the trace lacks a number that the key needs: {}", of.answer.is)};
  if (value.kind != LiveValue::Kind::number || !std::isfinite(value.number))
    throw NoKey{fmt::format("the key {} is {}, which is not a finite number", of.answer.is, value.text)};
  AnswerKey key;
  key.number = value.number;
  key.shown = value.text;
  return key;
}

AnswerKey option_key(const KeyFinder& of) {
  std::vector<std::size_t> right;
  for (std::size_t i = 0; i < of.answer.options.size(); ++i) {
    const std::string& is = of.answer.options[i].is;
    if (of.truth(whole_expression(is), fmt::format("option {} needs", i + 1), is)) right.push_back(i);
  }
  if (right.empty()) throw NoKey{"none of the options holds here; exactly one must"};
  if (right.size() > 1)
    throw NoKey{fmt::format("options {} and {} both hold here; exactly one must", right[0] + 1, right[1] + 1)};
  AnswerKey key;
  key.option = right[0];
  return key;
}

AnswerKey shape_key(const KeyFinder& of) {
  AnswerKey key;
  const LiveValue value = live_value(whole_expression(of.answer.is), of.subject, of.answers);
  if (value.kind == LiveValue::Kind::word) key.sizes = typed_sizes(key.shown = value.text, of.subject);
  if (key.sizes.empty()) throw NoKey{fmt::format("the trace lacks what the key needs: {}", of.answer.is)};
  return key;
}

AnswerKey head_key(const KeyFinder& of) {
  AnswerKey key;
  key.head = of.index(of.answer.is);
  key.shown = std::to_string(*key.head);
  const Index heads = of.subject.trace.options.num_heads;
  if (*key.head >= heads)
    throw NoKey{fmt::format("the key {} is {}, and there are {} heads, counted from 0", of.answer.is,
                            *key.head, heads)};
  return key;
}

AnswerKey cell_key(const KeyFinder& of) {
  const std::string_view name = tensor_entry(*of.answer.tensor).name;
  const TensorPtr tensor = of.subject.trace.tensor(*of.answer.tensor);
  if (!tensor || tensor->shape().rank() < 2) throw NoKey{fmt::format("this scenario has no map {}", name)};
  const Shape& shape = tensor->shape();
  const auto part = [&](const std::string& written, Index axis, const char* what) -> std::optional<Index> {
    if (written.empty()) return {};
    const Index index = of.index(written);
    if (index < shape.size(axis)) return index;
    throw NoKey{fmt::format("the {} {} lies outside {} {}", what, index, name, shape.to_string())};
  };
  AnswerKey key;
  key.row = part(of.answer.row, shape.rank() - 2, "row");
  key.column = part(of.answer.column, shape.rank() - 1, "column");
  return key;
}

// "the row of weights" needs numbers from 0 to 1 that sum to 1.
AnswerKey weights_key(const KeyFinder& of) {
  const std::string& is = of.answer.is;
  const LiveCells cells = of.cells(PageAnswer::most_weights);
  const std::vector<std::size_t> axes = cells.axes();
  if (axes.size() != 1)
    throw NoKey{fmt::format("the key {} is no row: it {}", is,
                            axes.empty() ? "is one number" : fmt::format("runs along {} axes", axes.size()))};
  const Shape& shape = of.subject.trace.tensor(cells.tensor)->shape();
  WeightsKey found{{}, std::string(shape.name(static_cast<Index>(axes[0]))), cells.cells.from[axes[0]]};
  AnswerKey key;
  double sum = 0.0;
  for (const LiveExpression& each : cells.values) {
    const LiveValue value = of.value(each);
    // Not !(≥ 0 and ≤ 1): NaN is refused too.
    if (value.kind != LiveValue::Kind::number || !(value.number >= -rounding && value.number <= 1.0 + rounding))
      throw NoKey{fmt::format("number {} of the key {} is {}, and a weight lies between 0 and 1",
                              found.weights.size(), is, value.text)};
    found.weights.push_back(value.number);
    sum += value.number;
    key.shown += fmt::format("{}{:.2f}", key.shown.empty() ? "" : " ", value.number);
  }
  if (std::abs(sum - 1.0) > rounding)
    throw NoKey{fmt::format("the key {} sums to {}, and a row of weights sums to 1", is, live_number(sum))};
  key.weights = std::move(found);
  return key;
}

AnswerKey mask_key(const KeyFinder& of) {
  const std::string& is = of.answer.is;
  const LiveCells cells = of.cells(PageAnswer::most_pairs);
  const std::size_t rank = cells.cells.from.size();
  for (const std::size_t axis : cells.axes())
    if (rank < 2 || axis + 2 < rank)
      throw NoKey{fmt::format("the key {} is no map: it runs along axis {} of {}", is, axis,
                              to_string(cells.tensor))};
  if (rank < 2) throw NoKey{fmt::format("the key {} is no map: {} has no rows", is, to_string(cells.tensor))};
  AnswerKey key;
  key.mask = MaskKey{
      {cells.cells.from[rank - 2], cells.cells.from[rank - 1], cells.size(rank - 2), cells.size(rank - 1)},
      cells.tensor.id};
  for (const LiveExpression& each : cells.values)
    key.mask->blocked.push_back(of.truth(each, "the key needs", is));
  key.shown = fmt::format("{} of {}", std::ranges::count(key.mask->blocked, true), key.mask->blocked.size());
  return key;
}

std::string mask_problem(const PlaylistPage& page) {
  if (!page.veil) return "a mask is painted on a veiled map, and the page has no veil";
  const bool pairs = page.step >= Step::scores && page.step <= Step::softmax;
  if (pairs && page.view == StageView::one_head) return "";
  return "a mask is painted on a map of queries and keys: the steps scores, scale, mask and softmax make "
         "one, in the view one_head";
}

using Options = std::vector<std::string>;  // with their numbers

constexpr const char* too_large = "not computed here: the scenario is too large";

// "asks for a number; key: attn_weights[0,0,8,7] = 0.947, ± 5 %"
std::string plain_words(const char* what, const PageAnswer& answer, const AnswerKey* key, const Options&) {
  const std::string words =
      fmt::format("asks for {}; key: {} {}", what, one_line(answer.is), key ? "= " + key->shown : too_large);
  if (answer.within > 0.0) return fmt::format("{}, ± {:g}", words, answer.within);
  return answer.within_share > 0.0 ? fmt::format("{}, ± {:g} %", words, 100.0 * answer.within_share) : words;
}

std::string mask_words(const char* what, const PageAnswer& answer, const AnswerKey* key,
                       const Options& options) {
  if (!key) return plain_words(what, answer, key, options);
  return fmt::format("asks for {} of {}×{} pairs; key: {}, in {} of them", what, key->mask->rows,
                     key->mask->columns, one_line(answer.is), std::ranges::count(key->mask->blocked, true));
}

std::string cell_key_words(const char* what, const PageAnswer& answer, const AnswerKey* key, const Options&) {
  std::string words = fmt::format("asks for {} of {}; key", what, tensor_entry(*answer.tensor).name);
  const auto add = [&](const char* name, const std::string& written, std::optional<Index> index) {
    if (written.empty()) return;
    words += fmt::format(", {} {}", name, one_line(written));
    if (index && written != std::to_string(*index)) words += fmt::format(" = {}", *index);
  };
  add("row", answer.row, key ? key->row : std::nullopt);
  add("column", answer.column, key ? key->column : std::nullopt);
  return key ? words : fmt::format("{}, {}", words, too_large);
}

std::string options_words(const char* what, const PageAnswer& answer, const AnswerKey* key,
                          const Options& options) {
  const std::string words = fmt::format("asks for one of {}{}; key: ", answer.options.size(), what);
  if (!key) return words + too_large;
  const std::size_t right = *key->option;
  return words + fmt::format("{}, {}, because {}", right + 1, one_line(options[right]),
                             one_line(answer.options[right].is));
}

// [[row, column], …]
OrderedJson mask_json(const AnswerKey& key) {
  OrderedJson pairs = OrderedJson::array();
  for (Index i = 0; i < std::ssize(key.mask->blocked); ++i)
    if (key.mask->blocked[static_cast<std::size_t>(i)])
      pairs.push_back(OrderedJson::array(
          {key.mask->row + i / key.mask->columns, key.mask->column + i % key.mask->columns}));
  return pairs;
}

OrderedJson cell_json(const AnswerKey& key) {
  OrderedJson cell = OrderedJson::object();
  if (key.row) cell["row"] = *key.row;
  if (key.column) cell["column"] = *key.column;
  return cell;
}

template <auto member>
OrderedJson json_of(const AnswerKey& key) {
  return *(key.*member);
}

struct AnswerKindRow {
  std::string_view name;
  const char* asks;  // in a report: what it asks for; of options, what they are
  std::vector<AnswerField> fields;
  void (*check)(const PageAnswer&, const WrittenPlace&);  // throws Error: what is wrong as it is written
  AnswerKey (*key)(const KeyFinder&);
  std::string (*words)(const char* asks, const PageAnswer&, const AnswerKey*, const Options&);
  OrderedJson (*json)(const AnswerKey&);
  const GivenKind& given;
  void (*complete)(PageAnswer&) = [](PageAnswer&) {};  // fills in what the file leaves out
  std::string (*page_problem)(const PlaylistPage&) = [](const PlaylistPage&) { return std::string(); };
};

// In the order of AnswerKind.
const std::array<AnswerKindRow, 8>& answer_kinds() {
  using A = PageAnswer;
  using Key = AnswerKey;
  const char* expression = "an expression over the trace";
  constexpr auto option_json = [](const Key& key) { return OrderedJson(*key.option + 1); };
  // clang-format off
  static const std::array<AnswerKindRow, 8> kinds{{
      {"number", "a number",
       {{"is", &A::is, expression}, {"within", &A::within}, {"within_share", &A::within_share},
        {"unit", &A::unit, nullptr, false}, {"why", &A::why, "why the number is right", false}},
       check_number, number_key, plain_words, json_of<&Key::number>, number_given,
       [](A& a) { if (a.within == 0.0 && a.within_share == 0.0) a.within_share = A::usual_share; }},
      {"choice", "", {{"options", &A::options, "text"}}, check_choice, option_key, options_words, option_json,
       choice_given},
      {"shape", "a shape", {{"is", &A::is, "\"shape k_heads\""}}, check_shape, shape_key, plain_words,
       [](const Key& key) { return OrderedJson(key.sizes); }, shape_given},
      {"head", "a head", {{"is", &A::is, expression}}, check_head, head_key, plain_words, json_of<&Key::head>,
       head_given},
      {"cell", "a cell",
       {{"tensor", &A::tensor, "the map that is clicked"},
        {"row", &A::row, expression, false}, {"column", &A::column, expression, false}},
       check_cell, cell_key, cell_key_words, cell_json, cell_given},
      {"tensor", " tensors", {{"options", &A::options, "tensor"}}, check_tensors, option_key, options_words,
       option_json, tensor_given},
      {"weights", "a row of weights", {{"is", &A::is, "attn_weights[0,0,8,:]"}, {"within", &A::within}},
       check_weights, weights_key, plain_words, [](const Key& key) { return OrderedJson(key.weights->weights); },
       weights_given,
       [](A& a) { if (a.within == 0.0) a.within = A::usual_misplaced; }},
      {"mask", "a mask", {{"is", &A::is, "mask_bias[0,0,:,:] = -inf"}}, check_mask, mask_key, mask_words,
       mask_json, mask_given, [](A&) {}, mask_problem},
  }};
  // clang-format on
  return kinds;
}

const AnswerKindRow& row_of(const PageAnswer& answer) {
  return answer_kinds()[static_cast<std::size_t>(answer.kind)];
}

}  // namespace

const GivenKind& given_kind(AnswerKind kind) {
  return answer_kinds()[static_cast<std::size_t>(kind)].given;
}

TensorName tensor_of(const JsonValue& value) {
  const std::string text = value.text();
  const std::optional<TensorName> name = find_tensor_name(text);
  if (!name) value.refuse("there is no tensor of this name", "", suggestion(nearest_tensor_name(text)));
  return *name;
}

std::vector<std::string_view> answer_kind_names() {
  std::vector<std::string_view> names;
  for (const AnswerKindRow& kind : answer_kinds()) names.push_back(kind.name);
  return names;
}

PageAnswer answer_of(const JsonValue& json, bool draft) {
  const std::vector<std::string_view> names = answer_kind_names();
  const std::vector<std::string_view> others(names.begin(), names.end() - 1);
  PageAnswer answer;
  json.object("an object with the key \"kind\"")
      .needed("kind", fmt::format("{} or {}", join(others, ", "), names.back()))
      .read(answer.kind, names);
  const AnswerKindRow& kind = row_of(answer);
  std::vector<std::string> keys{"kind"};
  for (const AnswerField& field : kind.fields) keys.push_back(field.key);
  json.only(keys);
  for (const AnswerField& field : kind.fields)
    std::visit([&](auto member) { AnswerReader{json, draft}.read(field, answer.*member); }, field.member);
  kind.complete(answer);
  if (!draft) kind.check(answer, {json.place()});
  return answer;
}

OrderedJson answer_json(const PageAnswer& answer) {
  OrderedJson json{{"kind", row_of(answer).name}};
  for (const AnswerField& field : row_of(answer).fields)
    std::visit([&](auto member) { write(json, field, answer.*member); }, field.member);
  return json;
}

std::string written_problem(const PageAnswer& answer) {
  try {
    row_of(answer).check(answer, {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string answer_page_problem(const PlaylistPage& page) {
  return page.answer ? row_of(*page.answer).page_problem(page) : "";
}

PageAnswer blank_answer(AnswerKind kind) {
  PageAnswer answer;
  answer.kind = kind;
  row_of(answer).complete(answer);
  return answer;
}

AnswerKey answer_key(const PageAnswer& answer, const LiveSubject& subject, LiveAnswers answers) {
  AnswerKey key;
  try {
    key = row_of(answer).key({answer, subject, answers});
  } catch (NoKey& none) {
    key.problem = std::move(none.problem);
    key.waits = key.problem.empty();
  }
  return key;
}

std::string key_words(const PageAnswer& answer, const AnswerKey* key, const std::vector<std::string>& options) {
  return row_of(answer).words(row_of(answer).asks, answer, key, options);
}

OrderedJson key_json(const PageAnswer& answer, const AnswerKey* key, const std::vector<std::string>& options) {
  OrderedJson json{{"kind", row_of(answer).name}};
  if (answer.chooses())
    json["options"] = options;
  else if (answer.tensor)
    json["tensor"] = tensor_entry(*answer.tensor).name;
  else
    json["is"] = answer.is;
  if (key) json["key"] = row_of(answer).json(*key);
  return json;
}

}  // namespace headwise
