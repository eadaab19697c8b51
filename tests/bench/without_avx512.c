/* Hides AVX-512 and AMX from a program, so that it can be measured beside others as on a processor with AVX2:

       gcc -shared -fPIC tests/bench/without_avx512.c -o /tmp/without_avx512.so
       LD_PRELOAD=/tmp/without_avx512.so python3 tests/bench/against_pytorch.py build/release/headwise

   HEADWISE_ISA does so for Headwise alone; ONNX Runtime has no such setting. Linux on processors that can let
   the instruction cpuid fault (`cpuid_fault` in /proc/cpuinfo): each is answered here, without those bits.
   Caches and execution units stay those of a larger processor: the figures do not stand for one that has
   nothing else. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { set_cpuid = 0x1012 }; /* ARCH_SET_CPUID of arch_prctl(2) */

#define BIT(n) (1u << (n))

static void answer(int signal_number, siginfo_t* info, void* context) {
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const uint8_t* at = (const uint8_t*)registers[REG_RIP];
  if (at[0] != 0x0f || at[1] != 0xa2) { /* not cpuid: a fault of the program's own */
    signal(signal_number, SIG_DFL);
    return;
  }
  const unsigned leaf = (unsigned)registers[REG_RAX], part = (unsigned)registers[REG_RCX];
  unsigned a, b, c, d;
  syscall(SYS_arch_prctl, set_cpuid, 1);
  __cpuid_count(leaf, part, a, b, c, d);
  syscall(SYS_arch_prctl, set_cpuid, 0);
  if (leaf == 7 && part == 0) {
    b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31)); /* AVX-512 */
    c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));                                 /* its extensions */
    d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));              /* and AMX */
  }
  if (leaf == 7 && part == 1) a &= ~(BIT(4) | BIT(5) | BIT(21)); /* AVX-VNNI, bf16, fp16 */
  registers[REG_RAX] = a, registers[REG_RBX] = b, registers[REG_RCX] = c, registers[REG_RDX] = d;
  registers[REG_RIP] += 2;
}

/* Before the constructors of other libraries, which ask first. */
__attribute__((constructor(101))) static void hide(void) {
  struct sigaction action = {0};
  action.sa_sigaction = answer;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSEGV, &action, NULL) == 0 && syscall(SYS_arch_prctl, set_cpuid, 0) == 0) return;
  perror("without_avx512: this machine cannot answer cpuid itself");
  exit(1);
}
