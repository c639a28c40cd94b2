/* Which CPUs the threads of the pool run on. */
#ifndef AIOPT_PLACEMENT_H
#define AIOPT_PLACEMENT_H

#include <pthread.h>
#include <vector>

namespace aiopt {

/* The CPUs the calling thread may use: one of each core first, then their hardware siblings, each group beginning at
 * the CPU the caller is on (so that several processes do not all begin at the same one). Throws std::bad_alloc. */
std::vector<int> cpus_in_order();

/* Binds a thread to one CPU. Where the system refuses, the thread stays free: it is slower, not wrong. */
void pin(pthread_t thread, int cpu);

} // namespace aiopt

#endif
