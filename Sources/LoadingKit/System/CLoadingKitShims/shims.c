#define _GNU_SOURCE
#include "CLoadingKitShims.h"
#include <pthread.h>

_Thread_local struct lk_thread_state lk_thread_state_storage;

void lk_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }
