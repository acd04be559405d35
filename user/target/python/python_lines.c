// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_lines.h"
#include <stdbool.h>

/* The first byte of an entry has bit 7 set, four bits for its form, and three for its length. */
#define FORM(byte)  ((byte) >> 3 & 15)
#define UNITS(byte) (((byte) & 7) + 1u)

enum form {
	FORM_SHORT_LAST = 9, /* forms up to this: the same line; a byte of columns follows */
	FORM_LINE_0 = 10,    /* this and the next forms: 0, 1 or 2 lines further; two bytes of
				columns follow */
	FORM_LINE_2 = 12,
	FORM_NO_COLUMNS = 13,
	FORM_LONG = 14,
	FORM_NONE = 15,
};

struct table {
	const uint8_t *p, *end;
};

/* Six bits per byte, lowest first. Bit 6: more bytes follow. */
static uint64_t get_varint(struct table *t)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		if (t->p == t->end)
			return 0;
		byte = *t->p++;
		if (shift < 64)
			v |= (uint64_t)(byte & 63) << shift;
		shift += 6;
	} while (byte & 64);
	return v;
}

/* The sign is the lowest bit. */
static int64_t get_signed(struct table *t)
{
	const uint64_t v = get_varint(t);

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

static void skip(struct table *t, size_t bytes)
{
	t->p += bytes < (size_t)(t->end - t->p) ? bytes : (size_t)(t->end - t->p);
}

/* Returns by how many lines the entry advances, and skips its bytes. */
static int64_t entry_lines(struct table *t, unsigned int form)
{
	int64_t lines = 0;

	if (form <= FORM_SHORT_LAST) {
		skip(t, 1);
	} else if (form <= FORM_LINE_2) {
		lines = form - FORM_LINE_0;
		skip(t, 2);
	} else if (form == FORM_NO_COLUMNS) {
		lines = get_signed(t);
	} else if (form == FORM_LONG) {
		lines = get_signed(t);
		for (int i = 0; i < 3; i++) /* the lines that it spans, and columns */
			get_varint(t);
	}
	return lines;
}

static uint32_t as_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

uint32_t python_lines__at(const uint8_t *table, size_t len, uint32_t first_line, uint64_t unit)
{
	struct table t = {table, table + len};
	uint64_t begin = 0, line = first_line;

	while (t.p < t.end) {
		const uint8_t head = *t.p++;

		line += (uint64_t)entry_lines(&t, FORM(head));
		if (unit < begin + UNITS(head))
			return FORM(head) == FORM_NONE ? 0 : as_line((int64_t)line);
		begin += UNITS(head);
	}
	return 0;
}

/* The table consists of pairs: bytes of instructions, and lines. */
uint32_t python_lines__at_310(const uint8_t *table, size_t len, uint32_t first_line, uint64_t unit)
{
	int64_t line = first_line;
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < len; i += 2) {
		const int8_t lines = (int8_t)table[i + 1];
		const bool has_line = lines != INT8_MIN;

		end += table[i];
		line += has_line ? lines : 0;
		if (unit * 2 < end)
			return has_line ? as_line(line) : 0;
	}
	return 0;
}
