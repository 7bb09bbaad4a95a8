// A definition for each function of functions.h. They are hidden: no shared library is to find these in place of the
// real ones. A function's first call goes on to late_resolve with all registers that may hold arguments kept.

#if defined(__x86_64__)

.macro entry name
        .text
        .globl \name
        .hidden \name
        .type \name, @function
\name:
        jmp *.Lslot_\name(%rip)
.Lfirst_\name:
        leaq .Lslot_\name(%rip), %r11
        jmp .Lresolve
        .size \name, . - \name
        .data
.Lslot_\name:
        .quad .Lfirst_\name
.endm

        .text
        .balign 16
        .type .Lresolve, @function
.Lresolve:
        .cfi_startproc
        pushq %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq %rsp, %rbp
        .cfi_def_cfa_register %rbp
        // 7 integer registers (al counts the vector registers of a variadic call), 8 vector registers.
        subq $192, %rsp
        movq %rax, 0(%rsp)
        movq %rdi, 8(%rsp)
        movq %rsi, 16(%rsp)
        movq %rdx, 24(%rsp)
        movq %rcx, 32(%rsp)
        movq %r8, 40(%rsp)
        movq %r9, 48(%rsp)
        movaps %xmm0, 64(%rsp)
        movaps %xmm1, 80(%rsp)
        movaps %xmm2, 96(%rsp)
        movaps %xmm3, 112(%rsp)
        movaps %xmm4, 128(%rsp)
        movaps %xmm5, 144(%rsp)
        movaps %xmm6, 160(%rsp)
        movaps %xmm7, 176(%rsp)
        movq %r11, %rdi
        callq late_resolve
        movq %rax, %r11
        movq 0(%rsp), %rax
        movq 8(%rsp), %rdi
        movq 16(%rsp), %rsi
        movq 24(%rsp), %rdx
        movq 32(%rsp), %rcx
        movq 40(%rsp), %r8
        movq 48(%rsp), %r9
        movaps 64(%rsp), %xmm0
        movaps 80(%rsp), %xmm1
        movaps 96(%rsp), %xmm2
        movaps 112(%rsp), %xmm3
        movaps 128(%rsp), %xmm4
        movaps 144(%rsp), %xmm5
        movaps 160(%rsp), %xmm6
        movaps 176(%rsp), %xmm7
        leave
        .cfi_def_cfa %rsp, 8
        jmpq *%r11
        .cfi_endproc
        .size .Lresolve, . - .Lresolve

#elif defined(__aarch64__)

.macro entry name
        .text
        .globl \name
        .hidden \name
        .type \name, %function
\name:
        adrp x16, .Lslot_\name
        ldr x16, [x16, :lo12:.Lslot_\name]
        br x16
.Lfirst_\name:
        adrp x17, .Lslot_\name
        add x17, x17, :lo12:.Lslot_\name
        b .Lresolve
        .size \name, . - \name
        .data
.Lslot_\name:
        .xword .Lfirst_\name
.endm

        .text
        .balign 16
        .type .Lresolve, %function
.Lresolve:
        .cfi_startproc
        stp x29, x30, [sp, #-224]!
        .cfi_def_cfa_offset 224
        .cfi_offset x29, -224
        .cfi_offset x30, -216
        mov x29, sp
        stp x0, x1, [sp, #16]
        stp x2, x3, [sp, #32]
        stp x4, x5, [sp, #48]
        stp x6, x7, [sp, #64]
        str x8, [sp, #80]
        stp q0, q1, [sp, #96]
        stp q2, q3, [sp, #128]
        stp q4, q5, [sp, #160]
        stp q6, q7, [sp, #192]
        mov x0, x17
        bl late_resolve
        mov x16, x0
        ldp x0, x1, [sp, #16]
        ldp x2, x3, [sp, #32]
        ldp x4, x5, [sp, #48]
        ldp x6, x7, [sp, #64]
        ldr x8, [sp, #80]
        ldp q0, q1, [sp, #96]
        ldp q2, q3, [sp, #128]
        ldp q4, q5, [sp, #160]
        ldp q6, q7, [sp, #192]
        ldp x29, x30, [sp], #224
        .cfi_def_cfa_offset 0
        br x16
        .cfi_endproc
        .size .Lresolve, . - .Lresolve

#else
#error "entries.S has no code for this processor"
#endif

        .data
        .balign 8
        .globl late_slots
        .hidden late_slots
        .type late_slots, %object
late_slots:

// `entry` comes back to this section, so that the slots stand in the order of the list.
#define LIBRARY(library, file)
#define FUNCTION(library, name) entry name
#include "functions.h"

        .section .note.GNU-stack, "", %progbits
