// The whole model, forward and back, over a few sequences. Compiled once for each instruction set and type of
// numbers (core/tensor/vectors.h). Includes nothing that could be instantiated elsewhere with other flags.
#include "core/train/chunk_attention.h"

namespace headwise {
namespace {

// stream = embedding[token] + positions[t]
void embed(const Work& work) {
  const ModelPlaces& places = *work.places;
  const Index step = work.width_step;
  for (Index row = 0; row < work.sequences * work.tokens; ++row) {
    const Index t = row % work.tokens;
    const Real* const token = work.weights + places.embedding.at + work.token[row] * step;
    const Real* const position = places.positions.rows > 0 ? work.weights + places.positions.at + t * step
                                 : work.sinusoids          ? work.sinusoids + t * step
                                                           : nullptr;
    Real* const x = work.scratch.stream + row * step;
    for (Index c = 0; c < step; c += vector)
      store(x + c, position ? load(token + c) + load(position + c) : load(token + c));
  }
}

void embed_backward(const Work& work) {
  const ModelPlaces& places = *work.places;
  const Index step = work.width_step;
  const auto add_row = [&](const MatrixPlace& place, Index at, const Real* grad) {
    Real* const to = work.gradients + place.at + at * step;
    for (Index c = 0; c < step; c += vector) store(to + c, load(to + c) + load(grad + c));
  };
  const Index rows = work.sequences * work.tokens;
  const Real* const stream = work.scratch.grad_stream;
  keep_shares(work, places.embedding, rows, nullptr, [&](Index i, Index row, Index column) {
    return work.token[i] == row ? stream[i * step + column] : 0;
  });
  keep_shares(work, places.positions, rows, nullptr, [&](Index i, Index row, Index column) {
    return i % work.tokens == row ? stream[i * step + column] : 0;
  });
  for (Index row = 0; row < rows; ++row) {
    const Real* const grad = stream + row * step;
    add_row(places.embedding, work.token[row], grad);
    if (places.positions.rows > 0) add_row(places.positions, row % work.tokens, grad);
  }
}

void add_rows(Index count, const Real* x, Real* to) {
  for (Index i = 0; i < count; i += vector) store(to + i, load(to + i) + load(x + i));
}

void layer_forward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                   const Real* dropout) {
  const Index rows = work.sequences * work.tokens;
  Real* const stream = work.scratch.stream;
  layer_norm(work, places.norm1_weight, places.norm1_bias, rows, stream, layer.attention_input);
  linear(work, places.in_weight, places.in_bias, rows, layer.attention_input.out, work.width_step, layer.in);
  attend(work, layer, dropout);
  if (places.out_weight.rows > 0) {
    linear(work, places.out_weight, places.out_bias, rows, layer.heads, work.heads_step, stream, true);
  } else {
    add_rows(rows * work.width_step, layer.heads, stream);
  }
  if (work.hidden == 0) return;
  layer_norm(work, places.norm2_weight, places.norm2_bias, rows, stream, layer.feed_forward_input);
  linear(work, places.linear1_weight, places.linear1_bias, rows, layer.feed_forward_input.out,
         work.width_step, layer.before);
  activate(work, rows, layer.before, layer.hidden);
  linear(work, places.linear2_weight, places.linear2_bias, rows, layer.hidden, work.hidden_step, stream, true);
}

void layer_backward(const Work& work, const LayerPlaces& places, const LayerRows<Real>& layer,
                    const Real* dropout) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index rows = work.sequences * work.tokens, width_step = work.width_step;
  if (work.hidden > 0) {
    linear_backward(work, places.linear2_weight, places.linear2_bias, rows, scratch.grad_stream, width_step,
                    layer.hidden, scratch.grad_wide);
    activate_backward(work, rows, layer.before, scratch.grad_wide);
    linear_backward(work, places.linear1_weight, places.linear1_bias, rows, scratch.grad_wide,
                    work.hidden_step, layer.feed_forward_input.out, scratch.grad_narrow);
    layer_norm_backward(work, places.norm2_weight, places.norm2_bias, rows, scratch.grad_narrow,
                        layer.feed_forward_input, scratch.grad_stream);
  }
  const Real* grad_heads = scratch.grad_stream;  // without W_O
  if (places.out_weight.rows > 0) {
    linear_backward(work, places.out_weight, places.out_bias, rows, scratch.grad_stream, width_step,
                    layer.heads, scratch.grad_heads);
    grad_heads = scratch.grad_heads;
  }
  attend_backward(work, layer, dropout, grad_heads, scratch.grad_wide);
  linear_backward(work, places.in_weight, places.in_bias, rows, scratch.grad_wide, work.in_step,
                  layer.attention_input.out, scratch.grad_narrow);
  layer_norm_backward(work, places.norm1_weight, places.norm1_bias, rows, scratch.grad_narrow,
                      layer.attention_input, scratch.grad_stream);
}

// The rows whose prediction counts, gathered in scratch.counted_input.
Index gather_counted(const Work& work) {
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index step = work.width_step;
  Index count = 0;
  for (Index row = 0; row < work.sequences * work.tokens; ++row) {
    if (work.target[row] < 0) continue;
    scratch.counted_rows[count] = row;
    copy_columns(scratch.stream + row * step, step, 1, step, scratch.counted_input + count * step, step);
    ++count;
  }
  return count;
}

// The loss of a row of logits, which become their gradients.
double cross_entropy(const Work& work, Real* logits, Index target, bool& is_correct) {
  const Index step = work.vocabulary_step;
  Index best = 0;
  for (Index v = 1; v < work.vocabulary; ++v)
    if (logits[v] > logits[best]) best = v;
  is_correct = best == target;
  const Real of_target = logits[target], most = logits[best];
  for (Index v = work.vocabulary; v < step; ++v) logits[v] = -infinity;
  for (Index c = 0; c < step; c += vector) store(logits + c, exponential(load(logits + c) - all(most)));
  const Real sum = row_sum(step, [&](Index c) { return load(logits + c); });
  const Vector share = all(work.grad_of_loss / sum);
  for (Index c = 0; c < step; c += vector) store(logits + c, load(logits + c) * share);
  logits[target] -= work.grad_of_loss;
  // In long double, whose logarithm is the same on every machine.
  return static_cast<double>(__builtin_logl(static_cast<long double>(sum)) + static_cast<long double>(most) -
                             static_cast<long double>(of_target));
}

void predict(Work& work) {
  const ModelPlaces& places = *work.places;
  const ChunkScratch<Real>& scratch = work.scratch;
  const Index count = gather_counted(work);
  layer_norm(work, places.norm_weight, places.norm_bias, count, scratch.counted_input, scratch.counted);
  linear(work, places.unembedding, {}, count, scratch.counted.out, work.width_step, scratch.logits);
  for (Index i = 0; i < count; ++i) {
    bool is_correct = false;
    work.loss += cross_entropy(work, scratch.logits + i * work.vocabulary_step,
                               work.target[scratch.counted_rows[i]], is_correct);
    work.correct += is_correct;
  }
  work.counted += count;
  if (!work.gradients) return;
  const Index step = work.width_step;
  linear_backward(work, places.unembedding, {}, count, scratch.logits, work.vocabulary_step,
                  scratch.counted.out, scratch.grad_narrow, scratch.counted_rows);
  Real* const gathered = scratch.counted_input;  // its gradient from here on
  for (Index i = 0; i < count * step; ++i) gathered[i] = 0;
  layer_norm_backward(work, places.norm_weight, places.norm_bias, count, scratch.grad_narrow, scratch.counted,
                      gathered, scratch.counted_rows);
  for (Index i = 0; i < work.sequences * work.tokens * step; ++i) scratch.grad_stream[i] = 0;
  for (Index i = 0; i < count; ++i)
    copy_columns(gathered + i * step, step, 1, step, scratch.grad_stream + scratch.counted_rows[i] * step,
                 step);
}

void run_chunk(Work& work) {
  const ModelPlaces& places = *work.places;
  embed(work);
  for (Index layer = 0; layer < work.layers; ++layer)
    layer_forward(work, places.layers[layer], work.layer[layer], work.dropout[layer]);
  predict(work);
  if (!work.gradients) return;
  for (Index layer = work.layers - 1; layer >= 0; --layer)
    layer_backward(work, places.layers[layer], work.layer[layer], work.dropout[layer]);
  embed_backward(work);
}

}  // namespace

#define HEADWISE_CHUNK_TABLE HEADWISE_TABLE(HEADWISE_JOINED(chunk_kernels, HEADWISE_REAL))
extern const ChunkKernels<Real> HEADWISE_CHUNK_TABLE;
const ChunkKernels<Real> HEADWISE_CHUNK_TABLE = {run_chunk};

}  // namespace headwise
