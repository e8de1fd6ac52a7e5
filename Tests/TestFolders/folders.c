// The tests' process keeps nothing in its user's folders, and finds nothing there: what a test run before has stored would
// answer the requests of this one.
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/loadingkit-tests-XXXXXX";
static pid_t owner;

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void remove_folder(void) {
    // Not in a child of this process.
    if (getpid() == owner) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

__attribute__((constructor)) static void make_folder(void) {
    char path[PATH_MAX];
    if (!mkdtemp(folder)) return;
    owner = getpid();
    snprintf(path, sizeof path, "%s/data", folder);
    setenv("XDG_DATA_HOME", path, 1);
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("XDG_CACHE_HOME", path, 1);
    atexit(remove_folder);
}
