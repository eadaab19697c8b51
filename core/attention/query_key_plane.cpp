#include "core/attention/query_key_plane.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "core/tensor/eigen_maps.h"

namespace headwise {
namespace {

// Singular values below this share of the largest possible one are rounding: q and k are f32 numbers,
// summed in f64.
constexpr double least_share = 1e-12;

// Of the scores, so that a long text needs no second map of all pairs.
constexpr Index score_rows_at_once = 128;

using Matrix = Eigen::MatrixXd;

// X = basis·triangle, where the columns of `basis` are orthonormal.
struct ThinQr {
  Matrix basis, triangle;
};

ThinQr thin_qr(const ConstMatrixMap<double>& x) {
  const Index rank = std::min(x.rows(), x.cols());
  const Eigen::HouseholderQR<Matrix> qr(x);
  return {qr.householderQ() * Matrix::Identity(x.rows(), rank),
          qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>()};
}

// Singular vectors are defined up to their sign.
double sign_of(const Matrix& vectors, Index column) {
  Index farthest = 0;
  vectors.col(column).cwiseAbs().maxCoeff(&farthest);
  return vectors(farthest, column) < 0.0 ? -1.0 : 1.0;
}

double& coordinate(PlanePoint& point, Index axis) {
  return axis == 0 ? point.x : point.y;
}

}  // namespace

QueryKeyPlane query_key_plane(std::span<const double> q, std::span<const double> k, Index head_dim) {
  QueryKeyPlane plane;
  if (head_dim <= 0) return plane;
  const Index queries = static_cast<Index>(q.size()) / head_dim, keys = static_cast<Index>(k.size()) / head_dim;
  plane.queries.resize(static_cast<std::size_t>(queries));
  plane.keys.resize(static_cast<std::size_t>(keys));
  plane.lift.resize(static_cast<std::size_t>(head_dim));
  if (queries == 0 || keys == 0) return plane;

  const ConstMatrixMap<double> q_rows(q.data(), queries, head_dim), k_rows(k.data(), keys, head_dim);
  const ThinQr of_q = thin_qr(q_rows), of_k = thin_qr(k_rows);
  const Eigen::JacobiSVD<Matrix> svd(of_q.triangle * of_k.triangle.transpose(),
                                     Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& values = svd.singularValues();
  const double least = least_share * q_rows.norm() * k_rows.norm();
  // √(√L / √S′) gives queries and keys the same root mean square length: the dot products do not change.
  const double balance = std::pow(static_cast<double>(queries) / static_cast<double>(keys), 0.25);
  for (Index axis = 0; axis < std::min<Index>(2, values.size()) && values(axis) > least; ++axis) {
    ++plane.rank;
    const Matrix u = of_q.basis * svd.matrixU().col(axis), v = of_k.basis * svd.matrixV().col(axis);
    const double sign = sign_of(v, 0), root = std::sqrt(values(axis));
    for (Index l = 0; l < queries; ++l)
      coordinate(plane.queries[static_cast<std::size_t>(l)], axis) = sign * root * balance * u(l, 0);
    for (Index s = 0; s < keys; ++s)
      coordinate(plane.keys[static_cast<std::size_t>(s)], axis) = sign * root / balance * v(s, 0);
    // K·(Qᵀ·u/σ) = v, so a step along Qᵀ·u changes the scores by the key's coordinates and by nothing else.
    const Matrix step = q_rows.transpose() * u * (sign / (root * balance));
    for (Index d = 0; d < head_dim; ++d)
      coordinate(plane.lift[static_cast<std::size_t>(d)], axis) = step(d, 0);
  }

  RowMatrix<double> points(queries, 2), targets(keys, 2);
  for (Index l = 0; l < queries; ++l)
    points.row(l) << plane.queries[static_cast<std::size_t>(l)].x, plane.queries[static_cast<std::size_t>(l)].y;
  for (Index s = 0; s < keys; ++s)
    targets.row(s) << plane.keys[static_cast<std::size_t>(s)].x, plane.keys[static_cast<std::size_t>(s)].y;
  double squared = 0.0, missing = 0.0;
  for (Index from = 0; from < queries; from += score_rows_at_once) {
    const Index rows = std::min(score_rows_at_once, queries - from);
    const Matrix scores = q_rows.middleRows(from, rows) * k_rows.transpose();
    const Matrix errors = scores - points.middleRows(from, rows) * targets.transpose();
    squared += scores.squaredNorm();
    missing += errors.squaredNorm();
    plane.largest_error = std::max(plane.largest_error, errors.cwiseAbs().maxCoeff());
  }
  plane.left_out = squared > 0.0 ? std::min(1.0, missing / squared) : 0.0;
  return plane;
}

std::vector<double> moved_query(std::span<const double> q, const QueryKeyPlane& plane, PlanePoint move) {
  std::vector<double> moved(q.begin(), q.end());
  for (std::size_t d = 0; d < std::min(moved.size(), plane.lift.size()); ++d)
    moved[d] += dot(plane.lift[d], move);
  return moved;
}

}  // namespace headwise
