// device.c - finds devices by name.
#include "devices/device.h"

#include <stdio.h>
#include <string.h>

const HoloDevice *holo_device_find(const char *name)
{
    for (int i = 0; holo_devices[i]; i++)
        if (!strcmp(holo_devices[i]->name, name)) return holo_devices[i];
    return NULL;
}

void holo_device_names(char *text, size_t room)
{
    size_t at = 0;
    for (int i = 0; holo_devices[i] && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%s", i ? ", " : "", holo_devices[i]->name);
}
