/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths are those from the repository's root, where the build runs. */
	.section .rodata

	.globl	monitor_asset_css
	.type	monitor_asset_css, %object
monitor_asset_css:
	.incbin	"user/monitor/assets/monitor.css"
	.byte	0

	.globl	monitor_asset_js
	.type	monitor_asset_js, %object
monitor_asset_js:
	.incbin	"user/monitor/assets/monitor.js"
	.byte	0

	.section .note.GNU-stack, "", %progbits
