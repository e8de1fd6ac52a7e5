import LoadingKitHTTP1
import LoadingKitPrimitives
import Testing

@Suite struct HTTP1ErrorTests {
    static let kinds: [HTTP1Error.Kind] = [
        .malformedStatusLine, .malformedRequestLine, .unsupportedVersion, .invalidFieldName, .invalidFieldValue,
        .obsoleteLineFolding, .malformedContentLength, .conflictingContentLength, .invalidTransferEncoding,
        .lengthAndTransferEncoding, .invalidHost, .invalidTarget, .headTooLarge, .startLineTooLong, .tooManyFields,
        .tooManyInterimResponses, .invalidChunkSize, .chunkSizeOverflow, .chunkExtensionTooLong, .missingChunkEnd,
        .closedEarly(.beforeResponse), .closedEarly(.beforeFinalResponse), .closedEarly(.inHead),
        .closedEarly(.inBody(missing: 7)), .closedEarly(.inChunkedBody), .closedEarly(.inTrailers), .unexpectedBytes,
        .connectionBusy, .connectionClosed, .noBodyExpected, .bodyTooLong, .bodyTooShort(missing: 7),
        .trailersNeedChunked,
    ]

    @Test func descriptionsAreWordsAndDiffer() {
        let descriptions = Self.kinds.map { HTTP1Error($0).description }
        #expect(Set(descriptions).count == descriptions.count)
        #expect(descriptions.allSatisfy { $0.contains(" ") })
        #expect(HTTP1Error(.closedEarly(.inBody(missing: 7)), offset: 12).description.contains("7 bytes"))
    }

    @Test func eachHasACategory() {
        let categories: [(HTTP1Error.Kind, LayerErrorCategory)] = [
            (.closedEarly(.inHead), .connectionLost), (.invalidHost, .invalidRequest),
            (.trailersNeedChunked, .invalidRequest), (.bodyTooLong, .wrongBodyLength),
            (.bodyTooShort(missing: 7), .wrongBodyLength), (.malformedStatusLine, .unparsableResponse),
            (.unexpectedBytes, .unparsableResponse),
        ]
        for (kind, category) in categories { #expect(HTTP1Error(kind).category == category, "\(kind)") }
    }

    @Test func theOffsetIsTold() {
        let error = HTTP1Error(.invalidFieldName, offset: 12)
        #expect(error.description.hasSuffix("(byte 12 of the message)"))
        #expect(!HTTP1Error(.connectionBusy).description.contains("byte"))
    }
}
