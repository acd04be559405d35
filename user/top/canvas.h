/* SPDX-License-Identifier: BSD-2-Clause */
/* Cells of a terminal's screen, filled before anything is shown. No character that could move the
 * cursor gets into one. */
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
	char s[5]; /* one character of UTF-8; "": the right half of the one before */
	uint8_t style;
};

struct canvas {
	int cols, rows; /* at most CANVAS_COLS, CANVAS_ROWS */
	bool ascii;	/* the terminal shows no other character: each is '?' */
	int selected;	/* row; -1: none */
	struct canvas_cell cells[CANVAS_ROWS][CANVAS_COLS];
};

/* Blanks of this size, within the largest. */
void canvas__clear(struct canvas *c, int cols, int rows, bool ascii);
/* At most `width` columns of the text. A longer one ends with '~'. What lies outside is dropped. */
void canvas__put(struct canvas *c, int row, int col, int width, enum style style, const char *text);
/* The same at the right end of the width. */
void canvas__put_right(struct canvas *c, int row, int col, int width, enum style style,
		       const char *text);
/* The row's text without blanks at its end; `size` bytes at most. */
void canvas__row(const struct canvas *c, int row, char *to, int size);

#endif
