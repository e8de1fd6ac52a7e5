import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitS3
import TestSupport
import Testing

/// moto, a server that behaves as Amazon's, on a free loopback port.
final class MotoServer: Sendable {
    private let process: ServerProcess

    init() throws {
        process = try ServerProcess.start(
            "moto_server", aptPackage: "pipx && pipx install 'moto[s3,iam,server]'", portCount: 1
        ) { ["-H", "127.0.0.1", "-p", "\($0.ports[0])"] }
    }

    deinit { process.stop() }

    var url: String { "http://127.0.0.1:\(process.ports[0])" }
}

extension S3Options {
    /// For a test's server, without this machine's environment.
    static func forServer(_ url: String) throws -> S3Options {
        let endpoint = try #require(URL(string: url))
        var options = S3Options(region: "us-east-1", endpoint: endpoint)
        options.environment = [:]
        return options
    }
}

extension S3Credentials {
    static let ofTests = S3Credentials(
        accessKeyID: "AKIDTESTS", secretAccessKey: "the-secret", sessionToken: "the-token")
}

extension URLSession {
    /// A separate session with a client for a server.
    static func s3(
        _ url: String, _ credentials: any S3CredentialsProvider = S3Credentials.ofTests,
        change: (inout S3Options) -> Void = { _ in }, configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        var options = try S3Options.forServer(url)
        change(&options)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configure(configuration)
        S3Client(credentials: credentials, options: options).install(in: configuration)
        return URLSession(configuration: configuration)
    }

    func load(
        _ method: String, _ url: String, body: Data? = nil, fields: [String: String] = [:]
    ) async throws -> (data: Data, response: HTTPURLResponse) {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try await load(request)
    }

    func load(_ request: URLRequest) async throws -> (data: Data, response: HTTPURLResponse) {
        let (data, response) = try await data(for: request)
        return (data, try #require(response as? HTTPURLResponse))
    }
}

/// Bytes that differ from place to place.
func content(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
}

func s3Error(_ body: () async throws -> some Any, sourceLocation: SourceLocation = #_sourceLocation) async -> S3Error? {
    await #expect(throws: S3Error.self, sourceLocation: sourceLocation) { _ = try await body() }
}
