// SPDX-License-Identifier: BSD-2-Clause
#include "common/json_number.h"

uint64_t json__positive(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}
