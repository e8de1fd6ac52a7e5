import LoadingKitPrimitives
import LoadingKitWebSocket
import Testing

@Suite struct WebSocketErrorTests {
    static let kinds: [(kind: WebSocketError.Kind, code: WebSocketCloseCode, category: LayerErrorCategory)] = [
        (.missingUpgrade, .protocolError, .unexpectedResponse),
        (.wrongAccept, .protocolError, .unexpectedResponse),
        (.unofferedProtocol("chat"), .protocolError, .unexpectedResponse),
        (.unofferedExtension("other"), .protocolError, .unexpectedResponse),
        (.malformedExtension("no name"), .protocolError, .unexpectedResponse),
        (.reservedBits, .protocolError, .unparsableResponse),
        (.unknownOpcode(3), .protocolError, .unparsableResponse),
        (.controlFrameInFragments, .protocolError, .unparsableResponse),
        (.controlFrameTooLong, .protocolError, .unparsableResponse),
        (.masked, .protocolError, .unparsableResponse),
        (.unmasked, .protocolError, .unparsableResponse),
        (.wastefulLength, .protocolError, .unparsableResponse),
        (.impossibleLength, .protocolError, .unparsableResponse),
        (.continuationOfNothing, .protocolError, .unparsableResponse),
        (.messageInMessage, .protocolError, .unparsableResponse),
        (.malformedClose, .protocolError, .unparsableResponse),
        (.invalidCloseCode(1005), .protocolError, .unparsableResponse),
        (.invalidUTF8, .invalidFramePayloadData, .undecodableContent),
        (.corruptCompression("zlib"), .invalidFramePayloadData, .undecodableContent),
        (.messageTooBig(limit: 7), .messageTooBig, .tooLong),
        (.emptyFrameFlood, .policyViolation, .unparsableResponse),
        (.outOfMemory, .goingAway, .tooLong),
        (.closedEarly, .protocolError, .connectionLost),
        (.closing, .protocolError, .connectionLost),
        (.controlPayloadTooLong, .protocolError, .unparsableResponse),
    ]

    @Test(arguments: kinds.indices)
    func eachHasItsCodeAndCategory(_ index: Int) {
        let (kind, code, category) = Self.kinds[index]
        #expect(WebSocketError(kind).closeCode == code)
        #expect(WebSocketError(kind).category == category)
    }

    @Test func descriptionsAreWordsAndDiffer() {
        let descriptions = Self.kinds.map { WebSocketError($0.kind).description }
        #expect(Set(descriptions).count == descriptions.count)
        #expect(descriptions.allSatisfy { $0.contains(" ") })
        #expect(WebSocketError(.messageTooBig(limit: 7)).description.contains("7 bytes"))
    }
}
