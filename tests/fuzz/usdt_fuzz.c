// SPDX-License-Identifier: BSD-2-Clause
/* USDT notes of a hostile file. Every text in the result must lie inside the notes. */
#include <string.h>
#include "target/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visit(const struct usdt_probe *p, void *ctx)
{
	size_t *bytes = ctx;
	uint8_t slot;

	*bytes += strlen(p->provider) + strlen(p->name) + strlen(p->args);
	for (unsigned int i = 0; i < 4; i++)
		*bytes += usdt__register(p->args, i, &slot) ? slot : 0;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes = 0;

	usdt__each(data, size, 0x1000, visit, &bytes);
	return 0;
}
