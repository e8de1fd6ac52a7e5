/// Heads of messages as servers and clients send them.
enum Heads {
    /// nginx, for a small file: 240 bytes.
    static let nginx = text(
        "HTTP/1.1 200 OK",
        [
            "Server: nginx/1.22.1", "Date: Sat, 21 Nov 2026 10:00:00 GMT", "Content-Type: text/plain",
            "Content-Length: 1024", "Last-Modified: Sat, 21 Nov 2026 05:35:27 GMT", "Connection: keep-alive",
            "ETag: \"6b012d9f-400\"", "Accept-Ranges: bytes",
        ])

    /// A content delivery network's.
    static let network = text("HTTP/1.1 200 OK", networkFields)

    static let networkFields = [
        "Accept-Ranges: bytes", "Access-Control-Allow-Origin: *", "Age: 512384",
        "Alt-Svc: h3=\":443\"; ma=86400, h3-29=\":443\"; ma=86400",
        "Cache-Control: public, max-age=31536000, s-maxage=31536000, immutable", "Connection: keep-alive",
        "Content-Encoding: gzip", "Content-Length: 30288",
        "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:",
        "Content-Type: application/javascript; charset=utf-8", "Cross-Origin-Resource-Policy: cross-origin",
        "Date: Sat, 21 Nov 2026 10:00:00 GMT", "ETag: W/\"15851-2b5b1d0e9d3f4c6a8e7f\"",
        "Last-Modified: Tue, 03 Nov 2026 22:10:33 GMT",
        "NEL: {\"success_fraction\":0,\"report_to\":\"edge\",\"max_age\":604800}",
        "Report-To: {\"group\":\"edge\",\"max_age\":604800,\"endpoints\":[{\"url\":\"https://example.com/report\"}]}",
        "Server: edge", "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload",
        "Timing-Allow-Origin: *", "Vary: Accept-Encoding", "Via: 1.1 varnish, 1.1 varnish",
        "X-Cache: HIT, HIT", "X-Cache-Hits: 21, 3", "X-Content-Type-Options: nosniff",
        "X-Served-By: cache-iad-0001-IAD, cache-fra-0002-FRA",
    ]

    /// Thirty fields, a third of them long cookies.
    static let cookies = text(
        "HTTP/1.1 200 OK",
        (0..<20).map { "X-Field-\($0): value number \($0)" }
            + (0..<10).map {
                "Set-Cookie: session\($0)=\(String(repeating: "0123456789abcdef", count: 12)); Path=/; Secure; HttpOnly"
            })

    static let tiny = text("HTTP/1.1 204 No Content", ["Server: x"])

    /// A browser's request.
    static let request = text("GET \(requestTarget) HTTP/1.1", requestFields)

    static let requestTarget = "/assets/application-3f2b1c.js?version=12"

    static let requestFields = [
        "Host: www.example.com", "Connection: keep-alive", "Accept: */*", "Accept-Encoding: gzip, deflate, br",
        "Accept-Language: en-GB,en;q=0.9", "Cache-Control: no-cache", "Pragma: no-cache",
        "Referer: https://www.example.com/products/list?page=3",
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36",
        "Cookie: id=8f14e45fceea167a5a36dedd4bea2543; theme=dark; consent=all",
    ]

    private static func text(_ start: String, _ fields: [String]) -> [UInt8] {
        Array("\(start)\r\n\(fields.map { "\($0)\r\n" }.joined())\r\n".utf8)
    }
}
