// The report of scenario_info for programs. Numbers that are not finite are null, as JSON has none.
#include <nlohmann/json.hpp>

#include "app/cli/scenario_info.h"
#include "core/files/json_text.h"
#include "core/scenario/scenario_schema.h"

namespace headwise {
namespace {

using Json = nlohmann::ordered_json;

Json tensors(const ScenarioInfo& info) {
  Json list = Json::array();
  if (!info.trace) return list;
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr& tensor = info.trace->tensors.*(entry.member);
    if (!tensor) continue;
    list.push_back({{"name", entry.name},
                    {"dtype", dtype_name(tensor->dtype())},
                    {"letters", tensor->shape().letters()},
                    {"shape", tensor->shape().sizes()},
                    {"bytes", tensor->bytes()}});
  }
  return list;
}

Json parameters(const ScenarioInfo& info) {
  Json list = Json::array();
  for (const ParameterCount& count : info.parameters) {
    list.push_back(
        {{"name", tensor_entry(count.tensor).name}, {"shape", count.sizes}, {"numbers", count.numbers}});
  }
  return list;
}

Json products(const OperationCounts& counts) {
  Json list = Json::array();
  for (const ProductCount& product : counts.products) {
    list.push_back({{"step", step_entries()[static_cast<std::size_t>(product.step)].name},
                    {"result", tensor_entry(product.result).name},
                    {"einsum", product.einsum},
                    {"letters", product.letters},
                    {"multiply_adds", product.multiply_adds}});
  }
  return list;
}

Json layouts(const LayoutComparison& comparison) {
  Json list = Json::array();
  for (const LayoutAnswer& answer : comparison.layouts) {
    Json entry{{"layout", choice_name(answer.layout)}, {"possible", false}};
    if (comparison.not_asked.empty() && answer.possible()) {
      Json matrices = Json::array();
      for (const MatrixGroup& group : answer.matrices) {
        matrices.push_back({{"count", group.count},
                            {"name", group.name},
                            {"letters", group.letters},
                            {"shape", {group.rows, group.cols}}});
      }
      entry = {{"layout", choice_name(answer.layout)},
               {"possible", true},
               {"matrices", matrices},
               {"weights", answer.weights},
               {"biases", answer.biases},
               {"parameters", answer.parameters()},
               {"products", answer.products},
               {"multiply_adds", answer.multiply_adds},
               {"einsum", answer.einsum},
               {"max_difference",
                {{"projection", answer.projection_difference}, {"output", answer.output_difference}}}};
    } else {
      entry["why"] = comparison.not_asked.empty() ? answer.not_possible : comparison.not_asked;
    }
    list.push_back(entry);
  }
  return {{"layouts", list},
          {"output_magnitude", comparison.output_magnitude},
          {"sentences", comparison.sentences}};
}

Json side(const HeadsCase& heads) {
  return {{"heads", heads.heads},
          {"head_dim", heads.head_dim},
          {"v_head_dim", heads.v_head_dim},
          {"scale", heads.scale},
          {"parameters", heads.parameters},
          {"multiply_adds", heads.counts.multiply_adds},
          {"exponentials", heads.counts.exponentials},
          {"scores_einsum", heads.scores_einsum}};
}

Json distance(const TensorDistance& distance) {
  return {{"max_difference", distance.difference}, {"magnitude", distance.magnitude}};
}

Json head_width(const HeadWidthComparison& c) {
  if (!c.possible()) return {{"possible", false}, {"why", c.not_possible}, {"sentences", c.sentences}};
  Json gradients = Json::object();
  for (const TensorDistance& gradient : c.gradients)
    gradients["grad." + std::string(tensor_entry(gradient.tensor).name)] = distance(gradient);
  return {{"possible", true},
          {"same", c.coincide},
          {"many", side(c.many)},
          {"one", side(c.wide)},
          {"output", distance(c.output)},
          {"attn_weights_max_difference", c.map_differences},
          {"score_sum_max_difference", c.score_sum_difference},
          {"gradients", gradients},
          {"sentences", c.sentences}};
}

Json soft(const SoftLookup& lookup) {
  return {{"temperature", lookup.temperature},
          {"weights", lookup.weights},
          {"result", lookup.result},
          {"winner_weight", lookup.winner_weight},
          {"max_difference", lookup.difference}};
}

Json lookup(const LookupComparison& c) {
  Json cooler = Json::array();
  for (const SoftLookup& lookup : c.cooler) cooler.push_back(soft(lookup));
  Json json{{"batch", c.batch}, {"head", c.head}, {"query", c.query}, {"possible", c.possible()}};
  if (!c.possible()) json["why"] = c.not_possible;
  json["winner"] = c.possible() ? Json(c.winner) : Json();
  json["hard"] = c.hard_result;
  json["soft"] = soft(c.soft);
  json["cooler"] = cooler;
  json["sentences"] = c.sentences;
  return json;
}

Json output_by_heads(const std::vector<double>& shares) {
  return {{"heads", std::vector<double>(shares.begin(), shares.end() - 1)}, {"bias", shares.back()}};
}

}  // namespace

std::string scenario_info_json(const ScenarioInfo& info) {
  Json sizes = Json::object();
  for (const LetterSize& size : info.sizes) sizes[size.letter] = size.size;
  Json answers = Json::object();
  if (!info.not_computed.empty()) answers["not_computed"] = info.not_computed;
  if (info.layouts) answers["layouts"] = layouts(*info.layouts);
  if (info.head_width) answers["head_width"] = head_width(*info.head_width);
  if (info.lookup) answers["lookup"] = lookup(*info.lookup);
  if (!info.output_shares.empty()) answers["output_shares"] = output_by_heads(info.output_shares);
  const Json document{
      {"file", info.name},
      {"format", "scenario"},
      {"op", choice_name(info.op)},
      {"dtype", dtype_name(info.dtype)},
      {"sizes", sizes},
      {"parameters", parameters(info)},
      {"parameter_count", total_parameters(info.parameters)},
      {"products", products(info.counts)},
      {"multiply_adds", info.counts.multiply_adds},
      {"exponentials", info.counts.exponentials},
      {"bytes", {{"inputs", info.input_bytes}, {"trace", info.trace_bytes}, {"free", info.free_bytes}}},
      {"tensors", tensors(info)},
      {"answers", answers},
      {"notes", info.notes}};
  return json_text(document, {.indent = 2, .replaces_bytes = true}) + "\n";
}

}  // namespace headwise
