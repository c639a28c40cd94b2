/* Which CPUs the threads of the pool run on. */
#ifndef AIOPT_PLACEMENT_H
#define AIOPT_PLACEMENT_H

#include <cstdint>
#include <pthread.h>
#include <vector>

namespace aiopt {

/* What the user wants: an aiopt_affinity, and with AIOPT_AFFINITY_LIST the CPUs. */
struct Affinity {
  int32_t kind = 0; /* AIOPT_AFFINITY_AUTO */
  std::vector<int> cpus;
};

/* The CPUs the calling thread may use, in order. Throws std::bad_alloc. */
std::vector<int> allowed_cpus();

/* CPUs that the groups (cgroups) of this process may keep busy at a time, rounded up; INT32_MAX where none has a limit.
 * Throws std::bad_alloc. */
int32_t cpu_quota();

/* The CPUs of each thread of a region, the caller first, though it stays where it is. There are as many as threads may
 * run at once. `wanted`: threads that runs ask for at most. Throws std::bad_alloc. */
std::vector<std::vector<int>> thread_places(const Affinity &affinity, int32_t wanted);

/* Lets a thread run on these CPUs. Where the system refuses, the thread stays free: it is slower, not wrong. */
void bind(pthread_t thread, const std::vector<int> &cpus);

} // namespace aiopt

#endif
