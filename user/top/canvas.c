// SPDX-License-Identifier: BSD-2-Clause
#include "top/canvas.h"
#include <string.h>
#include "common/text_char.h"

#define CUT "~"

static int at_most(int value, int most)
{
	return value < 0 ? 0 : value < most ? value : most;
}

static void set(struct canvas *c, int row, int col, enum style style, const char *s, size_t len)
{
	struct canvas_cell *cell;

	if (row < 0 || row >= c->rows || col < 0 || col >= c->cols || len >= sizeof(cell->s))
		return;
	cell = &c->cells[row][col];
	*cell = (struct canvas_cell){.style = (uint8_t)style};
	memcpy(cell->s, s, len);
}

void canvas__clear(struct canvas *c, int cols, int rows, bool ascii)
{
	c->cols = at_most(cols, CANVAS_COLS);
	c->rows = at_most(rows, CANVAS_ROWS);
	c->ascii = ascii;
	c->selected = -1;
	for (int row = 0; row < c->rows; row++)
		for (int col = 0; col < c->cols; col++)
			set(c, row, col, STYLE_PLAIN, " ", 1);
}

/* As it is shown: bytes of the text and columns. A character that combines with the one before is
 * left out: width 0. */
static size_t shown(const struct canvas *c, const char *text, const char **s, size_t *len,
		    int *cols)
{
	const size_t bytes = text__char(text, cols);

	*s = text;
	*len = bytes;
	if (text__is_hostile(text) || (c->ascii && (unsigned char)*text >= 0x80)) {
		*s = "?";
		*len = 1;
		*cols = *cols ? 1 : 0;
	}
	return bytes;
}

void canvas__put(struct canvas *c, int row, int col, int width, enum style style, const char *text)
{
	int end = col + width, last = col;

	if (end > c->cols)
		end = c->cols;
	while (*text) {
		const char *s;
		size_t len;
		int cols;
		const size_t bytes = shown(c, text, &s, &len, &cols);

		if (cols && col + cols > end) {
			if (end > last || col > last)
				set(c, row, col < end ? col : last, style, CUT, 1);
			return;
		}
		if (cols)
			set(c, row, col, style, s, len);
		if (cols == 2)
			set(c, row, col + 1, style, "", 0);
		if (cols)
			last = col;
		col += cols;
		text += bytes;
	}
}

void canvas__put_right(struct canvas *c, int row, int col, int width, enum style style,
		       const char *text)
{
	const int cols = text__columns(text);

	if (cols < width) {
		col += width - cols;
		width = cols;
	}
	canvas__put(c, row, col, width, style, text);
}

void canvas__row(const struct canvas *c, int row, char *to, int size)
{
	int len = 0, end = 0;

	for (int col = 0; col < c->cols; col++) {
		const char *s = c->cells[row][col].s;
		const int bytes = (int)strlen(s);

		if (len + bytes >= size)
			break;
		memcpy(to + len, s, (size_t)bytes);
		len += bytes;
		if (*s && strcmp(s, " ") != 0)
			end = len;
	}
	to[end] = '\0';
}
