// Hides the instruction sets that came after AVX2 from a program that asks the processor for them, so that its paths for
// older processors can be measured on a newer one. Loaded with LD_PRELOAD by benches/run --avx2.
//
// The kernel lets CPUID fault (arch_prctl ARCH_SET_CPUID, Linux on Intel); the handler asks in the program's place and clears
// bits of the answer. Threads inherit this, and a program that the program starts loads this library again.

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(number) (1u << (number))

// Leaf 7 of CPUID, as in the manual of the processor.
#define AVX512_EBX (BIT(16) | BIT(17) | BIT(21) | BIT(28) | BIT(30) | BIT(31))
#define AVX512_VNNI_ECX (BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14))
#define AVX512_AMX_EDX (BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25))
#define AVX_VNNI_EAX (BIT(4) | BIT(5))
#define AVX_VNNI_INT8_EDX (BIT(4) | BIT(5) | BIT(10))

// Without the C library: this runs in a signal handler.
static long let_cpuid_work(long yes) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_arch_prctl), "D"((long)ARCH_SET_CPUID), "S"(yes) : "rcx", "r11", "memory");
    return result;
}

static void answer(int signal_number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *instruction = (const uint8_t *)registers[REG_RIP];
    if (instruction[0] != 0x0f || instruction[1] != 0xa2) {
        signal(signal_number, SIG_DFL);
        return;
    }
    uint32_t leaf = registers[REG_RAX], part = registers[REG_RCX];
    uint32_t eax = leaf, ebx = 0, ecx = part, edx = 0;
    let_cpuid_work(1);
    __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
    let_cpuid_work(0);
    if (leaf == 7 && part == 0) {
        ebx &= ~AVX512_EBX;
        ecx &= ~AVX512_VNNI_ECX;
        edx &= ~AVX512_AMX_EDX;
    } else if (leaf == 7 && part == 1) {
        eax &= ~AVX_VNNI_EAX;
        edx &= ~AVX_VNNI_INT8_EDX;
    }
    registers[REG_RAX] = eax;
    registers[REG_RBX] = ebx;
    registers[REG_RCX] = ecx;
    registers[REG_RDX] = edx;
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    if (let_cpuid_work(0) != 0) {
        fputs("hide: this processor cannot hide what it has\n", stderr);
        exit(1);
    }
}
