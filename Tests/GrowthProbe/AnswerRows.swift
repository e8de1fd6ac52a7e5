import Foundation
import LoadingKit
import LoadingKitS3

/// What plugins read of servers' answers.
enum AnswerRows {
    static var all: [String: GrowthProbe.Row] { ["attributes": { attributes($0) }] }

    /// An S3 server's error, whose root element has attributes.
    private static func attributes(_ count: Int) {
        let attributes = (0..<count).map { " a\($0)=\"\"" }.joined()
        let (session, probe) = ProbeSession.make { configuration in
            let endpoint = URL(string: "http://127.0.0.1/") ?? URL(fileURLWithPath: "/")
            S3Client.anonymous(options: S3Options(region: "us-east-1", endpoint: endpoint)).install(in: configuration)
            configuration.register(scheme: "http") { load in
                guard
                    let response = HTTPURLResponse(url: load.url, statusCode: 404, httpVersion: nil, headerFields: [:])
                else { return }
                try await load.receive(response)
                try await load.receive(Data("<Error\(attributes)/>".utf8))
            }
        }
        guard let url = URL(string: "s3://bucket/key") else { return }
        probe.task(URLRequest(url: url), in: session).resume()
        probe.waitForEnds()
    }
}
