/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of a terminal's screen, filled before anything is shown. A cell never contains a character
 * that could move the cursor. */
#ifndef PROFTRACE_TOP_CANVAS_H
#define PROFTRACE_TOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#define CANVAS_COLS 512
#define CANVAS_ROWS 256

enum style {
	STYLE_PLAIN,
	STYLE_HEAD,
	STYLE_WARN,
	STYLE_FORWARD,
	STYLE_BACKWARD,
	STYLE_OPTIMIZER,
	STYLE_LOADER,
	STYLE_CNT,
};

struct canvas_cell {
	char s[5]; /* one UTF-8 character; "": the right half of the one before */
	uint8_t style;
};

struct canvas {
	int cols, rows; /* at most CANVAS_COLS, CANVAS_ROWS */
	bool ascii;	/* the terminal shows only ASCII: other characters become '?' */
	int selected;	/* row; -1: none */
	struct canvas_cell cells[CANVAS_ROWS][CANVAS_COLS];
};

/* Fills a canvas of this size with blanks. The size is limited to the maximum. */
void canvas__clear(struct canvas *c, int cols, int rows, bool ascii);
/* Writes at most `width` columns of the text. A longer text ends with '~'. What lies outside is
 * dropped. */
void canvas__put(struct canvas *c, int row, int col, int width, enum style style, const char *text);
/* The same, aligned to the right end of the width. */
void canvas__put_right(struct canvas *c, int row, int col, int width, enum style style,
		       const char *text);
/* The row's text without blanks at its end, at most `size` bytes. */
void canvas__row(const struct canvas *c, int row, char *to, int size);

#endif
