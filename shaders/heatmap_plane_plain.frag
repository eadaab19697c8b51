#version 330 core
// The plane of cells of a heatmap, as heatmap_plane.frag draws it, for the usual case: every cell shows a value, and all
// products are below 2^21. Then floats count exactly, and the shader costs a third on software GL.

uniform sampler2D texels;  // value, kind
uniform sampler2D colors;  // the colour table, 16 steps from entry to entry

uniform vec2 framebuffer_size;  // pixels
uniform ivec2 plane;            // the plane's top left corner in the framebuffer
uniform ivec2 base_pixel;       // as in heatmap_plane.frag
uniform ivec2 base_cell;
uniform ivec2 tile_cell;
uniform uvec2 cells;
uniform uvec2 pixels;
uniform uvec2 pixel_rest;
uniform uvec2 cell_rest;
uniform ivec4 rule;     // gap
uniform vec2 position;  // of a value in the table: position.x + value · position.y

out vec4 color;

void main() {
  vec2 count = vec2(cells), size = vec2(pixels);
  vec2 from_base = floor(vec2(gl_FragCoord.x, framebuffer_size.y - gl_FragCoord.y)) - vec2(plane + base_pixel);
  // The half keeps every quotient away from the integers, so that rounding never carries it over one.
  vec2 cell = floor((2.0 * from_base * count + vec2(pixel_rest) + 0.5) / (2.0 * size));
  vec2 begin = floor((2.0 * cell * size + vec2(cell_rest) + 0.5) / (2.0 * count));
  bvec2 in_gap = lessThan(from_base - begin, vec2(rule.x));
  bvec2 after_first = greaterThan(cell + vec2(base_cell), vec2(0.0));
  if ((in_gap.x && after_first.x) || (in_gap.y && after_first.y)) discard;
  float value = texelFetch(texels, ivec2(cell) + base_cell - tile_cell, 0).r;
  float entry = clamp(position.x + value * position.y, 0.0, 255.0);
  color = texelFetch(colors, ivec2(int(entry * 16.0 + 0.5), 0), 0);
}
