#include "placement.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <string>

namespace aiopt {
namespace {

/* The lowest CPU number of the core this CPU belongs to; the CPU itself where the system does not say. */
int core_of(int cpu) {
  std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  int lowest = cpu;
  return siblings >> lowest ? lowest : cpu; /* "0,64" or "0-1" */
}

std::vector<int> allowed_cpus() {
  /* The kernel refuses a set smaller than its own, so ask with larger ones. */
  for (int size = CPU_SETSIZE; size <= 64 * CPU_SETSIZE; size *= 4) {
    size_t bytes = CPU_ALLOC_SIZE(size);
    std::vector<cpu_set_t> set(bytes / sizeof(cpu_set_t) + 1);
    if (sched_getaffinity(0, bytes, set.data()) != 0)
      continue;
    std::vector<int> cpus;
    for (int cpu = 0; cpu < size; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set.data()))
        cpus.push_back(cpu);
    return cpus;
  }
  return {0};
}

void begin_at(std::vector<int> &cpus, int cpu) {
  auto place = std::find(cpus.begin(), cpus.end(), cpu);
  if (place != cpus.end())
    std::rotate(cpus.begin(), place, cpus.end());
}

} // namespace

std::vector<int> cpus_in_order() {
  std::vector<int> first, siblings, cores;
  int current = sched_getcpu();
  std::vector<int> cpus = allowed_cpus();
  begin_at(cpus, current); /* the caller's own CPU stands for its core */
  for (int cpu : cpus) {
    int core = core_of(cpu);
    bool is_new = std::find(cores.begin(), cores.end(), core) == cores.end();
    (is_new ? first : siblings).push_back(cpu);
    if (is_new)
      cores.push_back(core);
  }
  first.insert(first.end(), siblings.begin(), siblings.end());
  return first;
}

void pin(pthread_t thread, int cpu) {
  size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  std::vector<cpu_set_t> set(bytes / sizeof(cpu_set_t) + 1);
  CPU_SET_S(cpu, bytes, set.data());
  pthread_setaffinity_np(thread, bytes, set.data());
}

} // namespace aiopt
