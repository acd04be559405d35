// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/function_hash.h"

/* Indices of words in struct PyTypeObject, for CPython 3.8 and later. */
enum { TYPE_BYTES = 4, TYPE_VECTORCALL = 7, TYPE_HASH = 15, TYPE_WORDS = 16 };

/* PyCFunctionObject: the object's two words, definition, self, module, weak references and
 * vectorcall. In a free-threaded build an object has four words. */
enum { FUNCTION_BYTES = 56, FUNCTION_VECTORCALL = 48 };

uint64_t function_hash__place(struct target *t)
{
	const uint64_t type = target__python_symbol(t, "PyCFunction_Type");
	uint64_t words[TYPE_WORDS], vaddr;

	if (!type || target__read(t, type, words, sizeof(words)) ||
	    words[TYPE_BYTES] != FUNCTION_BYTES || words[TYPE_VECTORCALL] != FUNCTION_VECTORCALL ||
	    target__lib_at(t, words[TYPE_HASH], &vaddr) != target__python_lib(t))
		return 0;
	return type + TYPE_HASH * sizeof(uint64_t);
}
