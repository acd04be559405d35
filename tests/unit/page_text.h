/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_TESTS_PAGE_TEXT_H
#define PROFTRACE_TESTS_PAGE_TEXT_H

#include "page/page.h"

/* The whole page; the caller frees it. */
char *page_text(const struct recording *r, const struct report_opts *opts);

/* Returns the page's data, from here to the end of their script. */
char *page_text__data(char *html);
#define PAGE_DATA_END "</script>"

#endif
