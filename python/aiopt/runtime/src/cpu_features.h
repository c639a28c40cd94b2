/* What this CPU has, by the names of LLVM's target features. */
#ifndef AIOPT_CPU_FEATURES_H
#define AIOPT_CPU_FEATURES_H

namespace aiopt {

struct Feature {
  const char *name;
  bool present;
};

/* All features this runtime knows, ending with a null name. */
const Feature *cpu_features();

} // namespace aiopt

#endif
