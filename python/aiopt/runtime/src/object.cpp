/* Object code in memory: the C interface of the linker. */
#include "aiopt.h"
#include "library.h"
#include "linker.h"

#include <cstring>
#include <dlfcn.h>
#include <new>

struct aiopt_object {
  aiopt::LinkedObjects linked;
};

namespace {

/* In the process, then in libm: whether the process itself brings it differs from one to the next. What is called for
 * a library is this one's, whether others see its symbols or not. */
void *look_up(const char *name) {
  if (void *own = aiopt::library_function(name))
    return own;
  static void *const libm = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  void *found = dlsym(RTLD_DEFAULT, name);
  return found || !libm ? found : dlsym(libm, name);
}

int32_t report(const char *text, char *error, size_t error_bytes) {
  if (error && error_bytes) {
    std::strncpy(error, text, error_bytes - 1);
    error[error_bytes - 1] = '\0';
  }
  return AIOPT_ERROR_OBJECT;
}

} // namespace

extern "C" int32_t aiopt_object_load(const aiopt_bytes *files, int32_t count, aiopt_object **out, char *error,
                                     size_t error_bytes) {
  if (!files || count < 1 || !out)
    return report("there is no object to load", error, error_bytes);
  try {
    aiopt::Linker linker(aiopt::host_architecture(), look_up);
    for (int32_t i = 0; i < count; ++i)
      linker.add(files[i].data, files[i].size);
    *out = new aiopt_object{linker.link()};
    return AIOPT_OK;
  } catch (const aiopt::LoadError &failure) {
    return report(failure.what(), error, error_bytes);
  } catch (const std::bad_alloc &) {
    return report("there is no memory to load the object", error, error_bytes);
  } catch (const std::length_error &) {
    return report("the object is broken: a table in it is too large", error, error_bytes);
  }
}

extern "C" void *aiopt_object_symbol(const aiopt_object *object, const char *name) {
  if (!object || !name)
    return nullptr;
  auto found = object->linked.symbols.find(name);
  return found == object->linked.symbols.end() ? nullptr : found->second;
}

extern "C" void aiopt_object_unload(aiopt_object *object) { delete object; }
