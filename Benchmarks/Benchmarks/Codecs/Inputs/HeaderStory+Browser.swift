extension HeaderStory {
    /// How many files the page has, itself among them.
    private static let files = 40

    /// What a browser asks for when it opens a page with scripts, pictures and calls of an API.
    static func browserRequests() throws -> HeaderStory { try HeaderStory((0..<files).map(request)) }

    /// What a server behind a content delivery network answers.
    static func serverResponses() throws -> HeaderStory { try HeaderStory((0..<files).map(response)) }

    private static func request(_ number: Int) -> HeaderList {
        let isPage = number == 0
        var lines = [
            FieldLine(":method", number % 13 == 12 ? "POST" : "GET"), FieldLine(":scheme", "https"),
            FieldLine(":authority", number % 4 == 3 ? "static.example.com" : "www.example.com"),
            FieldLine(":path", path(number)),
            FieldLine("sec-ch-ua", "\"Chromium\";v=\"120\", \"Not?A_Brand\";v=\"8\""),
            FieldLine("sec-ch-ua-platform", "\"Linux\""), FieldLine("user-agent", userAgent),
            FieldLine("accept", accept(number)), FieldLine("sec-fetch-site", isPage ? "none" : "same-origin"),
            FieldLine("sec-fetch-mode", isPage ? "navigate" : "no-cors"),
            FieldLine("accept-encoding", "gzip, deflate, br"), FieldLine("accept-language", "en-GB,en;q=0.9"),
            FieldLine("cookie", "id=8f14e45fceea167a5a36dedd4bea2543; theme=dark; seen=\(number / 8)"),
        ]
        if !isPage { lines.append(FieldLine("referer", "https://www.example.com/products/list?page=3")) }
        if number % 5 == 4 { lines.append(FieldLine("if-none-match", etag(number))) }
        return HeaderList(lines: lines)
    }

    private static func response(_ number: Int) -> HeaderList {
        var lines = [
            FieldLine(":status", number % 5 == 4 ? "304" : "200"), FieldLine("server", "edge"),
            FieldLine("date", "Sat, 21 Nov 2026 10:00:0\(number / 8) GMT"),
            FieldLine("content-type", contentType(number)), FieldLine("content-length", String(1000 + number * 7919)),
            FieldLine("last-modified", "Tue, 03 Nov 2026 22:\(10 + number):33 GMT"), FieldLine("etag", etag(number)),
            FieldLine("cache-control", number == 0 ? "no-cache" : "public, max-age=31536000, immutable"),
            FieldLine("age", String(number * 977)), FieldLine("vary", "Accept-Encoding"),
            FieldLine("x-cache", number % 3 == 0 ? "MISS" : "HIT"), FieldLine("accept-ranges", "bytes"),
            FieldLine("strict-transport-security", "max-age=31536000; includeSubDomains; preload"),
            FieldLine("x-content-type-options", "nosniff"),
        ]
        if number == 0 {
            lines.append(FieldLine("set-cookie", "id=8f14e45fceea167a5a36dedd4bea2543; Secure; HttpOnly"))
        }
        return HeaderList(lines: lines)
    }

    private static let userAgent =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"

    private static func path(_ number: Int) -> String {
        switch number {
        case 0: "/products/list?page=3"
        case _ where number % 3 == 0: "/api/v2/products/\(number * 7919)?fields=name,price,stock"
        case _ where number % 3 == 1: "/assets/chunk-\(String(number &* 0x9E37_79B9, radix: 16)).js"
        case _: "/images/products/\(number)/thumbnail@2x.webp"
        }
    }

    private static func accept(_ number: Int) -> String {
        switch number {
        case 0: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
        case _ where number % 3 == 0: "application/json"
        case _ where number % 3 == 1: "*/*"
        case _: "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
        }
    }

    private static func contentType(_ number: Int) -> String {
        switch number {
        case 0: "text/html; charset=utf-8"
        case _ where number % 3 == 0: "application/json"
        case _ where number % 3 == 1: "application/javascript; charset=utf-8"
        case _: "image/webp"
        }
    }

    private static func etag(_ number: Int) -> String { "\"\(String(number &* 0x9E37_79B9_7F4A, radix: 16))\"" }
}
