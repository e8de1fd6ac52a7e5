// The tests' process keeps nothing in its user's folders, and finds nothing there: what a test run before has stored would
// answer the requests of this one. What it keeps for a while is in a folder of its own, too, which it removes with all that
// is in it: some of that nobody else removes, as what a download that broke leaves to be resumed.
#define _GNU_SOURCE
#include "test_folders.h"
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[PATH_MAX] = "/tmp/loadingkit-tests-XXXXXX";
static pid_t owner;

// What another thread has removed in the meantime is as good as removed by this one: a database that is closed removes its
// log. What cannot be removed makes that its folder cannot, either, which the caller sees.
static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    remove(path);
    return 0;
}

int test_folders_remove(const char *path) {
    // A folder that something was added to after it was read is read again.
    for (int tries = 0; tries < 100; tries++) {
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        if (access(path, F_OK) != 0 && errno == ENOENT) return 1;
    }
    return 0;
}

// The daemon that the process's background sessions have started would stay for a minute.
static void end_daemon(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/run/loadkit/daemon.socket", folder);
    struct ucred daemon = {0};
    socklen_t size = sizeof daemon;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &daemon, &size) == 0 && daemon.pid > 0 && daemon.pid != owner)
        kill(daemon.pid, SIGKILL);
    close(descriptor);
}

static void remove_folder(void) {
    // Not in a child of this process.
    if (getpid() != owner) return;
    end_daemon();
    test_folders_remove(folder);
}

static void set_folder(const char *variable, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    setenv(variable, path, 1);
}

// Where `LOADINGKIT_TEST_FOLDER` names a folder, it is used, and who has made it removes it.
__attribute__((constructor)) static void make_folder(void) {
    const char *given = getenv("LOADINGKIT_TEST_FOLDER");
    if (given) snprintf(folder, sizeof folder, "%s", given);
    if (!given && !mkdtemp(folder)) return;
    owner = getpid();
    // Servers that root starts become other users, who come to their own files through it.
    chmod(folder, 0711);
    set_folder("XDG_DATA_HOME", "data");
    set_folder("XDG_CACHE_HOME", "cache");
    set_folder("XDG_STATE_HOME", "state");
    set_folder("XDG_RUNTIME_DIR", "run");
    mkdir(getenv("XDG_RUNTIME_DIR"), 0700);
    set_folder("TMPDIR", "");
    if (!given) atexit(remove_folder);
}
