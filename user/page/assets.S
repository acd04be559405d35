/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths are those from the repository's root, where the build runs. */
	.section .rodata

	.globl	page_asset_html
	.type	page_asset_html, %object
page_asset_html:
	.incbin	"user/page/assets/page.html"
	.byte	0

	.globl	page_asset_css
	.type	page_asset_css, %object
page_asset_css:
	.incbin	"user/page/assets/page.css"
	.byte	0

	.globl	page_asset_js
	.type	page_asset_js, %object
page_asset_js:
	.incbin	"user/page/assets/base.js"
	.incbin	"user/page/assets/tables.js"
	.incbin	"user/page/assets/charts.js"
	.incbin	"user/page/assets/flame.js"
	.incbin	"user/page/assets/timeline.js"
	.incbin	"user/page/assets/page.js"
	.byte	0

	.section .note.GNU-stack, "", %progbits
