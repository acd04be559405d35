/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of user/monitor/assets/, as text. */
#ifndef PROFTRACE_MONITOR_ASSETS_H
#define PROFTRACE_MONITOR_ASSETS_H

extern const char monitor_asset_css[], monitor_asset_js[];

#endif
