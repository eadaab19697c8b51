// The whole model, forward and back, over a few sequences. Compiled once for each instruction set and type of
// numbers (headwise_kernels in core/CMakeLists.txt). Eigen has a name of its own for each instruction set;
// nothing else that this includes could be instantiated elsewhere with other flags.
#include "core/tensor/kernel_table.h"
#include "core/train/chunk_latents.h"

namespace headwise {
namespace {

// stream = embedding[token] + positions[t]
void embed(const Work& work, Rows stream) {
  const ModelPlaces& places = *work.places;
  const ConstRows embedding = weight_of(work, places.embedding);
  for (Index row = 0; row < stream.rows(); ++row) stream.row(row) = embedding.row(work.token[row]);
  const Real* const positions = places.positions.rows > 0 ? work.weights + places.positions.at : work.sinusoids;
  if (!positions) return;
  for (Index n = 0; n < work.sequences; ++n)
    stream.middleRows(n * work.tokens, work.tokens) +=
        rows_at(positions, work.tokens, work.width_step, work.width_step);
}

void embed_backward(const Work& work, const Rows& grad_stream) {
  const ModelPlaces& places = *work.places;
  keep_shares(work, places.embedding, grad_stream.rows(), nullptr, [&](Index i, Index row, Index column) {
    return work.token[i] == row ? grad_stream(i, column) : 0;
  });
  keep_shares(work, places.positions, grad_stream.rows(), nullptr, [&](Index i, Index row, Index column) {
    return i % work.tokens == row ? grad_stream(i, column) : 0;
  });
  Rows embedding = gradient_of(work, places.embedding), positions = gradient_of(work, places.positions);
  for (Index row = 0; row < grad_stream.rows(); ++row) {
    embedding.row(work.token[row]) += grad_stream.row(row);
    if (places.positions.rows > 0) positions.row(row % work.tokens) += grad_stream.row(row);
  }
}

void layer_forward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                   const Real* dropout) {
  const Index rows = work.sequences * work.tokens, width_step = work.width_step;
  Rows stream = token_rows(work, work.scratch.stream, width_step);
  const Rows heads = token_rows(work, work.output_gate ? layer.gated : layer.heads, work.heads_step),
             attention_input = token_rows(work, layer.attention_input.out, width_step);
  layer_norm(work, places.norm1_weight, places.norm1_bias, stream, layer.attention_input);
  if (work.latent > 0)
    project_latents(work, places, attention_input, layer);
  else
    linear(work, places.in_weight, places.in_bias, attention_input, token_rows(work, layer.in, work.in_step));
  attend(work, places, layer, dropout);
  if (work.output_gate) open_gate(work, places.gate_weight, attention_input, layer);
  if (places.out_weight.rows > 0)
    add_linear(work, places.out_weight, places.out_bias, heads, stream);
  else
    stream += heads;
  if (work.hidden == 0) return;
  layer_norm(work, places.norm2_weight, places.norm2_bias, stream, layer.feed_forward_input);
  linear(work, places.linear1_weight, places.linear1_bias,
         token_rows(work, layer.feed_forward_input.out, width_step),
         token_rows(work, layer.before, work.hidden_step));
  activate(work, rows, layer.before, layer.hidden);
  add_linear(work, places.linear2_weight, places.linear2_bias,
             token_rows(work, layer.hidden, work.hidden_step), stream);
}

void layer_backward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                    const Real* dropout) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index rows = work.sequences * work.tokens, width_step = work.width_step;
  const Rows grad_stream = token_rows(work, scratch.grad_stream, width_step),
             grad_narrow = token_rows(work, scratch.grad_narrow, width_step),
             grad_hidden = token_rows(work, scratch.grad_wide, work.hidden_step),
             grad_heads = token_rows(work, scratch.grad_heads, work.heads_step),
             attention_input = token_rows(work, layer.attention_input.out, width_step),
             grad_in = token_rows(work, scratch.grad_wide, work.in_step);
  if (work.hidden > 0) {
    linear_backward(work, places.linear2_weight, places.linear2_bias, grad_stream,
                    token_rows(work, layer.hidden, work.hidden_step), grad_hidden);
    activate_backward(work, rows, layer.before, scratch.grad_wide);
    linear_backward(work, places.linear1_weight, places.linear1_bias, grad_hidden,
                    token_rows(work, layer.feed_forward_input.out, width_step), grad_narrow);
    layer_norm_backward(work, places.norm2_weight, places.norm2_bias, grad_narrow, layer.feed_forward_input,
                        grad_stream);
  }
  const bool projected = places.out_weight.rows > 0;  // by W_O
  if (projected)
    linear_backward(work, places.out_weight, places.out_bias, grad_stream,
                    token_rows(work, work.output_gate ? layer.gated : layer.heads, work.heads_step),
                    grad_heads);
  Real* grad_concat = projected ? scratch.grad_heads : scratch.grad_stream;
  if (work.output_gate) {
    open_gate_backward(layer, rows * work.heads_step, grad_concat, scratch.grad_heads, scratch.grad_gate);
    grad_concat = scratch.grad_heads;
  }
  attend_backward(work, places, layer, dropout, grad_concat, scratch.grad_wide);
  if (work.latent > 0)
    project_latents_backward(work, places, layer, grad_in, attention_input, grad_narrow);
  else
    linear_backward(work, places.in_weight, places.in_bias, grad_in, attention_input, grad_narrow);
  if (work.output_gate)
    linear_backward(work, places.gate_weight, {}, token_rows(work, scratch.grad_gate, work.heads_step),
                    attention_input, grad_narrow, nullptr, true);
  layer_norm_backward(work, places.norm1_weight, places.norm1_bias, grad_narrow, layer.attention_input,
                      grad_stream);
}

// The rows whose prediction counts, gathered in scratch.counted_input.
Index gather_counted(const Work& work) {
  const Rows stream = token_rows(work, work.scratch.stream, work.width_step);
  Rows counted = token_rows(work, work.scratch.counted_input, work.width_step);
  Index count = 0;
  for (Index row = 0; row < stream.rows(); ++row) {
    if (work.target[row] < 0) continue;
    work.scratch.counted_rows[count] = row;
    counted.row(count) = stream.row(row);
    ++count;
  }
  return count;
}

// The loss of a row of logits, which become their gradients.
double cross_entropy(const Work& work, Row logits, Index target, bool& is_correct) {
  Index best = 0;
  const Real most = logits.maxCoeff(&best), of_target = logits[target];
  is_correct = best == target;
  logits = exponential(logits - most);
  const Real sum = logits.sum();
  logits *= work.grad_of_loss / sum;
  logits[target] -= work.grad_of_loss;
  // In long double, whose logarithm is the same on every machine.
  return static_cast<double>(__builtin_logl(static_cast<long double>(sum)) + static_cast<long double>(most) -
                             static_cast<long double>(of_target));
}

void predict(Work& work) {
  const ModelPlaces& places = *work.places;
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index count = gather_counted(work), step = work.width_step;
  Rows counted_input = rows_at(scratch.counted_input, count, step, step);
  const Rows counted = rows_at(scratch.counted.out, count, step, step),
             logits = rows_at(scratch.logits, count, work.vocabulary_step, work.vocabulary_step);
  layer_norm(work, places.norm_weight, places.norm_bias, counted_input, scratch.counted);
  linear(work, places.unembedding, {}, counted, logits);
  for (Index i = 0; i < count; ++i) {
    bool is_correct = false;
    work.loss += cross_entropy(work, Row(scratch.logits + i * work.vocabulary_step, work.vocabulary),
                               work.target[scratch.counted_rows[i]], is_correct);
    work.correct += is_correct;
  }
  work.counted += count;
  if (!work.gradients) return;
  const Rows grad_counted = rows_at(scratch.grad_narrow, count, step, step);
  linear_backward(work, places.unembedding, {}, logits, counted, grad_counted, scratch.counted_rows);
  counted_input.setZero();  // its gradient from here on
  layer_norm_backward(work, places.norm_weight, places.norm_bias, grad_counted, scratch.counted,
                      counted_input, scratch.counted_rows);
  Rows grad_stream = token_rows(work, scratch.grad_stream, step);
  grad_stream.setZero();
  for (Index i = 0; i < count; ++i) grad_stream.row(scratch.counted_rows[i]) = counted_input.row(i);
}

void run_chunk(Work& work) {
  const ModelPlaces& places = *work.places;
  embed(work, token_rows(work, work.scratch.stream, work.width_step));
  if (work.buckets) spread_biases(work);
  for (Index layer = 0; layer < work.layers; ++layer)
    layer_forward(work, places.layers[layer], work.layer[layer], work.dropout[layer]);
  predict(work);
  if (!work.gradients) return;
  if (work.buckets) Row(work.scratch.grad_biases, work.heads * work.bias_step).setZero();
  for (Index layer = work.layers - 1; layer >= 0; --layer)
    layer_backward(work, places.layers[layer], work.layer[layer], work.dropout[layer]);
  if (work.buckets) spread_biases_backward(work);
  embed_backward(work, token_rows(work, work.scratch.grad_stream, work.width_step));
}

}  // namespace

#define HEADWISE_CHUNK_TABLE HEADWISE_TABLE(HEADWISE_JOINED(chunk_kernels, HEADWISE_REAL))
extern const ChunkKernels<Real> HEADWISE_CHUNK_TABLE;
const ChunkKernels<Real> HEADWISE_CHUNK_TABLE = {run_chunk};

}  // namespace headwise
