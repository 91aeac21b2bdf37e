// journal.h - the log: a line of JSON for each thing that happened. Any thread may write.
#ifndef HOLO_SERVE_JOURNAL_H
#define HOLO_SERVE_JOURNAL_H

#include "server.h"

typedef enum JournalLevel { JOURNAL_DEBUG, JOURNAL_INFO, JOURNAL_WARNING, JOURNAL_ERROR } JournalLevel;

// False: the level is none, or the file cannot be written, and `why` says so.
bool journal_open(const char *path, const char *level, char *why, size_t room);
void journal_close(void);
bool journal_has(JournalLevel level);
// Fields are pairs of a name and a text, ended by NULL. `event` says what happened.
void journal(JournalLevel level, const char *event, ...) __attribute__((sentinel));
void journal_request(const Exchange *e);

#endif
