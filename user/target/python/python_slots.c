// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_slots.h"

/* offsetof(PyTypeObject, tp_as_number), offsetof(PyNumberMethods, nb_true_divide): CPython 3.5
 * to 3.15 */
#define TYPE_NUMBER	   96
#define NUMBER_TRUE_DIVIDE 240

uint64_t python_slots__float_division(struct target *t)
{
	const uint64_t type = target__python_symbol(t, "PyFloat_Type");
	uint64_t number, function;

	if (!type || target__read(t, type + TYPE_NUMBER, &number, sizeof(number)) || !number ||
	    target__read(t, number + NUMBER_TRUE_DIVIDE, &function, sizeof(function)))
		return 0;
	return function;
}
