// Claims every golden table and says which differ; built by another compiler without optimization
// it shows that placement is the same there. Prints the lines of golden_digests.inc with --print.
// Exit 0: all are the same.
#include <cstdio>
#include <cstring>

#include "placement/policy.h"
#include "tests/placement/golden_tables.h"

using namespace torc::placement;

int main(int argc, char** argv) {
  const bool print = argc > 1 && std::strcmp(argv[1], "--print") == 0;
  int compared = 0;
  int differing = 0;
  for (const std::string_view policy : policy_names()) {
    for (const GoldenStory& story : golden_stories()) {
      const auto digest = golden_digest(std::string(policy), story).value_or(0);
      if (print) {
        std::printf("{\"%.*s\", \"%s\", 0x%016llx},\n", static_cast<int>(policy.size()),
                    policy.data(), story.name, static_cast<unsigned long long>(digest));
      }
      for (const GoldenTable& golden : kGoldenTables) {
        if (policy != golden.policy || std::strcmp(story.name, golden.story) != 0) continue;
        ++compared;
        if (digest == golden.digest) continue;
        ++differing;
        std::printf("%s, %s: 0x%016llx\n", golden.policy, golden.story,
                    static_cast<unsigned long long>(digest));
      }
    }
  }
  if (!print) std::printf("%d golden tables compared, %d differ\n", compared, differing);
  return differing == 0 && (print || compared > 0) ? 0 : 1;
}
