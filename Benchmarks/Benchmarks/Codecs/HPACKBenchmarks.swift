import Figures

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
        guard !conformance.isEmpty else {
            let folder = HeaderStory.conformanceFolder.path
            for direction in ["decoding", "encoding"] {
                BenchmarkRun.leaveOut("hpack: \(direction), conformance stories", "there are none at \(folder)")
            }
            return
        }
        HPACKDecoding(name: "\(conformance.count) conformance stories", stories: conformance).register()
        try HPACKEncoding(name: "\(conformance.count) conformance stories", stories: conformance).register()
    }
}
