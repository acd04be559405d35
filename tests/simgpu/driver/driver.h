/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bodies of the simulated driver share. A body dr_NAME is called by the generated export
 * NAME. */
#pragma once
#include "engine/engine.h"
#include <cuda.h>
/* The generated exports wrap the newest version of each function, under the name without a version.
 */
#include "driver_impl.h"

/* older.c: what a program of this version means by a name, if that has changed since; NULL if not. */
void *sim_entry_older(const char *name, int version);
