// Hides the instruction sets that came after AVX2 from programs that ask the processor for them, so that their paths for
// older processors can be measured on a newer one. hide.py replaces each CPUID instruction in copies of the programs by a trap
// (INT3 and NOP); the handler here asks in the program's place and clears bits of the answer.

#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#define BIT(number) (1u << (number))

// Leaf 7 of CPUID, as in the manual of the processor.
#define AVX512_EBX (BIT(16) | BIT(17) | BIT(21) | BIT(28) | BIT(30) | BIT(31))
#define AVX512_VNNI_ECX (BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14))
#define AVX512_AMX_EDX (BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25))
#define AVX_VNNI_EAX (BIT(4) | BIT(5))
#define AVX_VNNI_INT8_EDX (BIT(4) | BIT(5) | BIT(10))

static void answer(int signal_number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    // The trap has one byte, which was executed; the NOP in place of the second byte of CPUID comes next.
    const uint8_t *next = (const uint8_t *)registers[REG_RIP];
    if (next[-1] != 0xcc || next[0] != 0x90) {
        signal(signal_number, SIG_DFL);
        return;
    }
    uint32_t leaf = registers[REG_RAX], part = registers[REG_RCX];
    uint32_t eax = leaf, ebx = 0, ecx = part, edx = 0;
    __asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
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
}

// Before all other constructors, which may ask.
__attribute__((constructor(101))) static void begin(void) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGTRAP, &action, 0);
}
