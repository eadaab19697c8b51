#include "core/attention/memory_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/attention/attention_sizes.h"
#include "core/attention/score_path.h"
#include "core/attention/tensor_names.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Id = TensorId;

std::string call(const char* operation, const Shape& shape) {
  return fmt::format(".{}({})", operation, join(shape.sizes(), ", "));
}

// A chain of operations, as in a line of PyTorch.
class Operations {
 public:
  Operations(std::string variable, const Shape& shape) {
    states_.push_back({std::move(variable), StridedLayout::contiguous(shape)});
  }
  explicit Operations(std::vector<MemoryState> states) : states_(std::move(states)) {}

  const StridedLayout& layout() const { return states_.back().layout; }
  std::vector<MemoryState> take() { return std::move(states_); }
  const std::vector<MemoryState>& states() const { return states_; }

  // The view must be possible.
  void view(const Shape& shape) { states_.push_back({call("view", shape), layout().viewed(shape).value()}); }
  void transpose(Index a, Index b) {
    states_.push_back({fmt::format(".transpose({}, {})", a, b), layout().transposed(a, b)});
  }
  // The last two axes.
  void transpose_matrix() {
    const Index rank = layout().rank();
    states_.push_back({".transpose(-2, -1)", layout().transposed(rank - 2, rank - 1)});
  }
  void permute(const std::vector<Index>& order) {
    states_.push_back({fmt::format(".permute({})", join(order, ", ")), layout().permuted(order)});
  }
  // Does nothing if the floats are already in this order, like PyTorch's.
  void contiguous() {
    const bool copies = !layout().is_contiguous();
    states_.push_back(
        {".contiguous()", copies ? StridedLayout::contiguous(layout().shape()) : layout(), copies});
  }
  // A view if possible, else a view of a copy.
  void reshape(const Shape& shape) {
    if (const auto viewed = layout().viewed(shape)) {
      states_.push_back({call("reshape", shape), *viewed});
    } else {
      states_.push_back({".contiguous()", StridedLayout::contiguous(layout().shape()), true});
      states_.push_back({call("reshape", shape), layout().viewed(shape).value()});
    }
  }

 private:
  std::vector<MemoryState> states_;
};

std::vector<Index> in_order(Index rank) {
  std::vector<Index> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), Index{0});
  return axes;
}

class Builder {
 public:
  Builder(const Trace& trace, bool batch_first)
      : trace_(trace), sizes_(attention_sizes(trace.options, trace.tensors)), batch_first_(batch_first) {}

  // q, k or v as output by the projection, into heads.
  MemoryOrder split(Id joined, Id heads) const {
    const Shape& shape = trace_.tensor(heads)->shape();  // (N,H,T,D)
    const Axis n = shape.axes()[0], h = shape.axes()[1], t = shape.axes()[2], d = shape.axes()[3];
    const Axis e = width(trace_.tensor(joined)->shape().axes()[2]);
    MemoryOrder order;
    Operations operations(std::string(tensor_entry(joined).name),
                          batch_first_ ? Shape{n, t, e} : Shape{t, n, e});
    if (batch_first_) {
      operations.view(Shape{n, t, h, d});
      operations.transpose(1, 2);
    } else {
      operations.view(Shape{t, {"N·" + h.name, n.size * h.size}, d});
      operations.transpose(0, 1);
      operations.view(Shape{n, h, t, d});
    }
    Operations wrong({operations.states().front()});
    wrong.view(Shape{n, h, t, d});
    order.wrong_code = order_text(wrong, 1);
    order.wrong = wrong.take();
    order.states = operations.take();
    order.source = {joined, batch_first_ ? in_order(3) : std::vector<Index>{1, 0, 2}};
    order.result = {heads, in_order(4)};
    set_heads(order, order.last(), 1, h.size);
    return order;
  }

  // k into heads, and each head's matrix transposed. Rotary position embedding writes its keys to new memory.
  MemoryOrder rotated_keys() const {
    const Id keys = path_of_keys(trace_.options).back();
    const std::string name(tensor_entry(keys).name);
    MemoryOrder order = keys == Id::k_heads ? split(made_of(keys, trace_.options), keys) : made(keys);
    Operations operations(std::move(order.states));
    Operations wrong(operations.states());
    const std::size_t state_count = operations.states().size();
    operations.transpose_matrix();
    const Shape shape = operations.layout().shape();
    order.refusal = wrong.layout().view_refusal(shape);
    if (!order.refusal.empty()) order.refused_code = name + call("view", shape);
    wrong.reshape(shape);
    order.wrong_code = name + call("reshape", shape);
    order.wrong = wrong.take();
    order.states = operations.take();
    order.result.axes = {0, 1, 3, 2};
    order.head_state = state_count - 1;
    return order;
  }

  MemoryOrder join() const {
    const Shape& shape = trace_.tensor(Id::head_output)->shape();  // (N,H,L,Dv)
    const Axis n = shape.axes()[0], h = shape.axes()[1], l = shape.axes()[2];
    const Axis e = width(trace_.tensor(Id::concat)->shape().axes()[2]);
    const Shape joined = batch_first_ ? Shape{n, l, e} : Shape{l, n, e};
    MemoryOrder order;
    Operations operations("head_output", shape);
    Operations wrong(operations.states());
    if (batch_first_) {
      operations.transpose(1, 2);
    } else {
      operations.permute({2, 0, 1, 3});
    }
    order.refusal = operations.layout().view_refusal(joined);
    if (!order.refusal.empty()) order.refused_code = operations.states().back().code + call("view", joined);
    operations.contiguous();
    operations.view(joined);
    wrong.view(joined);
    order.wrong_code = order_text(wrong, 1);
    order.wrong = wrong.take();
    order.states = operations.take();
    order.source = {Id::head_output, in_order(4)};
    order.result = {Id::concat, batch_first_ ? in_order(3) : std::vector<Index>{1, 0, 2}};
    set_heads(order, 0, 1, h.size);
    return order;
  }

  // A tensor that an operation has just created, or that was given: row-major.
  MemoryOrder made(Id id) const {
    const Shape& shape = trace_.tensor(id)->shape();
    std::vector<Axis> axes = shape.axes();
    std::vector<Index> traced = in_order(shape.rank());
    const bool sequence_first =
        !batch_first_ && axes.size() == 3 && axes[0].name == "N" && !is_key_axis(axes[2].name);
    if (sequence_first) {
      std::swap(axes[0], axes[1]);
      std::swap(traced[0], traced[1]);
    }
    MemoryOrder order;
    order.states = Operations(std::string(tensor_entry(id).name), Shape(axes)).take();
    order.source = order.result = {id, traced};
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::string& name = axes[i].name;
      if (name == "H" || name == "G") set_heads(order, 0, i, axes[i].size);
      const bool keys = name == "G·D" || name == "G·Dv";
      if (!keys && name != "H·D" && name != "H·Dv") continue;
      set_heads(order, 0, i, keys ? sizes_.kv_heads : sizes_.heads);
      order.head_width = std::max<Index>(1, axes[i].size / std::max<Index>(1, order.heads));
    }
    return order;
  }

 private:
  // The joined axis of the heads is E if it is as wide as the model.
  Axis width(const Axis& joined) const {
    return {joined.size == sizes_.embed_dim ? "E" : joined.name, joined.size};
  }
  static std::string order_text(const Operations& operations, std::size_t from) {
    std::string text = operations.states().front().code;
    for (std::size_t i = from; i < operations.states().size(); ++i) text += operations.states()[i].code;
    return text;
  }
  static void set_heads(MemoryOrder& order, std::size_t state, std::size_t axis, Index heads) {
    order.heads = heads;
    order.head_state = state;
    order.head_axis = axis;
  }

  const Trace& trace_;
  AttentionSizes sizes_;
  bool batch_first_;
};

}  // namespace

MemoryOrder memory_order(const Trace& trace, Step step, TensorId result, bool batch_first) {
  const bool own_inputs =
      trace.options.op == Op::scaled_dot_product_attention;  // given as heads: nothing is split
  const Builder builder(trace, batch_first || own_inputs);
  if (own_inputs) return builder.made(result);
  if (step == Step::split_heads && result == Id::q_heads && trace.tensors.q)
    return builder.split(made_of(result, trace.options), result);
  if (step == Step::split_heads && result == Id::k_heads && trace.tensors.k)
    return builder.split(made_of(result, trace.options), result);
  if (step == Step::split_heads && result == Id::v_heads && trace.tensors.v)
    return builder.split(Id::v, result);
  if (step == Step::scores && result == Id::scores && trace.tensors.k && trace.tensors.k_heads)
    return builder.rotated_keys();
  if (step == Step::concat && result == Id::concat && trace.tensors.head_output) return builder.join();
  return builder.made(result);
}

Index float_of(const std::vector<MemoryState>& states, std::size_t state, const std::vector<Index>& index) {
  Index place = states[state].layout.offset(index);
  for (std::size_t i = state + 1; i-- > 1;)
    if (states[i].copied) place = states[i - 1].layout.offset(states[i].layout.index_of(place));
  return place;
}

Index place_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float) {
  Index place = first_float;
  for (std::size_t i = 1; i <= state; ++i)
    if (states[i].copied) place = states[i].layout.offset(states[i - 1].layout.index_of(place));
  return place;
}

std::vector<Index> cell_of(const std::vector<MemoryState>& states, std::size_t state, Index first_float) {
  return states[state].layout.index_of(place_of(states, state, first_float));
}

std::vector<Index> to_layout(const TracedAxes& traced, const std::vector<Index>& index) {
  std::vector<Index> out;
  for (const Index axis : traced.axes) out.push_back(index[static_cast<std::size_t>(axis)]);
  return out;
}

std::vector<Index> from_layout(const TracedAxes& traced, const std::vector<Index>& index) {
  std::vector<Index> out(index.size());
  for (std::size_t i = 0; i < index.size(); ++i) out[static_cast<std::size_t>(traced.axes[i])] = index[i];
  return out;
}

std::optional<Index> head_of_float(const MemoryOrder& order, Index first_float) {
  if (order.heads == 0) return std::nullopt;
  return cell_of(order.states, order.head_state, first_float)[order.head_axis] / order.head_width;
}

}  // namespace headwise
