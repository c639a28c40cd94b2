#include "placement.h"

#include "aiopt.h"

#include <algorithm>
#include <climits>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <string>

namespace aiopt {
namespace {

/* The lowest CPU number of the core this CPU belongs to; the CPU itself where the system does not say. */
int core_of(int cpu) {
  std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
  int lowest = cpu;
  return siblings >> lowest ? lowest : cpu; /* "0,64" or "0-1" */
}

void begin_at(std::vector<int> &cpus, int cpu) {
  auto place = std::find(cpus.begin(), cpus.end(), cpu);
  if (place != cpus.end())
    std::rotate(cpus.begin(), place, cpus.end());
}

/* The CPUs the calling thread may use: one of each core first, then their hardware siblings, each group beginning at
 * the CPU the caller is on. */
std::vector<int> cpus_by_core() {
  std::vector<int> first, siblings, cores;
  std::vector<int> cpus = allowed_cpus();
  begin_at(cpus, sched_getcpu()); /* the caller's own CPU stands for its core */
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

/* CPUs of a cgroup's limit, 0 if it has none: "max 100000" or "150000 100000" (microseconds in a period). */
double quota_of(const std::string &folder) {
  double quota = 0, period = 0;
  std::ifstream both(folder + "/cpu.max");
  if (both >> quota >> period)
    return quota / period;
  std::ifstream first(folder + "/cpu.cfs_quota_us"), second(folder + "/cpu.cfs_period_us");
  return first >> quota && second >> period && quota > 0 ? quota / period : 0;
}

/* The folders of this process's group and of those around it. */
std::vector<std::string> cgroup_folders() {
  std::vector<std::string> found;
  std::ifstream groups("/proc/self/cgroup"); /* "0::/a/b", of the first version "4:cpu,cpuacct:/a/b" */
  for (std::string line; std::getline(groups, line);) {
    std::istringstream fields(line);
    std::string hierarchy, controllers, path;
    std::getline(fields, hierarchy, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (!controllers.empty() && ("," + controllers + ",").find(",cpu,") == std::string::npos)
      continue;
    std::string root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    for (; path.size() > 1; path.erase(path.rfind('/')))
      found.push_back(root + path);
    found.push_back(root);
  }
  return found;
}

} // namespace

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

int32_t cpu_quota() {
  double least = INT32_MAX;
  for (const std::string &folder : cgroup_folders())
    if (double quota = quota_of(folder); quota > 0)
      least = std::min(least, quota);
  auto whole = static_cast<int32_t>(least);
  return std::max(1, whole < least ? whole + 1 : whole);
}

std::vector<std::vector<int>> thread_places(const Affinity &affinity, int32_t wanted) {
  std::vector<std::vector<int>> places;
  if (affinity.kind == AIOPT_AFFINITY_LIST) {
    for (int cpu : affinity.cpus)
      places.push_back({cpu});
    return places;
  }
  std::vector<int> cpus = cpus_by_core();
  bool most = static_cast<size_t>(wanted) * 2 > cpus.size(); /* the scheduler has little to choose from, and errs */
  bool bound = affinity.kind == AIOPT_AFFINITY_COMPACT || (affinity.kind == AIOPT_AFFINITY_AUTO && most);
  for (int cpu : cpus)
    places.push_back(bound ? std::vector<int>{cpu} : cpus);
  places.resize(std::min(places.size(), static_cast<size_t>(cpu_quota())));
  return places;
}

void bind(pthread_t thread, const std::vector<int> &cpus) {
  int highest = *std::max_element(cpus.begin(), cpus.end());
  size_t bytes = CPU_ALLOC_SIZE(highest + 1);
  std::vector<cpu_set_t> set(bytes / sizeof(cpu_set_t) + 1);
  for (int cpu : cpus)
    CPU_SET_S(cpu, bytes, set.data());
  pthread_setaffinity_np(thread, bytes, set.data());
}

} // namespace aiopt
