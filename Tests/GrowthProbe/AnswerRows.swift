import Foundation
import LoadingKit
import LoadingKitEvents
import LoadingKitS3

/// What plugins read of servers' answers.
enum AnswerRows {
    static var all: [String: GrowthProbe.Row] {
        ["attributes": { attributes($0) }, "event-lines": { try eventLines($0) }]
    }

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

    /// Events in one piece, whose lines end with CR alone.
    private static func eventLines(_ count: Int) throws {
        var parser = EventStreamParser()
        _ = try parser.receive(Data(String(repeating: "data:x\r\r", count: count).utf8))
    }
}
