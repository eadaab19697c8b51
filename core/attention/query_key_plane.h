// One head's queries and keys in two dimensions: the plane that keeps most of the scores. With the singular
// value decomposition S = Q·Kᵀ = U·Σ·Vᵀ, the best approximation of S by a matrix of rank 2 is U₂·Σ₂·V₂ᵀ
// (Eckart and Young, 1936). It is a table of dot products again:
// of a point √Σ₂·u for each query and a point √Σ₂·v for each key.
#pragma once

#include <span>
#include <vector>

#include "core/tensor/shape.h"

namespace headwise {

struct PlanePoint {
  double x = 0.0, y = 0.0;
  friend bool operator==(const PlanePoint&, const PlanePoint&) = default;
};

inline double dot(PlanePoint a, PlanePoint b) {
  return a.x * b.x + a.y * b.y;
}

struct QueryKeyPlane {
  std::vector<PlanePoint> queries;  // L
  std::vector<PlanePoint> keys;     // S′; dot(queries[l], keys[s]) is the rank-2 part of the score
  Index rank = 0;  // 0 to 2: along how many of the axes the scores vary; coordinates along the others are 0
  // What the plane leaves out: the share of the squared scores, in [0,1],
  // and the largest difference of a score.
  double left_out = 0.0;
  double largest_error = 0.0;
  // How much the d-th number of a query changes when its point moves by 1 along x, and along y. Its scores,
  // sums over all D numbers, then change by exactly dot(move, key): the plane shows the whole change, and
  // what it leaves out stays the same.
  std::vector<PlanePoint> lift;  // D
};

// q (L,D) and k (S′,D), row-major; 0 rows or columns are allowed. The signs are chosen so that on each axis
// the key farthest from the origin has a positive coordinate; queries and keys have the same root mean square
// length. All numbers must be finite. Works on the triangular factors of Q and K: O((L + S′)·D² + D³), and
// O(L·S′·D) for what is left out.
QueryKeyPlane query_key_plane(std::span<const double> q, std::span<const double> k, Index head_dim);

// The vector of a query, moved by `move` in the plane: q + lift·move.
std::vector<double> moved_query(std::span<const double> q, const QueryKeyPlane& plane, PlanePoint move);

}  // namespace headwise
