#include "core/attention/projection_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "core/tensor/error.h"
#include "core/tensor/float_dispatch.h"

namespace headwise {
namespace {

constexpr std::array projections{Projection::q, Projection::k, Projection::v};

// The sizes of one of the three projections.
struct Sizes {
  Index heads = 0;  // H or G
  Index width = 0;  // D or Dv: rows of one head
  Index in_features = 0;
  const char *rows_axis = "", *in_axis = "";
  Index rows() const { return heads * width; }
};

Sizes sizes_of(Projection which, const AttentionOptions& o) {
  if (which == Projection::q) return {o.num_heads, o.head_dim, o.embed_dim, "H·D", "E"};
  if (which == Projection::k) return {o.num_kv_heads, o.head_dim, o.kdim, "G·D", "kdim"};
  return {o.num_kv_heads, o.v_head_dim, o.vdim, "G·Dv", "vdim"};
}

Index first_row_of(Projection which, const AttentionOptions& o) {
  return in_projection_rows(which, o, nullptr, nullptr, nullptr).first_weight_row;
}

Index all_rows(const AttentionOptions& o) {
  return first_row_of(Projection::v, o) + sizes_of(Projection::v, o).rows();
}

const TensorPtr& own_weight(Projection which, const ProjectionParameters& p) {
  return which == Projection::q   ? p.q_proj_weight
         : which == Projection::k ? p.k_proj_weight
                                  : p.v_proj_weight;
}

template <class T>
void stack(std::initializer_list<const Tensor*> parts, Tensor& whole) {
  auto target = whole.values<T>().begin();
  for (const Tensor* part : parts) target = std::ranges::copy(part->values<T>(), target).out;
}

[[noreturn]] void refuse_packing(const AttentionOptions& o) {
  throw Error(ExitStatus::usage,
              {"projection", "one packed matrix needs W_q, W_k and W_v of the same width",
               fmt::format("embed_dim = {}, kdim = {}, vdim = {}", o.embed_dim, o.kdim, o.vdim),
               "kdim = vdim = embed_dim, and all three matrices", "use separate matrices"});
}

std::vector<ProjectionMatrix> packed_matrix(const AttentionOptions& o, const ProjectionParameters& p) {
  if (!can_be_packed(o, p)) refuse_packing(o);
  const TensorPtr weight = p.in_proj_weight ? p.in_proj_weight
                                            : std::make_shared<const Tensor>(packed_projections(
                                                  *p.q_proj_weight, *p.k_proj_weight, *p.v_proj_weight));
  return {{Projection::q,
           -1,
           {weight.get(), 0, p.in_proj_bias.get(), 0},
           all_rows(o),
           o.embed_dim,
           weight,
           p.in_proj_bias}};
}

// The rows [first_row, first_row + rows) of W_q, W_k or W_v.
ProjectionMatrix projection_rows_of(Projection which, Index head, Index first_row, Index rows,
                                    const AttentionOptions& o, const ProjectionParameters& p) {
  const TensorPtr& own = own_weight(which, p);
  ProjectionMatrix matrix{
      which, head, {}, rows, sizes_of(which, o).in_features, own ? own : p.in_proj_weight, p.in_proj_bias};
  matrix.rows = in_projection_rows(which, o, p.in_proj_weight.get(), own.get(), p.in_proj_bias.get());
  matrix.rows.first_weight_row += first_row;
  matrix.rows.first_bias_entry += first_row;
  return matrix;
}

// Which of q, k and v a matrix computes, and how many of its rows: a packed one computes all three.
struct Share {
  Projection which;
  Index first_row;  // of the matrix
  Index first_col;  // of q, k or v
  Index rows;
};
std::vector<Share> shares_of(const ProjectionMatrix& matrix, const AttentionOptions& o) {
  const Sizes sizes = sizes_of(matrix.of, o);
  if (matrix.head >= 0) return {{matrix.of, 0, matrix.head * sizes.width, matrix.out_features}};
  if (matrix.out_features != all_rows(o)) return {{matrix.of, 0, 0, matrix.out_features}};
  std::vector<Share> shares;
  for (const Projection which : projections)
    shares.push_back({which, first_row_of(which, o), 0, sizes_of(which, o).rows()});
  return shares;
}

template <class T>
void copy_block(const Tensor& from, Index first_from, Tensor& to, Index first_to, Index columns) {
  const Index from_width = from.shape().size(from.shape().rank() - 1);
  const Index to_width = to.shape().size(to.shape().rank() - 1);
  if (to.size() == 0 || columns == 0) return;
  for (Index row = 0; row < to.size() / to_width; ++row) {
    std::copy_n(from.values<T>().begin() + row * from_width + first_from, columns,
                to.values<T>().begin() + row * to_width + first_to);
  }
}

// Columns [first_from, first_from + columns) of `from` become those from first_to on in `to`;
// all leading axes agree.
void copy_columns(const Tensor& from, Index first_from, Tensor& to, Index first_to, Index columns) {
  dispatch_float(from.dtype(), [&]<class T>() { copy_block<T>(from, first_from, to, first_to, columns); });
}

}  // namespace

bool can_be_packed(const AttentionOptions& o, const ProjectionParameters& p) {
  if (p.in_proj_weight) return true;
  return o.kdim == o.embed_dim && o.vdim == o.embed_dim && p.q_proj_weight && p.k_proj_weight &&
         p.v_proj_weight;
}

std::vector<ProjectionMatrix> projection_matrices(ProjectionLayout layout, const AttentionOptions& o,
                                                  const ProjectionParameters& p) {
  if (layout == ProjectionLayout::packed) return packed_matrix(o, p);
  std::vector<ProjectionMatrix> matrices;
  for (const Projection which : projections) {
    if (!p.in_proj_weight && !own_weight(which, p)) continue;
    const Sizes sizes = sizes_of(which, o);
    if (layout == ProjectionLayout::separate) {
      matrices.push_back(projection_rows_of(which, -1, 0, sizes.rows(), o, p));
      continue;
    }
    for (Index head = 0; head < sizes.heads; ++head)
      matrices.push_back(projection_rows_of(which, head, head * sizes.width, sizes.width, o, p));
  }
  return matrices;
}

Tensor packed_projections(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Index rows = q.shape().size(0) + k.shape().size(0) + v.shape().size(0);
  Tensor packed({{"H·D+G·D+G·Dv", rows}, {"E", q.shape().size(1)}}, q.dtype());
  dispatch_float(q.dtype(), [&]<class T>() { stack<T>({&q, &k, &v}, packed); });
  return packed;
}

ProjectedInputs project_with(const AttentionOptions& o, const std::vector<ProjectionMatrix>& matrices,
                             const ProjectionInputs& inputs) {
  const std::array sources{inputs.query, inputs.project_k ? inputs.key : nullptr,
                           inputs.project_v ? inputs.value : nullptr};
  ProjectedInputs projected;
  std::array<std::optional<Tensor>, 3> results;
  for (const Projection which : projections) {
    const TensorPtr& x = sources[static_cast<std::size_t>(which)];
    const Sizes sizes = sizes_of(which, o);
    if (!x) continue;
    results[static_cast<std::size_t>(which)].emplace(
        Shape{x->shape().axes()[0], x->shape().axes()[1], {sizes.rows_axis, sizes.rows()}}, x->dtype());
  }
  for (const ProjectionMatrix& matrix : matrices) {
    const std::vector<Share> shares = shares_of(matrix, o);
    for (std::size_t first = 0; first < shares.size();) {
      const TensorPtr& x = sources[static_cast<std::size_t>(shares[first].which)];
      if (!x) {  // replaced by static_k or static_v
        ++first;
        continue;
      }
      // One product for all adjacent rows that read the same array.
      std::size_t end = first + 1;
      while (end < shares.size() && sources[static_cast<std::size_t>(shares[end].which)] == x) ++end;
      const Index first_row = shares[first].first_row;
      const Index rows = shares[end - 1].first_row + shares[end - 1].rows - first_row;
      LinearRows view = matrix.rows;
      view.first_weight_row += first_row;
      view.first_bias_entry += first_row;
      const Tensor y = linear(*x, view, Shape{x->shape().axes()[0], x->shape().axes()[1], {"rows", rows}});
      ++projected.products;
      for (; first < end; ++first) {
        const Share& share = shares[first];
        copy_columns(y, share.first_row - first_row, *results[static_cast<std::size_t>(share.which)],
                     share.first_col, share.rows);
      }
    }
  }
  const auto kept = [](std::optional<Tensor>& tensor) -> TensorPtr {
    return tensor ? std::make_shared<const Tensor>(std::move(*tensor)) : nullptr;
  };
  projected.q = kept(results[0]);
  projected.k = kept(results[1]);
  projected.v = kept(results[2]);
  return projected;
}

}  // namespace headwise
