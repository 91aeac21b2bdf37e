// archive_ports.h - what the two plans of an entry have in common.
#ifndef HOLO_FORMAT_ARCHIVE_PORTS_H
#define HOLO_FORMAT_ARCHIVE_PORTS_H

#include "format/holo.h"

// Fails if the two plans of an entry do not have the same inputs and outputs. All records must be checked already.
HOLO_MUST HoloStatus holo_archive_check_ports(const HoloArchive *a, HoloError *error);

#endif
