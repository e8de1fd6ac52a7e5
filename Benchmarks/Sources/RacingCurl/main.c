#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// What the program is told to do: `URL METHOD COUNT AT-A-TIME PAUSE-SECONDS SECONDS CERTIFICATE|-`. Scripts/races.py
/// gives the same to RacingLoadingKit.
typedef struct {
    const char *url, *method, *certificate;
    long count, at_a_time;
    double pause, seconds;
} course;

/// A request under way, or the pause after it. Each request has a handle of its own: libcurl 7.88 counts how often
/// it has tried again over the life of a handle, and fails each sixth time.
typedef struct {
    CURL *handle;
    /// When the next request begins; below 0: one is under way.
    double due;
} runner;

/// How often each of curl's codes was the result, and each status but 200.
static long failures[CURL_LAST], statuses[1000], requests;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static course course_read(int count, char **arguments) {
    if (count != 8) {
        fputs("arguments: URL METHOD COUNT AT-A-TIME PAUSE-SECONDS SECONDS CERTIFICATE|-\n", stderr);
        exit(2);
    }
    return (course){
        .url = arguments[1],
        .method = arguments[2],
        .count = atol(arguments[3]),
        .at_a_time = atol(arguments[4]),
        .pause = atof(arguments[5]),
        .seconds = atof(arguments[6]),
        .certificate = strcmp(arguments[7], "-") != 0 ? arguments[7] : NULL,
    };
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes, (void)context;
    return size * count;
}

static void prepare(runner *runner, const course *course) {
    CURL *handle = runner->handle = curl_easy_init();
    curl_easy_setopt(handle, CURLOPT_URL, course->url);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, runner);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    if (strcmp(course->method, "POST") == 0) curl_easy_setopt(handle, CURLOPT_POSTFIELDS, "hello");
    if (!course->certificate) return;
    curl_easy_setopt(handle, CURLOPT_CAINFO, course->certificate);
    // What the server chooses; and requests wait for the first connection, to share it when it is HTTP/2.
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
}

static runner *finish(CURLM *multi, const CURLMsg *message) {
    runner *runner;
    long status = 0;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &runner);
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    if (message->data.result) failures[message->data.result]++;
    else if (status != 200) statuses[status % 1000]++;
    curl_multi_remove_handle(multi, runner->handle);
    curl_easy_cleanup(runner->handle);
    return runner;
}

static void report(void) {
    const char *separator = "";
    printf("{\"requests\": %ld, \"failures\": {", requests);
    for (int code = 0; code < CURL_LAST; code++) {
        if (!failures[code]) continue;
        printf("%s\"%d\": %ld", separator, code, failures[code]);
        separator = ", ";
    }
    for (int status = 0; status < 1000; status++) {
        if (!statuses[status]) continue;
        printf("%s\"status %d\": %ld", separator, status, statuses[status]);
        separator = ", ";
    }
    puts("}}");
}

/// Begins the requests that are due. Gives the seconds until the next one is, at most one; below 0 when all have ended.
static double begin_due(CURLM *multi, runner *runners, const course *course, double end) {
    double wait = 1, time = now();
    int busy = 0;
    for (long index = 0; index < course->at_a_time; index++) {
        runner *runner = &runners[index];
        if (runner->due >= 0 && (requests >= course->count || time >= end)) continue;
        busy = 1;
        if (runner->due > time && runner->due - time < wait) wait = runner->due - time;
        if (runner->due < 0 || runner->due > time) continue;
        runner->due = -1;
        requests++;
        prepare(runner, course);
        curl_multi_add_handle(multi, runner->handle);
    }
    return busy ? wait : -1;
}

int main(int count, char **arguments) {
    course course = course_read(count, arguments);
    curl_global_init(CURL_GLOBAL_ALL);
    // One cache of connections for all. Its size would change with the number of handles at the moment.
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, course.at_a_time * 4);
    runner *runners = calloc((size_t)course.at_a_time, sizeof *runners);
    double end = now() + course.seconds;
    for (double wait; (wait = begin_due(multi, runners, &course, end)) >= 0;) {
        int active, left;
        curl_multi_perform(multi, &active);
        int ended = 0;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)); ended = 1)
            finish(multi, message)->due = now() + course.pause;
        // Rounded up: a request is not begun before it is due.
        if (!ended) curl_multi_poll(multi, NULL, 0, (int)(wait * 1000) + 1, NULL);
    }
    report();
    return 0;
}
