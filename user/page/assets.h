/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's own files from user/page/assets, as part of the program. */
#ifndef PROFTRACE_PAGE_ASSETS_H
#define PROFTRACE_PAGE_ASSETS_H

/* Each ends in a NUL. */
extern const char page_asset_html[], page_asset_css[], page_asset_js[];

#endif
