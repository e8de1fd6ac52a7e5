import Testing

@testable import LoadingKitWebSocket

/// Values of `Sec-WebSocket-Extensions` (RFC 6455 §9.1), and what they offer.
@Suite struct ExtensionListTests {
    @Test func lists() {
        func list(_ value: String) -> [WebSocketExtension]? { WebSocketExtension.list([value]) }
        let plain = WebSocketExtension(name: "a")
        #expect(list("") == [])
        #expect(list(" , ,") == [])
        #expect(list("a,, B ,") == [plain, WebSocketExtension(name: "b")])
        let quoted = WebSocketExtension(name: "a", parameters: [.init(name: "x", value: "1\"2"), .init(name: "y")])
        #expect(list("a; x=\"1\\\"2\" ; y") == [quoted])
        for malformed in ["a b", "a;", "a; x=", "a; x=\"1", ";", "=", "a; x=(", "a; =1"] {
            #expect(list(malformed) == nil, "\(malformed)")
        }
    }

    @Test func windowBitsThatCannotBeAreNotOffered() {
        for bits in ["7", "16", "08", "+9", "x", "-9"] {
            for name in ["server_max_window_bits", "client_max_window_bits"] {
                #expect(PermessageDeflate(offers: ["permessage-deflate; \(name)=\(bits)"]) == nil, "\(name)=\(bits)")
            }
        }
        #expect(PermessageDeflate(offers: ["permessage-deflate; server_max_window_bits=9"])?.server.windowBits == 9)
    }

    /// Each first byte of a character, and what may follow it (RFC 3629 §4), whole and byte by byte.
    @Test func text() {
        let texts: [(bytes: [UInt8], isText: Bool)] = [
            (Array("a\u{e9}b\u{20ac}c\u{10348}d".utf8), true), ([0xf1, 0x80, 0x80, 0x80], true),
            ([0xf3, 0xbf, 0xbf, 0xbf], true), ([0xf4, 0x8f, 0xbf, 0xbf], true), ([0xf4, 0x90, 0x80, 0x80], false),
            ([0xe0, 0x9f, 0x80], false), ([0xed, 0xa0, 0x80], false), ([0xf0, 0x8f, 0x80, 0x80], false),
            ([0xc1, 0x80], false), ([0xf5, 0x80, 0x80, 0x80], false), ([0x80], false), ([0xc3, 0x61], false),
        ]
        for (bytes, isText) in texts {
            var whole = UTF8Validator()
            let accepted = bytes.withUnsafeBytes { whole.accepts($0) }
            #expect(accepted == isText, "\(bytes)")
            var single = UTF8Validator()
            let each = bytes.map { byte in [byte].withUnsafeBytes { single.accepts($0) } }
            #expect(each.allSatisfy { $0 } == isText && (!isText || single.isComplete), "\(bytes)")
        }
    }
}
