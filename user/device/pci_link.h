/* SPDX-License-Identifier: BSD-2-Clause */
/* The link between the host and a PCI device, as the kernel tells of it. */
#ifndef PROFTRACE_PCI_LINK_H
#define PROFTRACE_PCI_LINK_H

#include <stdint.h>

#define PCI_ADDRESS_MAX 24

/* Millions of transfers a second of a lane, and lanes; all 0: not known. What a link runs at it may
 * lower while the device is idle, but not raise over what device and slot can do. */
struct pci_link {
	uint32_t mts, width;	     /* when it was read */
	uint32_t max_mts, max_width; /* of the device */
};

/* "0000:18:00.0", the name of the device's first function. */
void pci_address(uint32_t domain, uint32_t bus, uint32_t device, char text[PCI_ADDRESS_MAX]);
/* Of a device of NVIDIA at this address; sysfs: "/sys". 0, or -ENOENT if there is none or it has no
 * such link, e.g. in a virtual machine that does not show it. */
int pci_link__read(const char *sysfs, const char *address, struct pci_link *out);

#endif
