import Foundation
import LoadingKit

// Keeps a thing of each kind in the stores of the default configuration, or of a name, and says what is there:
// `StoreProbe keep VALUE [NAME]`, `StoreProbe show [NAME]`, `StoreProbe early`, `StoreProbe alone FOLDER`. The tests run copies
// of it in several folders.

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "alone", arguments.count > 1, let url = URL(string: "https://probe.example/") {
    // A cache, and nothing else of the library.
    let cache = URLCache(memoryCapacity: 0, diskCapacity: 20 << 20, diskPath: arguments[1])
    let found = {
        cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) } ?? "-"
    }
    let before = found()
    let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    cache.storeCachedResponse(CachedURLResponse(response: response, data: Data("kept".utf8)), for: URLRequest(url: url))
    print(before, found())
    await cache.flush()
    exit(0)
}
// What a program may make before it uses anything of the module that hands the stores on disk over.
let early = arguments.first == "early" ? URLSessionConfiguration() : nil
let earlyCache = early.map { _ in
    URLCache(memoryCapacity: 1 << 20, diskCapacity: 20 << 20, diskPath: nil)
}
let configuration = URLSessionConfiguration.default
configuration.storeIdentifier = arguments.count > (arguments.first == "keep" ? 2 : 1) ? arguments.last : nil
guard let url = URL(string: "https://probe.example/"), let cookies = configuration.httpCookieStorage,
    let cache = earlyCache ?? configuration.urlCache,
    let credentials = (early ?? configuration).urlCredentialStorage,
    early == nil || early?.urlCache === configuration.urlCache
else { exit(2) }
let space = URLProtectionSpace(
    host: "probe.example", port: 443, protocol: "https", realm: "r",
    authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
let hsts = configuration.settings.hsts

if arguments.first == "keep", arguments.count > 1 {
    let value = arguments[1]
    let properties: [HTTPCookiePropertyKey: Any] = [
        .name: "n", .value: value, .domain: "probe.example", .path: "/",
        .expires: Date(timeIntervalSinceNow: 1000),
    ]
    guard let cookie = HTTPCookie(properties: properties) else { exit(3) }
    cookies.setCookie(cookie)
    let response = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    cache.storeCachedResponse(
        CachedURLResponse(response: response, data: Data(value.utf8)), for: URLRequest(url: url))
    credentials.setDefaultCredential(URLCredential(user: value, password: "p", persistence: .permanent), for: space)
    hsts.note("max-age=1000", from: "\(value).example")
    let session = URLSession(configuration: configuration)
    await withCheckedContinuation { done in session.flush { done.resume() } }
} else {
    let hosts = ["a", "b", "c"].filter { hsts.requiresSecureConnection(to: "\($0).example") }
    let values = [
        cookies.cookies(for: url)?.first?.value,
        cache.cachedResponse(for: URLRequest(url: url)).map { String(decoding: $0.data, as: UTF8.self) },
        credentials.defaultCredential(for: space)?.user, hosts.isEmpty ? nil : hosts.joined(separator: "+"),
    ]
    print(values.map { $0 ?? "-" }.joined(separator: " "))
}
