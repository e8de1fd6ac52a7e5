import Foundation
import LoadingKit
import Testing

/// What has no effect keeps its value, in copies, too. The rest is tested by code that uses each line of the table, which compiles.
@Suite struct KeptValueTests {
    private struct Missing: Error {}

    private func url() throws -> URL {
        guard let url = URL(string: "http://h.example/") else { throw Missing() }
        return url
    }

    @Test func aConfiguration() {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.usesClassicLoadingMode && !configuration.enablesEarlyData)
        #expect(configuration.allowsUltraConstrainedNetworkAccess && !configuration.requiresDNSSECValidation)
        configuration.usesClassicLoadingMode = false
        configuration.enablesEarlyData = true
        configuration.allowsUltraConstrainedNetworkAccess = false
        configuration.requiresDNSSECValidation = true
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let copy = session.configuration
        #expect(!copy.usesClassicLoadingMode && copy.enablesEarlyData)
        #expect(!copy.allowsUltraConstrainedNetworkAccess && copy.requiresDNSSECValidation)
    }

    @Test func aRequest() throws {
        var request = URLRequest(url: try url())
        #expect(request.allowsUltraConstrainedNetworkAccess && !request.allowsPersistentDNS)
        #expect(request.cookiePartitionIdentifier == nil)
        request.allowsUltraConstrainedNetworkAccess = false
        request.allowsPersistentDNS = true
        request.cookiePartitionIdentifier = "https://site.example"
        #expect(request != URLRequest(url: try url()))
        let reference = NSMutableURLRequest(url: try url())
        reference.allowsUltraConstrainedNetworkAccess = false
        reference.allowsPersistentDNS = true
        reference.cookiePartitionIdentifier = "https://site.example"
        #expect(request == reference as URLRequest)
        let data = try NSKeyedArchiver.archivedData(withRootObject: reference, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data)
        #expect(decoded.map { $0 as URLRequest } == request)
        #expect(decoded?.cookiePartitionIdentifier == "https://site.example")
    }

    @Test func errors() {
        #expect(URLError(.cancelled).networkUnavailableReason == nil)
        #expect(URLError(.cancelled).downloadTaskResumeData == nil)
        let error = URLError(
            .notConnectedToInternet,
            userInfo: [
                NSURLErrorNetworkUnavailableReasonKey: 1, NSURLErrorBackgroundTaskCancelledReasonKey: 2,
                NSURLSessionDownloadTaskResumeData: Data([1]),
            ])
        #expect(error.networkUnavailableReason == .expensive)
        #expect(error.backgroundTaskCancelledReason == .insufficientSystemResources)
        #expect(error.downloadTaskResumeData == Data([1]))
    }
}
