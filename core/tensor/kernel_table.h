// For the files that are compiled once for each instruction set (headwise_kernels in core/CMakeLists.txt),
// HEADWISE_ISA.
#pragma once

// What the table of functions of a build is called: "fused_kernels_avx2".
#define HEADWISE_JOINED_OF(name, isa) name##_##isa
#define HEADWISE_JOINED(name, isa) HEADWISE_JOINED_OF(name, isa)
#define HEADWISE_TABLE(name) HEADWISE_JOINED(name, HEADWISE_ISA)
