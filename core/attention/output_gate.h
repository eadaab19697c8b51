// The output gate: concat ⊙ σ(gate) before the output projection, with the gate from the layer's input.
// "Gated Attention for Large Language Models" (Qiu et al., 2025); Qwen3-Next, AFMoE, Step-3.5.
#pragma once

#include "core/attention/tensor_names.h"

namespace headwise {

// σ(x) = 1 / (1 + exp(−x))
double sigmoid(double x);

// gated[n,l,c] = concat[n,l,c]·σ(gate[n,l,g]): concat (N,L,H·Dv); gate the same shape, where g is c, or
// (N,L,H), where g is the head of the column. f32 or f64, computed in double.
// `open`: another function than σ.
Tensor gated(const Tensor& concat, const Tensor& gate, double (*open)(double) = sigmoid);

// d(loss)/d(gate) from d(loss)/d(gated): Σ of dgated·concat·σ(gate)·(1 − σ(gate)) over the columns that the
// gate's number multiplies. That of concat is gated(dgated, gate).
Tensor gate_gradient(const Tensor& grad_gated, const Tensor& concat, const Tensor& gate);

// What the output projection multiplies: gated_concat, or concat where there is no gate.
TensorId rows_of_output(const TraceTensors& tensors);

}  // namespace headwise
