// SPDX-License-Identifier: BSD-2-Clause
/* From sysfs, Documentation/ABI/testing/sysfs-bus-pci: current_link_speed is "16.0 GT/s PCIe". */
#include "device/pci_link.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define NVIDIA 0x10de

void pci_address(uint32_t domain, uint32_t bus, uint32_t device, char text[PCI_ADDRESS_MAX])
{
	snprintf(text, PCI_ADDRESS_MAX, "%04x:%02x:%02x.0", domain, bus, device);
}

static char *read_file(const char *sysfs, const char *address, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/%s", sysfs, address, name);
	return file__read(path, NULL);
}

/* The number in a file, times a factor. 0: the file is missing, or says "Unknown". */
static uint32_t number(const char *sysfs, const char *address, const char *name, double times)
{
	auto_free char *text = read_file(sysfs, address, name);
	const double value = text ? strtod(text, NULL) : 0;

	return value > 0 && value * times < 1e6 ? (uint32_t)(value * times + 0.5) : 0;
}

int pci_link__read(const char *sysfs, const char *address, struct pci_link *out)
{
	auto_free char *vendor = read_file(sysfs, address, "vendor");

	*out = (struct pci_link){0};
	if (!vendor || strtoul(vendor, NULL, 16) != NVIDIA)
		return -ENOENT;
	*out = (struct pci_link){
		.mts = number(sysfs, address, "current_link_speed", 1000),
		.width = number(sysfs, address, "current_link_width", 1),
		.max_mts = number(sysfs, address, "max_link_speed", 1000),
		.max_width = number(sysfs, address, "max_link_width", 1),
	};
	if (out->mts && out->width)
		return 0;
	*out = (struct pci_link){0};
	return -ENOENT;
}
