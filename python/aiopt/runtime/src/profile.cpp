/* The hook that measures launches. */
#include "aiopt.h"

#include <ctime>

namespace {

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

} // namespace

extern "C" void aiopt_profile_hook(void *data, int32_t launch, int32_t after) {
  auto *profile = static_cast<aiopt_profile *>(data);
  if (after)
    profile->nanoseconds[launch] += now() - profile->started;
  else
    profile->started = now();
}
