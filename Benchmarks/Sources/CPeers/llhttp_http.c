#include <llhttp/http.c>
