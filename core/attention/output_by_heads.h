// The output projection as a sum over heads. Head h owns Dv adjacent columns of concat and of W_O, so that
//     output[n,l,e] = Σ_h ( Σ_w concat[n,l,h·Dv+w] · W_O[e,h·Dv+w] ) + b[e],
// and each head's contribution to each output cell is a number of its own.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace headwise {

// 'nlhw,ehw->nlhe' → (N,L,H,E): what each head adds to each cell of the output. concat (N,L,H·Dv) includes the head
// gains, out_proj_weight is (E,H·Dv). Summed over H, plus the bias, it is the output.
Tensor output_by_heads(const Tensor& concat, const Tensor& out_proj_weight, Index heads);

// One cell of the output, decomposed; sums in double.
struct OutputCellByHeads {
  std::vector<double> heads;  // H addends
  double bias = 0.0;          // 0 where there is none
  double output = 0.0;        // Σ heads + bias
  double magnitude = 0.0;     // Σ |heads| + |bias|: the total that shares refer to

  // |addend| / magnitude, 0 if the magnitude is 0; all shares add up to 1.
  double share_of_head(Index head) const { return share(heads[static_cast<std::size_t>(head)]); }
  double share_of_bias() const { return share(bias); }

 private:
  double share(double addend) const;
};
// `out_proj_bias` may be null.
OutputCellByHeads output_cell_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                       const Tensor* out_proj_bias, Index heads, Index n, Index l, Index e);

// For the whole output: Σ |contribution| of each head over all cells, followed by that of the bias; (H+1) numbers.
std::vector<double> output_magnitudes_by_heads(const Tensor& concat, const Tensor& out_proj_weight,
                                               const Tensor* out_proj_bias, Index heads);

}  // namespace headwise
