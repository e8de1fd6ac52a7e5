/// HPACK against nghttp2's.
enum HPACKBenchmarks {
    static func register() throws {
        let requests = try HeaderStory.browserRequests()
        let responses = try HeaderStory.serverResponses()
        HPACKDecoding(name: "a browser's 40 requests", stories: [requests]).register()
        HPACKDecoding(name: "a server's 40 responses", stories: [responses]).register()
        try HPACKEncoding(name: "a browser's 40 requests", stories: [requests]).register()
        try HPACKEncoding(name: "a server's 40 responses", stories: [responses]).register()
        let conformance = try HeaderStory.conformance()
        guard !conformance.isEmpty else { return }
        HPACKDecoding(name: "\(conformance.count) conformance stories", stories: conformance).register()
        try HPACKEncoding(name: "\(conformance.count) conformance stories", stories: conformance).register()
    }
}
