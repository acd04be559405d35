// SPDX-License-Identifier: BSD-2-Clause
/* The process's own libraries, found by name: libcupti, and libcuda for facts about devices. */
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <dlfcn.h>
#include <stdio.h>

/* Newest first. CUDA 11 has the minor version in its names. */
static const struct {
	uint32_t major;
	const char *soname;
} names[] = {
	{13, "libcupti.so.13"},	  {12, "libcupti.so.12"},   {11, "libcupti.so.11.8"},
	{11, "libcupti.so.11.7"}, {11, "libcupti.so.11.6"}, {11, "libcupti.so.11.5"},
	{11, "libcupti.so.11.4"}, {11, "libcupti.so.11.3"}, {11, "libcupti.so.11.2"},
	{11, "libcupti.so.11.1"}, {11, "libcupti.so.11.0"},
};

#define NAME_CNT (sizeof(names) / sizeof(*names))

/* NULL: there is no driver, or it does not have the function. */
static void *driver_symbol(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	return library ? dlsym(library, name) : NULL;
}

/* The driver's CUDA version, 13020 for 13.2. 0: unknown. */
static uint32_t driver_version(void)
{
	int (*get)(int *version) = (int (*)(int *))driver_symbol("cuDriverGetVersion");
	int version = 0;

	return get && !get(&version) && version > 0 ? (uint32_t)version : 0;
}

/*
 * UINT32_MAX: unknown. CUPTI 13.2 recurses endlessly if the driver lacks what it wants. So a CUPTI
 * that is newer than the driver is not called at all.
 */
static uint32_t driver_major(void)
{
	uint32_t version = driver_version();

	return version ? version / 1000 : UINT32_MAX;
}

/* 13 for "/a/libcupti.so.13". 0: there is no number. */
static uint32_t path_major(const char *path)
{
	const char *digit = strstr(path, "libcupti.so.");
	uint32_t major = 0;

	if (!digit)
		return 0;
	for (digit += strlen("libcupti.so."); *digit >= '0' && *digit <= '9' && major < 100;
	     digit++)
		major = major * 10 + (uint32_t)(*digit - '0');
	return major < 100 ? major : 0; /* larger numbers are years in file names */
}

/* Takes the process's libcupti, else the one that proftrace chose, else any that is found. It is
 * never closed, because some processes do not survive that. */
static int find_library(const char *chosen, uint32_t major, void **library)
{
	uint32_t newest = driver_major();

	for (size_t i = 0; i < NAME_CNT; i++) {
		*library = dlopen(names[i].soname, RTLD_NOW | RTLD_NOLOAD);
		if (*library)
			return names[i].major > newest ? SHIM_NEW_CUPTI : SHIM_OK;
	}
	if (path_major(chosen) > newest)
		return SHIM_NEW_CUPTI;
	if (*chosen)
		*library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; i < NAME_CNT && !*library; i++)
		if (names[i].major <= newest && (!major || names[i].major == major))
			*library = dlopen(names[i].soname, RTLD_NOW | RTLD_LOCAL);
	return *library ? SHIM_OK : SHIM_NO_CUPTI;
}

static bool resolve(struct cupti *cupti)
{
	bool complete = true;

#define F(type, name, args)                                                                        \
	cupti->name = (__typeof__(cupti->name))dlsym(cupti->library, "cupti" #name);               \
	complete &= cupti->name != NULL;
	CUPTI_FUNCTIONS(F)
#undef F
#define F(type, name, args)                                                                        \
	cupti->name = (__typeof__(cupti->name))dlsym(cupti->library, "cupti" #name);
	CUPTI_OPTIONAL_FUNCTIONS(F)
#undef F
	return complete;
}

/* The next attach chooses again. */
static void forget(struct cupti *cupti)
{
	memset(cupti, 0, sizeof(*cupti));
}

/* None of its functions was called, so it can be closed. */
static int refuse(struct cupti *cupti)
{
	int err = cupti->Subscribe ? SHIM_OLD_CUPTI : SHIM_NOT_CUPTI;

	dlclose(cupti->library);
	forget(cupti);
	return err;
}

int cupti__load(struct cupti *cupti, struct shim_control *c)
{
	void *library = NULL;
	int err = SHIM_OK, result;

	c->driver_version = driver_version();
	if (!cupti->library) {
		c->cupti_path[sizeof(c->cupti_path) - 1] = '\0';
		err = find_library(c->cupti_path, c->cupti_major, &library);
		cupti->library = err ? NULL : library;
	}
	if (err)
		return err;
	if (!resolve(cupti))
		return refuse(cupti);
	result = cupti->GetVersion(&cupti->version);
	if (result) {
		forget(cupti);
		return failures__refused(c, "cuptiGetVersion", result);
	}
	c->cupti_version = cupti->version;
	if (cupti->version >= CUPTI_API_11_0)
		return SHIM_OK;
	forget(cupti);
	return SHIM_OLD_CUPTI;
}

/* ---- captures ---- */

#define CAPTURE_RELAXED 2 /* CU_STREAM_CAPTURE_MODE_RELAXED */

void captures__leave_alone(void)
{
	int (*exchange)(int *mode) =
		(int (*)(int *))driver_symbol("cuThreadExchangeStreamCaptureMode");
	int mode = CAPTURE_RELAXED;

	if (exchange)
		exchange(&mode);
}

/* ---- devices ---- */

/* CUDA's numbers of device attributes. */
enum {
	THREADS_PER_BLOCK = 1,
	SHARED_PER_BLOCK = 8,
	WARP_SIZE = 10,
	REGISTERS_PER_BLOCK = 12,
	MULTIPROCESSORS = 16,
	PCI_BUS = 33,
	PCI_DEVICE = 34,
	THREADS_PER_MULTIPROCESSOR = 39,
	PCI_DOMAIN = 50,
	MAJOR = 75,
	MINOR = 76,
	SHARED_PER_MULTIPROCESSOR = 81,
	REGISTERS_PER_MULTIPROCESSOR = 82,
	SHARED_PER_BLOCK_OPTIN = 97,
	BLOCKS_PER_MULTIPROCESSOR = 106, /* since CUDA 11.0 */
	SHARED_RESERVED_PER_BLOCK = 111,
};

struct driver {
	int (*count)(int *cnt);
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int len, int device);
	int (*attribute)(int *value, int attribute, int device);
	int (*memory)(size_t *bytes, int device);
};

static bool driver_find(struct driver *d)
{
	d->count = (int (*)(int *))driver_symbol("cuDeviceGetCount");
	d->get = (int (*)(int *, int))driver_symbol("cuDeviceGet");
	d->name = (int (*)(char *, int, int))driver_symbol("cuDeviceGetName");
	d->attribute = (int (*)(int *, int, int))driver_symbol("cuDeviceGetAttribute");
	d->memory = (int (*)(size_t *, int))driver_symbol("cuDeviceTotalMem_v2");
	return d->count && d->get && d->name && d->attribute && d->memory;
}

static void pci_put(const struct driver *d, int device, struct shim_device *r)
{
	int domain, bus, slot;

	if (d->attribute(&domain, PCI_DOMAIN, device) || d->attribute(&bus, PCI_BUS, device) ||
	    d->attribute(&slot, PCI_DEVICE, device))
		return;
	r->pci_domain = (uint32_t)domain;
	r->pci_bus = (uint32_t)bus;
	r->pci_device = (uint32_t)slot;
	r->has_pci = 1;
}

static void device_put(struct shim_control *c, const struct driver *d, int ordinal)
{
	struct shim_device r = {.h = {SHIM_REC_DEVICE, sizeof(r)}, .device = (uint32_t)ordinal};
	const struct {
		int attribute;
		uint32_t *to;
	} wanted[] = {
		{MAJOR, &r.major},
		{MINOR, &r.minor},
		{MULTIPROCESSORS, &r.multiprocessors},
		{THREADS_PER_MULTIPROCESSOR, &r.threads_per_multiprocessor},
		{REGISTERS_PER_MULTIPROCESSOR, &r.registers_per_multiprocessor},
		{SHARED_PER_MULTIPROCESSOR, &r.shared_per_multiprocessor},
		{THREADS_PER_BLOCK, &r.threads_per_block},
		{WARP_SIZE, &r.warp_size},
		{REGISTERS_PER_BLOCK, &r.registers_per_block},
		{SHARED_PER_BLOCK, &r.shared_per_block},
		{SHARED_PER_BLOCK_OPTIN, &r.shared_per_block_optin},
		{BLOCKS_PER_MULTIPROCESSOR, &r.blocks_per_multiprocessor},
		{SHARED_RESERVED_PER_BLOCK, &r.shared_reserved_per_block},
	};
	int device, value;
	size_t bytes = 0;

	if (d->get(&device, ordinal) || d->name(r.name, sizeof(r.name), device))
		return;
	r.name[sizeof(r.name) - 1] = '\0';
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!d->attribute(&value, wanted[i].attribute, device))
			*wanted[i].to = (uint32_t)value;
	pci_put(d, device, &r);
	if (!d->memory(&bytes, device))
		r.memory_bytes = bytes;
	shim_put(c, &r);
}

void devices__put(struct shim_control *c)
{
	struct driver d;
	int cnt = 0;

	if (!driver_find(&d) || d.count(&cnt))
		return;
	for (int i = 0; i < cnt; i++)
		device_put(c, &d, i);
}
