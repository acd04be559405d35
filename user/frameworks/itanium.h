/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C++ names as the Itanium ABI mangles them (section 5.1 of the ABI): the part that type names and
 * simple parameter lists need. Function types, local names and expressions are not understood.
 */
#ifndef PROFTRACE_ITANIUM_H
#define PROFTRACE_ITANIUM_H

/*
 * The readable form of a type's mangled name, as std::type_info::name() gives it
 * ("N5torch8autograd14AccumulateGradE"), in the spelling of libstdc++'s __cxa_demangle. Caller
 * frees; NULL if the name is not understood or memory is short.
 */
char *itanium__demangle_type(const char *mangled);

/* The first character after the type that begins at p; NULL if it is not understood. */
const char *itanium__skip_type(const char *p);

#endif
