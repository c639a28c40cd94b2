/* share OBJECT NET WEIGHTS own|shared: threads run one net at once, with a context each or (wrongly) with one for two.
 * Built with -fsanitize=thread together with the runtime's sources. Exits 1 if outputs differ. */
#include "aiopt.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using Bytes = std::vector<char>;
constexpr int kCallers = 8, kThreads = 2, kRounds = 3;

struct Net {
  const aiopt_net_info *info;
  int32_t (*run)(const aiopt_ctx *, const aiopt_tensor *, aiopt_tensor *);
  void *weights;
};

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(2);
}

Bytes read(const char *path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    fail(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Net load(const char *path, const std::string &name, const Bytes &weights) {
  Bytes code = read(path);
  aiopt_bytes bytes{code.data(), code.size()};
  aiopt_object *object = nullptr;
  char error[200] = "";
  if (aiopt_object_load(&bytes, 1, &object, error, sizeof error) != AIOPT_OK)
    fail(error);
  Net net{};
  net.info = static_cast<const aiopt_net_info *>(aiopt_object_symbol(object, ("aiopt_" + name + "_info").c_str()));
  void *run = aiopt_object_symbol(object, ("aiopt_" + name + "_run").c_str());
  std::memcpy(&net.run, &run, sizeof run);
  net.weights = std::aligned_alloc(64, (weights.size() / 64 + 1) * 64);
  std::copy(weights.begin(), weights.end(), static_cast<char *>(net.weights));
  return net;
}

aiopt_ctx *make_context(const Net &net, int threads) {
  aiopt_ctx *ctx = nullptr;
  if (aiopt_context_create(net.info, net.weights, threads, &ctx) != AIOPT_OK)
    fail("no context");
  return ctx;
}

std::vector<float> tensor(const aiopt_tensor_info &info) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < info.rank; ++axis)
    size *= info.shape[axis];
  return std::vector<float>(size);
}

/* One run of a net of one input and one output, f32. */
std::vector<float> run(const Net &net, const aiopt_ctx *ctx) {
  std::vector<float> input = tensor(net.info->inputs[0]), output = tensor(net.info->outputs[0]);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<float>(i % 17) / 8 - 1;
  aiopt_tensor in{input.data()}, out{output.data()};
  if (net.run(ctx, &in, &out) != AIOPT_OK)
    fail("the run failed");
  return output;
}

bool same(const std::vector<float> &a, const std::vector<float> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 5)
    fail("share OBJECT NET WEIGHTS own|shared");
  const int32_t cpus[kCallers + kThreads] = {}; /* all on the first one: races are seen there, too */
  aiopt_set_affinity(AIOPT_AFFINITY_LIST, cpus, kCallers + kThreads);
  Net net = load(arguments[1], arguments[2], read(arguments[3]));
  bool shared = std::strcmp(arguments[4], "shared") == 0;
  aiopt_ctx *first = make_context(net, 1);
  const std::vector<float> expected = run(net, first);
  aiopt_context_destroy(first);
  std::atomic<bool> wrong{false};
  std::vector<aiopt_ctx *> contexts;
  for (int caller = 0; caller < kCallers; ++caller)
    contexts.push_back(shared && caller % 2 ? contexts.back() : make_context(net, kThreads));
  std::vector<std::thread> callers;
  for (aiopt_ctx *ctx : contexts)
    callers.emplace_back([&, ctx] {
      for (int round = 0; round < kRounds; ++round)
        if (!same(run(net, ctx), expected))
          wrong = true;
    });
  for (std::thread &caller : callers)
    caller.join();
  std::puts(wrong ? "wrong" : "right");
  return wrong ? 1 : 0;
}
