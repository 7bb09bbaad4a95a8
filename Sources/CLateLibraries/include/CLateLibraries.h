/// Shared libraries that are loaded when a function of theirs is first called.
///
/// Loading libcurl and what stands behind it takes longer than most short scripts run, so none of these libraries is
/// linked. entries.S defines their functions: each jumps through a slot that at first leads to load.c, which loads the
/// library and puts the real function's address there. Callers, in C and Swift, need to know nothing of it.
/// `scripts/latelibs` writes the list of functions, functions.h.
#ifndef CLATELIBRARIES_H
#define CLATELIBRARIES_H

#include <stdbool.h>

/// Loads a library of the list by its file's name; false where it is missing. For what can go on without it: a call of
/// one of its functions would end the process.
bool late_load(const char *file);

/// The address of the function whose slot this is, which from now on is in the slot. When its library cannot be had,
/// the process ends with a message and exit status 1. For entries.S only.
void *late_resolve(void **slot);

#endif
