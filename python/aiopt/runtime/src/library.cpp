#include "library.h"

#include "aiopt.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

namespace {

/* As cblas.h of OpenBLAS with 32-bit integers has them. */
enum { kRowMajor = 101, kNoTrans = 111, kTrans = 112 };
using CblasSgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                            int);
using SetThreads = void (*)(int);
/* As dnnl.h has it. */
using DnnlSgemm = int (*)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                          float, float *, int64_t);

std::atomic<CblasSgemm> the_cblas_sgemm{nullptr};
std::atomic<DnnlSgemm> the_dnnl_sgemm{nullptr};
std::atomic<SetThreads> omp_set_threads{nullptr}; /* of the OpenMP that oneDNN was built with */

const float *matrix(int64_t address) { return reinterpret_cast<const float *>(address); }
float *result(int64_t address) { return reinterpret_cast<float *>(address); }

/* The first of these functions that a library has. */
template <typename Function> Function find(void *library, std::initializer_list<const char *> names) {
  Function function = nullptr;
  for (const char *name : names)
    if (void *found = dlsym(library, name); found && !function)
      std::memcpy(&function, &found, sizeof function);
  return function;
}

int32_t fail(const char *text, char *error, size_t error_bytes) {
  if (error && error_bytes) {
    std::strncpy(error, text, error_bytes - 1);
    error[error_bytes - 1] = '\0';
  }
  return AIOPT_ERROR_OBJECT;
}

/* Threads are ours: a net's loops are split among them, and each calls the library for its part. */
bool take_openblas(void *library) {
  auto sgemm = find<CblasSgemm>(library, {"scipy_cblas_sgemm", "cblas_sgemm"});
  auto set_threads = find<SetThreads>(library, {"scipy_openblas_set_num_threads", "openblas_set_num_threads"});
  if (!sgemm || !set_threads)
    return false;
  set_threads(1);
  the_cblas_sgemm.store(sgemm);
  return true;
}

bool take_onednn(void *library) {
  auto sgemm = find<DnnlSgemm>(library, {"dnnl_sgemm"});
  omp_set_threads.store(find<SetThreads>(library, {"omp_set_num_threads"}));
  the_dnnl_sgemm.store(sgemm);
  return sgemm;
}

} // namespace

namespace aiopt {

int library_state(const char *name, size_t length) {
  if (length == 8 && std::memcmp(name, "openblas", length) == 0)
    return the_cblas_sgemm.load() != nullptr;
  if (length == 6 && std::memcmp(name, "onednn", length) == 0)
    return the_dnnl_sgemm.load() != nullptr;
  return -1;
}

void *library_function(const char *name) {
  if (std::strcmp(name, "aiopt_openblas_sgemm") == 0)
    return reinterpret_cast<void *>(aiopt_openblas_sgemm);
  if (std::strcmp(name, "aiopt_onednn_sgemm") == 0)
    return reinterpret_cast<void *>(aiopt_onednn_sgemm);
  return nullptr;
}

} // namespace aiopt

extern "C" int32_t aiopt_library_open(const char *name, const char *path, char *error, size_t error_bytes) {
  int state = name ? aiopt::library_state(name, std::strlen(name)) : -1;
  if (state < 0 || !path)
    return AIOPT_ERROR_ARGUMENT;
  if (state > 0)
    return AIOPT_OK;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(dlerror(), error, error_bytes);
  bool taken = std::strcmp(name, "openblas") == 0 ? take_openblas(library) : take_onednn(library);
  return taken ? AIOPT_OK : fail("it has no sgemm", error, error_bytes);
}

extern "C" void aiopt_openblas_sgemm(int64_t a, int64_t b, int64_t c, int64_t m, int64_t n, int64_t k,
                                     int64_t columns_first) {
  auto narrow = [](int64_t size) { return static_cast<int>(size); };
  the_cblas_sgemm.load(std::memory_order_relaxed)(
      kRowMajor, kNoTrans, columns_first ? kTrans : kNoTrans, narrow(m), narrow(n), narrow(k), 1, matrix(a), narrow(k),
      matrix(b), narrow(columns_first ? k : n), 0, result(c), narrow(n));
}

extern "C" void aiopt_onednn_sgemm(int64_t a, int64_t b, int64_t c, int64_t m, int64_t n, int64_t k,
                                   int64_t columns_first) {
  thread_local bool is_single = false; /* OpenMP keeps the number of threads for each that calls it */
  if (SetThreads set_threads = omp_set_threads.load(std::memory_order_relaxed); set_threads && !is_single) {
    set_threads(1);
    is_single = true;
  }
  the_dnnl_sgemm.load(std::memory_order_relaxed)('N', columns_first ? 'T' : 'N', m, n, k, 1, matrix(a), k, matrix(b),
                                                 columns_first ? k : n, 0, result(c), n);
}
