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

    /// As in curl, the command that the server of ftp has refused decides.
    static let refusals: [(URLError.Code, String, String, ToolStatus)] = [
        (.fileDoesNotExist, "ftp", "the server's answer to RETR is “550”", .remoteFileNotFound),
        (.noPermissionsToReadFile, "FTPS", "the server's answer to RETR is “550”", .remoteFileNotFound),
        (.fileIsDirectory, "ftp", "the server's answer to RETR is “550”", .remoteFileNotFound),
        (.fileDoesNotExist, "ftp", "the server's answer to CWD is “550”", .remoteAccessDenied),
        (.cannotCreateFile, "ftp", "the server's answer to MKD is “553”", .remoteAccessDenied),
        (.cannotCreateFile, "ftp", "the server's answer to STOR is “553”", .uploadFailed),
        (.cannotWriteToFile, "ftp", "the server's answer to APPE is “552”", .uploadFailed),
        // The file to send, and files of other schemes.
        (.fileDoesNotExist, "ftp", "/a does not exist", .couldNotReadFile),
        (.fileDoesNotExist, "file", "the server's answer to RETR is “550”", .couldNotReadFile),
    ]

    @Test(arguments: refusals)
    func refusal(_ code: URLError.Code, _ scheme: String, _ text: String, _ status: ToolStatus) throws {
        let url = try #require(URL(string: "\(scheme)://host/a"))
        let error = URLError(
            code, userInfo: [NSURLErrorFailingURLErrorKey: url, NSLocalizedDescriptionKey: "no: \(text)"])
        #expect(ToolStatus(error, hadResponse: false) == status)
    }

    @Test(arguments: [URLError.Code.cannotConnectToHost, .notConnectedToInternet])
    func proxysName(_ code: URLError.Code) {
        let proxy = "The proxy http://p:1 did not connect to h:80: "
        let cases: [(String, ToolStatus)] = [
            ("\(proxy)Looking up p:1: the name has no address", .couldNotResolveProxy),
            ("\(proxy)Connecting to p:1: timed out", .couldNotConnect),
            ("Looking up h:80: timed out", .couldNotConnect),
        ]
        for (text, status) in cases {
            let error = URLError(code, userInfo: [NSLocalizedDescriptionKey: text])
            #expect(ToolStatus(error, hadResponse: false) == status, "\(text)")
        }
    }

    @Test func numbers() {
        let numbers: [(ToolStatus, Int32)] = [
            (.malformedURL, 3), (.notBuiltIn, 4), (.couldNotResolveProxy, 5), (.couldNotResolve, 6),
            (.couldNotConnect, 7), (.weirdReply, 8), (.remoteAccessDenied, 9), (.writeError, 23), (.uploadFailed, 25),
            (.readError, 26), (.badAuthorityFile, 77), (.remoteFileNotFound, 78),
        ]
        for (status, number) in numbers { #expect(status.rawValue == number, "\(status)") }
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
