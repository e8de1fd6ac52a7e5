#include "CMeter.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A load under way. Its handle is used again for the next, as curl's documentation advises.
typedef struct {
    CURL *handle;
    long start, length;
    /// The body, in the mode "memory".
    char *body;
    size_t capacity;
    /// Where it is written, in the mode "file".
    FILE *file;
    /// How much of the body was sent.
    size_t sent;
} transfer;

static client_arguments arguments;
static CURLM *multi;
static bool is_upload;

static bool is_mode(const char *mode) { return strcmp(arguments.mode, mode) == 0; }

/// Room for the whole body at once when its length is known, which saves moving it.
static void grow(transfer *transfer, size_t needed) {
    if (needed <= transfer->capacity) return;
    curl_off_t announced = -1;
    curl_easy_getinfo(transfer->handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
    size_t capacity = transfer->capacity * 2 > needed ? transfer->capacity * 2 : needed;
    if (announced > 0 && (size_t)announced > capacity) capacity = (size_t)announced;
    transfer->body = realloc(transfer->body, capacity);
    if (!transfer->body) client_fail("no memory for a body");
    transfer->capacity = capacity;
}

static size_t keep(char *bytes, size_t size, size_t count, void *context) {
    transfer *transfer = context;
    size_t length = size * count;
    grow(transfer, (size_t)transfer->length + length);
    memcpy(transfer->body + transfer->length, bytes, length);
    transfer->length += (long)length;
    return length;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    transfer *transfer = context;
    transfer->length += (long)(size * count);
    return size * count;
}

static size_t write_file(char *bytes, size_t size, size_t count, void *context) {
    transfer *transfer = context;
    size_t written = fwrite(bytes, size, count, transfer->file) * size;
    transfer->length += (long)written;
    return written;
}

/// Bytes of an upload, from memory or from the file.
static size_t supply(char *room, size_t size, size_t count, void *context) {
    static char *body;
    transfer *transfer = context;
    if (is_mode("uploadFile")) return fread(room, size, count, transfer->file) * size;
    if (!body) {
        if (!(body = malloc((size_t)arguments.length))) client_fail("no memory for a body");
        // Memory that was never written is one page of zeros, which stays in the processor's cache.
        memset(body, 'a', (size_t)arguments.length);
    }
    size_t rest = (size_t)arguments.length - transfer->sent, length = size * count < rest ? size * count : rest;
    memcpy(room, body + transfer->sent, length);
    transfer->sent += length;
    return length;
}

/// The URL with another address of this machine than before.
static const char *next_origin(void) {
    static char text[256];
    static int number;
    number++;
    snprintf(text, sizeof text, "http://127.1.%d.%d%s", number / 250, number % 250 + 1,
        arguments.url + strlen("http://127.0.0.1"));
    return text;
}

static void prepare(transfer *transfer) {
    CURL *handle = transfer->handle = curl_easy_init();
    curl_write_callback receive = is_mode("file") ? write_file : is_mode("delegate") ? drop : keep;
    curl_easy_setopt(handle, CURLOPT_URL, arguments.url);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(handle, CURLOPT_PRIVATE, transfer);
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    if (is_upload) {
        curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(handle, CURLOPT_READFUNCTION, supply);
        curl_easy_setopt(handle, CURLOPT_READDATA, transfer);
        curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)arguments.length);
    }
    if (!arguments.certificate) return;
    curl_easy_setopt(handle, CURLOPT_CAINFO, arguments.certificate);
    // What the server chooses; and loads wait for the first connection, to share it when it is HTTP/2.
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(handle, CURLOPT_PIPEWAIT, 1L);
}

static void start(transfer *transfer) {
    transfer->length = 0;
    transfer->sent = 0;
    if (is_mode("origins")) curl_easy_setopt(transfer->handle, CURLOPT_URL, next_origin());
    if (is_mode("uploadFile") && !(transfer->file = fopen(arguments.file, "r"))) client_fail("the file does not open");
    if (is_mode("file") && !(transfer->file = fopen(arguments.file, "w"))) client_fail("the file does not open");
    transfer->start = meter_now();
    curl_multi_add_handle(multi, transfer->handle);
}

static void finish(CURLMsg *message) {
    if (message->data.result) client_fail(curl_easy_strerror(message->data.result));
    transfer *transfer;
    long status;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
    curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
    if (status / 100 != 2) client_fail("a status that is not 2xx");
    if (transfer->file) fclose(transfer->file);
    transfer->file = NULL;
    meter_loaded(&arguments, transfer->start, is_upload ? arguments.length : transfer->length);
    // Who asked has the body, and lets it go: the next load needs memory of its own, as with every client.
    free(transfer->body);
    transfer->body = NULL;
    transfer->capacity = 0;
    curl_multi_remove_handle(multi, transfer->handle);
}

/// Runs the loads that were started, and those that are started when one has ended.
static void run(long running, bool (*more)(void)) {
    while (running > 0) {
        int active, left;
        curl_multi_perform(multi, &active);
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
            transfer *transfer;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
            finish(message);
            if (more()) start(transfer);
            else running--;
        }
        if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

static bool no_more(void) { return false; }

int main(int count, char **texts) {
    arguments = client_arguments_read(count, texts);
    is_upload = strncmp(arguments.mode, "upload", strlen("upload")) == 0;
    curl_global_init(CURL_GLOBAL_ALL);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, arguments.at_a_time);
    transfer *transfers = calloc((size_t)arguments.at_a_time, sizeof *transfers);
    for (long index = 0; index < arguments.at_a_time; index++) {
        prepare(&transfers[index]);
        start(&transfers[index]);
    }
    run(arguments.at_a_time, no_more);
    meter_begin(&arguments);
    long running = 0;
    while (running < arguments.at_a_time && meter_take()) start(&transfers[running++]);
    run(running, meter_take);
    meter_finish();
    return 0;
}
