#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <stdexcept>

#include "core/attention/grad_output.h"
#include "core/attention/rules.h"
#include "core/attention/score_path.h"
#include "core/attention/score_scale.h"
#include "core/attention/transposed_product.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

using Id = TensorId;

bool all_inputs_are_one(const TraceTensors& t) {
  return t.query && t.query == t.key && (!t.value || t.query == t.value);  // latents have no value
}

// The tensor whose gradient collects what flows back to this one: query for all three if they are one array.
Id collected_by(const Trace& trace, Id id) {
  return (id == Id::key || id == Id::value) && all_inputs_are_one(trace.tensors) ? Id::query : id;
}

// A forward rule on the path to the loss, with the letters of the result's axes. Its factors are named by
// their role: value stays value even if it is the same array as key.
struct Reader {
  Rule rule;
  std::vector<std::string> letters;
};

// "S′" → "s", "kdim" → "k"; an axis that joins two, "H·D", is indexed by columns, c.
std::string letter_of(const std::string& axis) {
  if (axis.empty() || axis.find("·") != std::string::npos) return "c";
  return std::string(1, static_cast<char>(std::tolower(static_cast<unsigned char>(axis[0]))));
}

// The tensors that every gradient of their kind passes through:
// a gradient whose path is not known has no rule.
constexpr std::array always_passed{Id::scores,       Id::scaled_scores,   Id::masked_scores,
                                   Id::attn_weights, Id::dropped_weights, Id::head_output,
                                   Id::output};
constexpr std::array passed_by_heads{Id::q, Id::k, Id::v, Id::q_heads, Id::k_heads, Id::v_heads, Id::concat};
constexpr std::array passed_by_latents{Id::kv_a, Id::compressed_kv, Id::k_rot, Id::concat};

// A tensor or its gradient, whichever the trace has kept: they have the same shape.
TensorPtr kept_of_shape(const Trace& trace, Id id) {
  const TensorPtr gradient = trace.tensor({id, true});
  return gradient ? gradient : trace.tensor(id);
}

std::optional<Id> missing_intermediate(const Trace& trace) {
  for (const Id id : always_passed)
    if (!kept_of_shape(trace, id)) return id;
  for (const std::vector<Id>& path :
       {path_of_queries(trace.options), path_of_keys(trace.options), path_of_values(trace.options)})
    for (const Id id : path)
      if (!kept_of_shape(trace, id)) return id;
  if (trace.options.op == Op::scaled_dot_product_attention) return std::nullopt;
  const auto missing = [&](std::span<const Id> ids) -> std::optional<Id> {
    const auto at = std::ranges::find_if(ids, [&](Id id) { return !kept_of_shape(trace, id); });
    return at == ids.end() ? std::nullopt : std::optional(*at);
  };
  if (!is_latent(trace.options)) return missing(passed_by_heads);
  std::vector<Id> ids(passed_by_latents.begin(), passed_by_latents.end());
  ids.insert(ids.end(), {latents_of_heads(trace.options), rotated_keys_of_heads(trace.options)});
  if (trace.options.q_lora_rank) ids.insert(ids.end(), {Id::q_a, Id::compressed_q});
  ids.push_back(is_absorbed(trace.options) ? Id::latent_output : Id::kv_b);
  return missing(ids);
}

// Everything from the inputs to the last output; attn_output_weights, after it, lse and sink_weights do not
// contribute to the loss, nor does the indexer, but by a choice.
std::vector<Reader> readers_of(const Trace& trace) {
  std::vector<Reader> readers;
  const Id last = last_output(trace.tensors);
  for (const TensorEntry& entry : tensor_entries()) {
    const TensorPtr tensor = kept_of_shape(trace, entry.id);
    if (!tensor || entry.role != TensorRole::intermediate || entry.id > last || is_row_statistic(entry.id) ||
        is_of_indexer(entry.id))
      continue;
    Reader& reader = readers.emplace_back();
    reader.rule.result = {entry.id};
    reader.rule.sizes = tensor->shape().sizes();
    declare_forward_rule(trace, reader.rule);
    for (const Axis& axis : tensor->shape().axes()) reader.letters.push_back(letter_of(axis.name));
  }
  return readers;
}

class GradientDeclaration {
 public:
  GradientDeclaration(const Trace& trace, const std::vector<Reader>& readers, Rule& rule)
      : trace_(trace), readers_(readers), rule_(rule) {}

  void declare() {
    if (rule_.result.id == Id::kv_a) return declare_kv_a();
    rule_.combine = Combine::product_sum;
    int ways = 0;
    for (const Reader& reader : readers_) {
      const std::vector<TensorName> read = rule_sources(reader.rule);
      const bool reads = std::ranges::any_of(
          read, [&](TensorName source) { return collected_by(trace_, source.id) == rule_.result.id; });
      if (!reads) continue;
      pass_through(reader);
      // A function on top needs a rule to itself; only sums add up.
      if (++ways > 1 && rule_.combine != Combine::product_sum) {
        throw std::logic_error("several ways lead back to " + to_string(rule_.result) +
                               ", one of them through a function that is not linear");
      }
    }
    if (rule_.result.id == last_output(trace_.tensors)) rule_.combine = Combine::given;  // grad_output
  }

 private:
  std::vector<AxisMap> own_axes() const {
    std::vector<AxisMap> axes;
    for (std::size_t axis = 0; axis < rule_.sizes.size(); ++axis)
      axes.push_back(axis_of(static_cast<int>(axis)));
    return axes;
  }

  // The cell at the same position of another tensor, or the row that contains it: all of the last axis.
  Product same_cell(TensorName tensor) const { return {{{tensor, own_axes()}}, {}, {}, {}, {}}; }

  Product row_of(const std::vector<TensorName>& tensors, const std::string& letter) const {
    std::vector<AxisMap> axes = own_axes();
    axes.back() = axis_of(static_cast<int>(axes.size()));
    Product product;
    for (const TensorName tensor : tensors) product.factors.push_back({tensor, axes});
    product.sums = {{letter, rule_.sizes.back()}};
    return product;
  }

  // Adds every factor that is this tensor, in every product that is linear in it.
  void add_ways_through(const Reader& reader) {
    for (const Product& product : reader.rule.products) {
      for (std::size_t f = 0; f < product.factors.size(); ++f) {
        const Id read = product.factors[f].tensor.id;
        if (collected_by(trace_, read) != rule_.result.id) continue;
        Product& way = rule_.products.emplace_back(
            transposed_product(reader.rule, product, f, rule_.sizes, reader.letters));
        for (Operand& factor : way.factors) factor.tensor = first_name(trace_, factor.tensor);
      }
    }
  }

  // Adds each piece of a function that reads this tensor at the cell's own head, or along its row: where the
  // piece applies, its backward path applies too. If a piece is a copy, so is its backward path.
  void add_pieces(const Reader& reader, const Product& back) {
    for (const Product& piece : reader.rule.products) {
      if (piece.factors.front().tensor.id != rule_.result.id) continue;
      Product& way =
          rule_.products.emplace_back(piece.combine_override ? same_cell({reader.rule.result.id, true}) : back);
      way.where = piece.where;
      way.combine_override = piece.combine_override;
    }
  }

  // To the row: dy and x of its cells, and their weights. To a weight: dy and x of all cells that have it.
  void pass_through_norm(const Reader& reader, TensorName source) {
    const TensorName gradient{reader.rule.result.id, true};
    const std::vector<Product>& products = reader.rule.products;
    const Operand* const weight = products.size() > 1 ? &products[1].factors.front() : nullptr;
    if (weight && weight->tensor.id == rule_.result.id) {
      rule_.combine = Combine::norm_weight_gradient;
      Product& all = rule_.products.emplace_back();
      std::vector<AxisMap> axes;
      for (std::size_t axis = 0; axis < reader.rule.sizes.size(); ++axis) {
        const auto own = std::ranges::find(weight->axes, axis_of(static_cast<int>(axis)));
        if (own != weight->axes.end()) {
          axes.push_back(axis_of(static_cast<int>(own - weight->axes.begin())));
        } else {
          axes.push_back(axis_of(static_cast<int>(weight->axes.size() + all.sums.size())));
          all.sums.push_back({reader.letters[axis], reader.rule.sizes[axis]});
        }
      }
      all.factors = {{gradient, axes}, {source, axes}};
      return;
    }
    rule_.combine = Combine::norm_gradient;
    rule_.products = {row_of({gradient, source}, products.front().sums.front().letter)};
    if (!weight) return;
    std::vector<AxisMap> axes = weight->axes;
    axes.back() = axis_of(static_cast<int>(rule_.sizes.size()));
    rule_.products.front().factors.push_back({weight->tensor, axes});
  }

  // To the columns of kv_a: those of the latent through its norm, the others through the rotation of k_rot.
  void declare_kv_a() {
    const AttentionOptions& o = trace_.options;
    const Index latent = o.kv_lora_rank.value_or(0), width = rule_.sizes.back();
    constexpr int column = 2, summed = 3;
    std::vector<AxisMap> row = own_axes();
    row.back() = axis_of(summed);
    rule_.combine = Combine::norm_gradient;
    Product& normed = rule_.products.emplace_back();
    normed.factors = {{{Id::compressed_kv, true}, row}, {{Id::kv_a}, row}};
    if (trace_.tensor(Id::kv_a_norm_weight))
      normed.factors.push_back({{Id::kv_a_norm_weight}, {axis_of(summed)}});
    normed.sums = {{"c", latent}};
    normed.where = {{column, {0, latent}}};

    Rotation rotation = rotation_of_keys(o);
    rotation.first = latent;
    const auto add_columns = [&](Interval columns, const AxisMap& from, Combine combine) {
      Product& product = rule_.products.emplace_back();
      product.factors = {{{Id::k_rot, true}, {axis_of(0), axis_fixed(0), axis_of(1), from}}};
      product.where = {{column, columns}};
      product.combine_override = combine;
    };
    for (const RotaryPiece& piece : rotary_pieces(rotation, -latent, column))
      for (const AxisMap& from : {piece.own, piece.partner})
        if (!piece.columns.empty()) add_columns(piece.columns, from, Combine::rotation);
    const Interval others{latent + 2 * rotation.count(), width};
    if (!others.empty()) add_columns(others, axis_of(column, -latent), Combine::copy);
  }

  // To a head's sink: its share of every row, with dP and P of the row's cells.
  void pass_to_sinks(const Reader& reader) {
    rule_.combine = Combine::sink_gradient;
    const AxisMap n = axis_of(1), h = axis_of(0), l = axis_of(2), s = axis_of(3);
    const std::vector<Index>& sizes = reader.rule.sizes;
    for (const Product& piece : reader.rule.products) {
      if (piece.factors.front().tensor.id != Id::sinks) continue;
      Product& rows = rule_.products.emplace_back();
      rows.factors = {{{Id::sink_weights}, {n, h, l}},
                      {{reader.rule.result.id, true}, {n, h, l, s}},
                      {reader.rule.result, {n, h, l, s}}};
      rows.sums = {{"n", sizes[0]}, {"l", sizes[2]}, {"s", sizes[3]}};
      for (const IndexCondition& heads : piece.where) rows.where.push_back({0, heads.range});
    }
  }

  // Back through a function on top of the products; dP, P, dy and y are its gradient and its result.
  void pass_through(const Reader& reader) {
    const TensorName result = reader.rule.result, gradient{result.id, true};
    const std::vector<Operand>& first = reader.rule.products.front().factors;
    const TensorName source = first.empty() ? TensorName() : first.front().tensor;  // none: a causal mask's
    switch (reader.rule.combine) {
      case Combine::given:
        return;
      case Combine::copy:
      case Combine::product_sum:
      case Combine::merge_masks:  // linear in float masks; boolean ones have no gradient
        return add_ways_through(reader);
      case Combine::clip:
        rule_.combine = Combine::clip_gradient;
        add_ways_through(reader);
        rule_.products.push_back(same_cell(source));
        return;
      case Combine::rotation:  // the inverse rotation reads the same two columns
        rule_.combine = Combine::rotation;
        rule_.products = reader.rule.products;
        for (Product& product : rule_.products) product.factors.front().tensor = gradient;
        return;
      case Combine::scale:
        rule_.combine = Combine::scale_gradient;
        rule_.products = {same_cell(gradient)};
        if (!score_scale(trace_.options).is_linear()) rule_.products.push_back(same_cell(source));
        return;
      case Combine::add_mask:
        if (!trace_.options.mask_value) return add_ways_through(reader);
        rule_.combine = Combine::add_mask_gradient;
        rule_.products = {same_cell(gradient), same_cell({Id::mask_bias})};
        return;
      case Combine::softmax:
        if (rule_.result.id == Id::sinks) return pass_to_sinks(reader);
        rule_.combine = Combine::softmax_gradient;
        return add_pieces(reader, row_of({gradient, result}, "s"));
      case Combine::dropout:  // the same factor, 0 or 1/(1−p)
        rule_.combine = Combine::dropout;
        return add_pieces(reader, same_cell(gradient));
      case Combine::gate:
        add_ways_through(reader);
        rule_.combine = source.id == rule_.result.id ? Combine::gate : Combine::gate_gradient;
        if (rule_.combine == Combine::gate_gradient)
          rule_.products.back().factors.push_back({{rule_.result.id}, own_axes()});
        return;
      case Combine::norm:
        return pass_through_norm(reader, source);
      default:
        throw std::logic_error("no gradient goes through " + to_string(result));
    }
  }

  const Trace& trace_;
  const std::vector<Reader>& readers_;
  Rule& rule_;
};

Rule declared_gradient(const Trace& trace, const std::vector<Reader>& readers, Id id) {
  Rule rule;
  rule.result = {id, true};
  rule.sizes = trace.tensor(rule.result)->shape().sizes();
  GradientDeclaration(trace, readers, rule).declare();
  return rule;
}

}  // namespace

bool has_backward_pass(const Trace& trace) {
  return trace.grad.output != nullptr;
}

Rule gradient_rule(const Trace& trace, TensorId id) {
  if (const auto missing = missing_intermediate(trace)) {
    throw Error(ExitStatus::usage,
                {to_string({id, true}), "this trace does not keep a tensor that gradients pass through",
                 "no " + to_string({*missing}), "a trace of the reference backend", ""});
  }
  return declared_gradient(trace, readers_of(trace), id);
}

std::vector<Rule> gradient_rules(const Trace& trace) {
  std::vector<Rule> rules;
  if (!has_backward_pass(trace) || missing_intermediate(trace)) return rules;
  const std::vector<Reader> readers = readers_of(trace);
  for (const TensorEntry& entry : tensor_entries()) {
    if (trace.tensor({entry.id, true})) rules.push_back(declared_gradient(trace, readers, entry.id));
  }
  return rules;
}

}  // namespace headwise
