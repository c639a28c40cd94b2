/* Does this CPU, under this operating system, have what an object was compiled for? Names as LLVM spells them. */
#include "cpu_features.h"

#include "aiopt.h"
#include "library.h"

#include <cstring>
#include <string_view>

namespace {

constexpr std::string_view kLibrary = "library-"; /* not of the CPU: a library that has to be opened */

/* The part of `list` up to a comma or the end. */
size_t length_of_first(const char *list) { return std::strcspn(list, ","); }

const aiopt::Feature *find(const char *name, size_t length) {
  for (const aiopt::Feature *feature = aiopt::cpu_features(); feature->name; ++feature)
    if (std::strlen(feature->name) == length && std::memcmp(feature->name, name, length) == 0)
      return feature;
  return nullptr;
}

/* A name this runtime does not know, kept for the error message. */
const char *keep_name(const char *name, size_t length) {
  thread_local char kept[64];
  length = length < sizeof kept - 1 ? length : sizeof kept - 1;
  std::memcpy(kept, name, length);
  kept[length] = '\0';
  return kept;
}

} // namespace

extern "C" const char *aiopt_missing_cpu_feature(const char *cpu_features) {
  if (!cpu_features)
    return nullptr;
  for (const char *name = cpu_features; *name;) {
    size_t length = length_of_first(name);
    if (length > kLibrary.size() && std::memcmp(name, kLibrary.data(), kLibrary.size()) == 0) {
      if (aiopt::library_state(name + kLibrary.size(), length - kLibrary.size()) != 1)
        return keep_name(name, length);
    } else if (length > 0) {
      const aiopt::Feature *feature = find(name, length);
      if (!feature)
        return keep_name(name, length);
      if (!feature->present)
        return feature->name;
    }
    name += length + (name[length] == ',' ? 1 : 0);
  }
  return nullptr;
}
