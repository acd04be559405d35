/* SPDX-License-Identifier: BSD-2-Clause */
/* The link between the host and a PCI device, as the kernel shows it. */
#ifndef PROFTRACE_PCI_LINK_H
#define PROFTRACE_PCI_LINK_H

#include <stdint.h>

#define PCI_ADDRESS_MAX 24

/* Millions of transfers per second and lane, and the number of lanes. All 0: unknown. An idle
 * device may lower its current speed. It cannot exceed what device and slot support. */
struct pci_link {
	uint32_t mts, width;	     /* current, when it was read */
	uint32_t max_mts, max_width; /* the most that the device supports */
};

/* "0000:18:00.0", the address of the device's first function. */
void pci_address(uint32_t domain, uint32_t bus, uint32_t device, char text[PCI_ADDRESS_MAX]);
/* Reads the link of an NVIDIA device at this address; sysfs: "/sys". 0, or -ENOENT if there is no
 * such device or link, for example in some virtual machines. */
int pci_link__read(const char *sysfs, const char *address, struct pci_link *out);

#endif
