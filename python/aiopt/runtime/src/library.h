/* Libraries of others that nets may call. */
#ifndef AIOPT_LIBRARY_H
#define AIOPT_LIBRARY_H

#include <cstddef>

namespace aiopt {

/* 1 if the library has been opened, 0 if not, -1 if there is no library of this name. */
int library_state(const char *name, size_t length);

/* The address of a function that nets call for a library, or nullptr. */
void *library_function(const char *name);

} // namespace aiopt

#endif
