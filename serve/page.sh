#!/bin/sh
# page.sh FILE - the file as a C array named serve_page.
printf '#include <stddef.h>\nextern const unsigned char serve_page[];\nextern const size_t serve_page_size;\nconst unsigned char serve_page[] = {'
od -An -v -tx1 "$1" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
printf '};\nconst size_t serve_page_size = sizeof serve_page;\n'
