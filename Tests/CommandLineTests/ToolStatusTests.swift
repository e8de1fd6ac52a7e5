import Foundation
import LoadingKit
import Testing

@testable import loadkit

/// Converts errors to curl's exit codes.
@Suite struct ToolStatusTests {
    static let statuses: [(URLError.Code, Int32, Int32)] = [
        // The code, the status before a response, and the status after one.
        (.unsupportedURL, 1, 1), (.badURL, 3, 3), (.cannotFindHost, 6, 6), (.dnsLookupFailed, 6, 6),
        (.cannotConnectToHost, 7, 7), (.badServerResponse, 8, 8), (.networkConnectionLost, 52, 18), (.timedOut, 28, 28),
        (.secureConnectionFailed, 35, 35), (.fileDoesNotExist, 37, 37), (.noPermissionsToReadFile, 37, 37),
        (.fileIsDirectory, 37, 37), (.httpTooManyRedirects, 47, 47), (.cannotParseResponse, 8, 56),
        (.serverCertificateUntrusted, 60, 60), (.serverCertificateHasUnknownRoot, 60, 60),
        (.serverCertificateHasBadDate, 60, 60), (.serverCertificateNotYetValid, 60, 60),
        (.cannotDecodeContentData, 61, 61), (.unknown, 56, 56),
    ]

    @Test(arguments: statuses) func status(_ code: URLError.Code, _ before: Int32, _ after: Int32) {
        #expect(ToolStatus(URLError(code), hadResponse: false).rawValue == before)
        #expect(ToolStatus(URLError(code), hadResponse: true).rawValue == after)
    }

    @Test func reset() {
        let text = "receiving failed: read: connection reset by peer"
        let error = URLError(.networkConnectionLost, userInfo: [NSLocalizedDescriptionKey: text])
        #expect(ToolStatus(error, hadResponse: false) == .receiveFailure)
        #expect(ToolStatus(error, hadResponse: true) == .partialFile)
    }

    @Test func lines() {
        #expect(ToolFailure(.usage, "a\u{1b}\nb").line == "loadkit: (2) a\\u001b b\n")
        #expect(ToolFailure(.writeError, nil).line.isEmpty)
        #expect(ToolFailure.writing("x", EPIPE).reason == nil)
        #expect(ToolFailure(CocoaError(.fileReadNoSuchFile), hadResponse: false).status == .receiveFailure)
    }
}
