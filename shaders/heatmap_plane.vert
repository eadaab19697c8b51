#version 330 core
// One tile of a heatmap's plane as two triangles, without a vertex buffer.

uniform vec2 framebuffer_size;  // pixels
uniform vec4 on_screen;  // x0, y0, x1, y1: pixels from the top left corner

void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 pixel = mix(on_screen.xy, on_screen.zw, corner);
  vec2 unit = pixel / framebuffer_size;
  gl_Position = vec4(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0);
}
