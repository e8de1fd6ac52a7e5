// The process of a seed, and processes that it starts.
#include "World.h"
#include <csignal>
#include <dlfcn.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// The addresses of objects decide the order of some tables: they must not depend on the machine, nor on its user.
static void execute(const char *mode, uint64_t seed, bool prints, const char *temporaryFolder) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    rlimit stack{8 << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_STACK, &stack);
    char number[32], folder[300];
    snprintf(number, sizeof number, "%020llu", (unsigned long long)seed);
    snprintf(folder, sizeof folder, "LOADINGKIT_TEST_FOLDER=%s", temporaryFolder);
    const char *arguments[] = {"simulate", mode, number, prints ? "--trace" : "--quiet", nullptr};
    const char *environment[] = {
        "PATH=/usr/bin:/bin", "HOME=/nonexistent", "SWIFT_DETERMINISTIC_HASHING=1", "SWIFT_BACKTRACE=enable=no",
        // OpenSSL does not mix the processor's clock into its random numbers.
        "OPENSSL_ia32cap=~0x40000010", folder, nullptr};
    execve("/proc/self/exe", const_cast<char **>(arguments), const_cast<char **>(environment));
    _exit(72);
}

extern "C" bool sim_has_fixed_addresses(void) {
    int before = personality(0xFFFFFFFF);
    bool can = personality(unsigned(before) | ADDR_NO_RANDOMIZE) != -1;
    personality(unsigned(before));
    return can;
}

extern "C" int sim_run(const char *mode, uint64_t seed, bool prints, const char *temporaryFolder, int seconds) {
    pid_t child = fork();
    if (child == 0) execute(mode, seed, prints, temporaryFolder);
    for (int left = seconds * 200; left > 0 && child > 0; left--) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        usleep(5000);
    }
    if (child < 0) return -1;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return -1;
}

// MARK: Started processes

using namespace sim;

/// The descriptor that the process which is about to be started gets.
static thread_local int handedOver = -1;
static void (*startProcess)(int) = nullptr;
/// The number of a process that has started another one, and has ended.
static const pid_t starter = 500'000;

DECLARE_REAL(posix_spawn);
DECLARE_REAL(posix_spawn_file_actions_adddup2);
DECLARE_REAL(waitpid);

extern "C" {

void sim_on_start_of_process(void (*function)(int descriptor)) { startProcess = function; }

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int descriptor, int number) {
    if (!object(descriptor)) return REAL(posix_spawn_file_actions_adddup2)(actions, descriptor, number);
    handedOver = descriptor;
    return 0;
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const *arguments, char *const *environment) {
    if (!isSimulated()) return REAL(posix_spawn)(process, path, actions, attributes, arguments, environment);
    trace("%s is started", path);
    if (!startProcess) return ENOENT;
    *process = starter;
    startProcess(dup(handedOver));
    return 0;
}

pid_t waitpid(pid_t process, int *status, int options) {
    if (!isSimulated() || process != starter) return REAL(waitpid)(process, status, options);
    if (status) *status = 0;
    return process;
}

} // extern "C"
