#version 330 core
// The plane of cells of a heatmap by the rule of core/export/plane_rule.h, in the same integers: a file shows the same
// picture. Texels of a plane whose cells are smaller than a pixel are the most telling cells already, one a pixel.

uniform sampler2D texels;  // value, kind
uniform sampler2D colors;  // the colour table, 16 steps from entry to entry

uniform vec2 framebuffer_size;  // pixels
uniform ivec2 plane;            // the plane's top left corner in the framebuffer
// Columns (x) and rows (y) are counted from the first one that is seen, pixels from where it begins.
uniform ivec2 base_pixel;  // in the plane
uniform ivec2 base_cell;
uniform ivec2 tile_cell;  // the cell of the texture's first texel
uniform uvec2 cells;      // C, R
uniform uvec2 pixels;     // W, H
uniform uvec2 pixel_rest;  // (2·base_pixel + 1)·cells − 2·base_cell·pixels
uniform uvec2 cell_rest;   // 2·base_cell·pixels + cells − 1 − 2·base_pixel·cells

uniform ivec4 rule;        // gap, hatch period, hatch width, mark
uniform int blocked_cross;  // PlaneRule::cross
uniform int kept_period;    // PlaneRule::kept_period
uniform vec2 position;     // of a value in the table: position.x + value · position.y
uniform vec4 state_colors[3];  // nan, blocked, hatch
uniform vec4 inks;             // on nan, on the table's first and last entry, on blocked: 0 black, 1 white

out vec4 color;

const int VALUE = 0, BLOCKED = 1, BLOCKED_VALUE = 2, NAN = 3, MINUS_INF = 4, PLUS_INF = 5;

// Integer division through floats, put right by one: many GPUs, and software GL above all, divide integers slowly.
uvec2 quotient(uvec2 n, uvec2 d) {
  uvec2 q = uvec2(vec2(n) / vec2(d));
  ivec2 rest = ivec2(n - q * d);
  q -= uvec2(lessThan(rest, ivec2(0)));
  q += uvec2(greaterThanEqual(rest, ivec2(d)));
  return q;
}

vec4 entry(float at) { return texelFetch(colors, ivec2(int(at * 16.0 + 0.5), 0), 0); }

bool on_mark(int kind, ivec2 inside, ivec2 extent, int mark) {
  ivec2 from_middle = abs(2 * inside + 1 - extent);
  int a = from_middle.x, b = from_middle.y;
  bool minus = b <= mark && 2 * a <= extent.x;
  int uneven = extent.x % 2 == 1 ? b - a : a - b;
  if (kind == BLOCKED)
    return uneven <= blocked_cross && -uneven < blocked_cross && 5 * max(a, b) <= 2 * min(extent.x, extent.y);
  if (kind == NAN) return abs(a * extent.y - b * extent.x) <= mark * max(extent.x, extent.y) && 4 * a <= 3 * extent.x;
  if (kind == PLUS_INF) return minus || (a <= mark && 2 * b <= extent.y);
  return minus;
}

void main() {
  ivec2 in_plane = ivec2(gl_FragCoord.x, framebuffer_size.y - gl_FragCoord.y) - plane;
  uvec2 from_base = uvec2(in_plane - base_pixel);
  uvec2 cell = quotient(2u * from_base * cells + pixel_rest, 2u * pixels);
  ivec2 inside = ivec2(0), extent = ivec2(1);
  bool in_gap = false;
  if (rule.x > 0 || rule.w > 0) {
    ivec2 begin = ivec2(quotient(2u * cell * pixels + cell_rest, 2u * cells));
    ivec2 end = ivec2(quotient(2u * (cell + 1u) * pixels + cell_rest, 2u * cells));
    inside = ivec2(from_base) - begin;
    extent = end - begin;
    bvec2 after_first = greaterThan(ivec2(cell) + base_cell, ivec2(0));
    in_gap = (after_first.x && inside.x < rule.x) || (after_first.y && inside.y < rule.x);
  }

  vec2 texel = texelFetch(texels, ivec2(cell) + base_cell - tile_cell, 0).rg;
  int kind = int(texel.g);
  if (in_gap && kind != BLOCKED) discard;
  float ink = -1.0;
  if (kind == VALUE || kind == BLOCKED_VALUE) {
    color = entry(clamp(position.x + texel.r * position.y, 0.0, 255.0));
  } else if (kind == BLOCKED) {
    color = state_colors[1];
    if (blocked_cross > 0) ink = inks.w;
  } else if (kind == NAN) {
    color = state_colors[0];
    ink = inks.x;
  } else {
    color = entry(kind == PLUS_INF ? 255.0 : 0.0);
    ink = kind == PLUS_INF ? inks.z : inks.y;
  }
  if (kind == BLOCKED_VALUE || (kind == BLOCKED && blocked_cross == 0)) {
    int across = (in_plane.x + in_plane.y) % (kind == BLOCKED ? rule.y : kept_period);
    if (across < rule.z) color = kind == BLOCKED ? state_colors[2] : vec4(1.0);
    else if (kind == BLOCKED_VALUE && across < 2 * rule.z) color = vec4(vec3(0.0), 1.0);
  }
  if (ink >= 0.0 && rule.w > 0 && on_mark(kind, inside, extent, rule.w)) color = vec4(vec3(ink), 1.0);
}
