// The plane of queries and keys, against Eigen's singular value decomposition of the whole score matrix.
#include "core/attention/query_key_plane.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

using namespace headwise;

namespace {

using PlaneMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

PlaneMatrix random_rows(Index rows, Index cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  return PlaneMatrix::NullaryExpr(rows, cols, [&] { return normal(random); });
}

std::span<const double> numbers_of(const PlaneMatrix& m) {
  return {m.data(), static_cast<std::size_t>(m.size())};
}

QueryKeyPlane plane_of(const PlaneMatrix& q, const PlaneMatrix& k) {
  return query_key_plane(numbers_of(q), numbers_of(k), q.cols());
}

PlaneMatrix products(const QueryKeyPlane& plane) {
  PlaneMatrix s(static_cast<Index>(plane.queries.size()), static_cast<Index>(plane.keys.size()));
  for (Index l = 0; l < s.rows(); ++l)
    for (Index j = 0; j < s.cols(); ++j)
      s(l, j) = dot(plane.queries[static_cast<std::size_t>(l)], plane.keys[static_cast<std::size_t>(j)]);
  return s;
}

}  // namespace

TEST_CASE("dot products in the plane are the best rank-2 approximation of the scores") {
  struct Sizes {
    Index queries, keys, width;
  };
  for (const Sizes& n : {Sizes{12, 12, 16}, {3, 40, 8}, {40, 5, 64}, {150, 130, 32}, {2, 2, 2}, {300, 7, 4}}) {
    CAPTURE(n.queries);
    CAPTURE(n.keys);
    const PlaneMatrix q = random_rows(n.queries, n.width, 7), k = random_rows(n.keys, n.width, 11);
    const PlaneMatrix scores = q * k.transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(scores, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const PlaneMatrix best = svd.matrixU().leftCols(2) * svd.singularValues().head(2).asDiagonal() *
                             svd.matrixV().leftCols(2).transpose();
    const QueryKeyPlane plane = plane_of(q, k);
    CHECK(plane.rank == 2);
    CHECK((products(plane) - best).cwiseAbs().maxCoeff() < 1e-9 * scores.cwiseAbs().maxCoeff());
    CHECK(plane.left_out == doctest::Approx((scores - best).squaredNorm() / scores.squaredNorm()).epsilon(1e-9));
    CHECK(plane.largest_error == doctest::Approx((scores - best).cwiseAbs().maxCoeff()).epsilon(1e-9));
  }
}

TEST_CASE("a move in the plane changes every full score by its dot product with the key") {
  const PlaneMatrix q = random_rows(9, 16, 3), k = random_rows(14, 16, 5);
  const QueryKeyPlane plane = plane_of(q, k);
  const PlanePoint move{0.7, -1.9};
  const std::vector<double> moved = moved_query(numbers_of(q).subspan(4 * 16, 16), plane, move);
  const Eigen::Map<const Eigen::VectorXd> vector(moved.data(), 16);
  for (Index s = 0; s < 14; ++s) {
    const double change = k.row(s).dot(vector) - k.row(s).dot(q.row(4));
    CHECK(change == doctest::Approx(dot(move, plane.keys[static_cast<std::size_t>(s)])).epsilon(1e-9));
  }
}

TEST_CASE(
    "queries and keys have the same root mean square length, and the farthest key of an axis is positive") {
  const QueryKeyPlane plane = plane_of(random_rows(4, 8, 1), random_rows(50, 8, 2));
  const auto mean_square = [](const std::vector<PlanePoint>& points) {
    double sum = 0.0;
    for (const PlanePoint& point : points) sum += dot(point, point);
    return sum / static_cast<double>(points.size());
  };
  CHECK(mean_square(plane.queries) == doctest::Approx(mean_square(plane.keys)));
  PlanePoint farthest;
  for (const PlanePoint& key : plane.keys) {
    if (std::abs(key.x) > std::abs(farthest.x)) farthest.x = key.x;
    if (std::abs(key.y) > std::abs(farthest.y)) farthest.y = key.y;
  }
  CHECK(farthest.x > 0.0);
  CHECK(farthest.y > 0.0);
}

TEST_CASE("scores of rank 1 need one axis and scores of 0 none, and both leave nothing out") {
  const PlaneMatrix one = random_rows(1, 8, 1), keys = random_rows(6, 8, 2);
  const QueryKeyPlane line = plane_of(one, keys);
  CHECK(line.rank == 1);
  CHECK(line.left_out < 1e-20);
  for (const PlanePoint& key : line.keys) CHECK(key.y == 0.0);
  CHECK((products(line) - one * keys.transpose()).cwiseAbs().maxCoeff() < 1e-12);

  const QueryKeyPlane nothing = plane_of(PlaneMatrix::Zero(3, 8), keys);
  CHECK(nothing.rank == 0);
  CHECK(nothing.left_out == 0.0);
  CHECK(nothing.keys.size() == 6);
  CHECK(moved_query(numbers_of(one), nothing, {1.0, 1.0}) == std::vector<double>(one.data(), one.data() + 8));

  CHECK(query_key_plane({}, numbers_of(keys), 8).rank == 0);
  CHECK(query_key_plane({}, {}, 0).queries.empty());
}
