/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a Chrome trace: converts one event of the recording to text. */
#ifndef PROFTRACE_CHROME_WRITER_H
#define PROFTRACE_CHROME_WRITER_H

#include "exporters/chrome/chrome_names.h"
#include "exporters/chrome/chrome_rows.h"
#include "exporters/chrome/chrome_stacks.h"
#include "exporters/parts/gpu_ranges.h"
#include "exporters/parts/text_cache.h"
#include "exporters/parts/text_file.h"
#include "exporters/parts/timeline.h"
#include "model/device_info.h"

/* The begin of a forward operator or a launch, until the event that it leads to comes. */
struct chrome_link {
	uint64_t key; /* sequence number or correlation id */
	uint64_t begin_ns, end_ns;
	uint64_t external_id;
	const struct chrome_row *row; /* NULL: free */
	uint32_t stack;		      /* stack of the operator */
	bool is_driver;		      /* a launch through the driver's interface */
	bool communication;	      /* it lies in a range around a collective */
};

struct chrome_writer {
	struct text_file *out;
	struct timeline *timeline;
	enum chrome_dialect dialect;
	struct chrome_names names;
	struct chrome_rows rows;
	uint64_t base_us; /* time 0 of the trace, CLOCK_MONOTONIC */
	bool any;	  /* something was written, so a comma comes next */
	uint64_t events;
	uint64_t device_events, negative_in_hta; /* number of events; device_events: those of
						    devices */
	uint64_t next_id;			 /* External id */
	uint64_t next_flow;
	struct chrome_link *forwards, *launches; /* by key; the latest one stays */
	int64_t allocated[2]; /* by device type, if the allocator does not report it */
	int64_t reserved;     /* for devices, from the driver, since the window's begin */
	bool has_reserved;    /* the allocator reports what it holds */
	struct device_infos devices;
	struct gpu_ranges ranges;
	struct text_cache texts; /* of args */
	struct chrome_stacks stacks;
};

/* ranges: moved into the writer. */
int chrome_writer__init(struct chrome_writer *w, const struct recording *r, struct timeline *t,
			struct gpu_ranges *ranges, struct text_file *out,
			enum chrome_dialect dialect);
void chrome_writer__release(struct chrome_writer *w);

/* Writes names and order of processes and rows. Call it before any event. */
int chrome_writer__metadata(struct chrome_writer *w, const struct recording *r);
/* Writes the latest event of the timeline. */
int chrome_writer__event(struct chrome_writer *w, const struct timeline_event *e);

/* Writes ranges of threads on devices that begin until until_ns. Call it before an event of that
 * time. */
int chrome_writer__gpu_ranges(struct chrome_writer *w, uint64_t until_ns);

/* ---- for the parts of the writer ---- */

/* Puts the separator between events. */
char *chrome_writer__begin(struct chrome_writer *w, char *p);
/* Microseconds since the trace's 0. They are whole for CPU rows, with both ends rounded down so
 * that slices still nest. With a fractional time, HTA would make a span below a microsecond
 * negative. */
char *chrome_writer__time(const struct chrome_writer *w, char *p, const struct chrome_row *row,
			  uint64_t ns);
/* Row, begin and duration of a slice. */
char *chrome_writer__slice(const struct chrome_writer *w, char *p, const struct chrome_row *row,
			   uint64_t begin_ns, uint64_t end_ns);
/* Writes an allocation or free, and how much its place holds then. */
int chrome_writer__memory(struct chrome_writer *w, const struct timeline_event *te);

#endif
