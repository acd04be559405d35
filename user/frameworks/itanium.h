/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A parser of C++ names mangled by the Itanium ABI (section 5.1): the part for type names and
 * simple parameter lists. It does not understand function types, local names and expressions.
 */
#ifndef PROFTRACE_ITANIUM_H
#define PROFTRACE_ITANIUM_H

/*
 * The readable form of a type's mangled name, as std::type_info::name() returns it
 * ("N5torch8autograd14AccumulateGradE"), spelled as by libstdc++'s __cxa_demangle. Caller frees.
 * NULL if the name is not understood or memory is short.
 */
char *itanium__demangle_type(const char *mangled);

/* The first character after the type that begins at p. NULL if the type is not understood. */
const char *itanium__skip_type(const char *p);

#endif
