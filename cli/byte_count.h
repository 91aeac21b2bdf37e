// byte_count.h - numbers of bytes as people write them: one reader and one message for hologram and hologram-serve.
#ifndef HOLO_CLI_BYTE_COUNT_H
#define HOLO_CLI_BYTE_COUNT_H

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What is said of a text that is none.
#define CLI_BYTES_WRONG "'%s' is not a number of bytes, for example 512M or 4G"

// "64M", "1.5G", "4GiB", or plain bytes. False: it is not such a number.
static inline bool cli_read_bytes(const char *text, uint64_t *out)
{
    char       *end;
    double      number = strtod(text, &end);
    const char *units = "KMGT", *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    double      scale = unit ? ldexp(1, 10 * (int)(unit - units + 1)) : 1;
    if (unit && !strcasecmp(end + 1, "iB")) end += 2; // "4GiB" is as good as "4G"
    bool is_one = isdigit((unsigned char)*text) && (!*end || (unit && !end[1]));
    if (!is_one || number * scale >= 0x1p63 || (!unit && number != floor(number))) return false;
    *out = (uint64_t)(number * scale);
    return true;
}

#endif
