import Foundation
import LoadingKit
import Synchronization

/// Checks that a handler follows the contract of handlers: loads your URLs in every way that a program can, and lists
/// the rules that the handler breaks.
///
/// ```swift
/// @Test func keepsTheContract() async throws {
///     let url = try #require(URL(string: "greeting:hello"))
///     let report = await HandlerConformance(of: GreetingHandler.self, [.resource(url)]).run()
///     #expect(report.findings.isEmpty, "\(report)")
/// }
/// ```
///
/// With XCTest: `XCTAssert(report.findings.isEmpty, report.description)`. The rules are those of the page *The contract
/// of handlers* in LoadingKit's documentation; each finding has the rule's number and sentence.
///
/// The resource must be the same each time, and have more than 256 KiB, so that its handler is still in the body when
/// the task is suspended or cancelled there.
public struct HandlerConformance: Sendable {
    let handler: URLProtocolHandler.Type?
    let samples: [ConformanceSample]
    let configure: @Sendable (URLSessionConfiguration) -> Void

    /// Whether the handler is an interceptor, which may handle requests of any kind. Default false.
    public var isInterceptor = false
    /// The number of loads in the check of simultaneous loads. Default 1,000.
    public var loadsAtOnce = 1000
    /// The time limit in seconds, counted from the last event of a load; where nothing comes for longer, it is a
    /// finding. A cancelled load has five seconds of it. On a busy machine it is up to four times as long, because time
    /// in which the machine does not wake the check does not count. Default 30.
    public var timeLimit: TimeInterval = 30
    /// The number of bytes that the handler has taken from its source, in all loads up to now: what a server of the
    /// test has sent, or what was read. With it the checks find a handler that reads ahead of its reader by more than 4
    /// MiB. Default nil.
    public var bytesTaken: (@Sendable () -> Int)?

    /// Checks a class, which is the first in the `protocolClasses` of the sessions that the checks make.
    ///
    /// - Parameters:
    ///   - handler: the class.
    ///   - samples: the loads for the checks; at least one resource.
    ///   - configure: configures each of these sessions, for example the trusted authorities, or other handlers.
    public init(
        of handler: URLProtocolHandler.Type, _ samples: [ConformanceSample],
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.handler = handler
        self.samples = samples
        self.configure = configure
    }

    /// Checks the handler of the samples in sessions that `configure` configures: a built-in handler, or one that a
    /// factory makes.
    public init(
        _ samples: [ConformanceSample], configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        handler = nil
        self.samples = samples
        self.configure = configure
    }

    /// Runs all checks in sequence.
    public func run() async -> ConformanceReport {
        let bench = ConformanceBench(self)
        if let handler { bench.checkClass(handler) }
        bench.checkInterceptors()
        var resources: [ConformanceBench.Resource] = []
        for sample in samples {
            switch sample.kind {
            case .resource:
                guard let resource = await bench.checkWhole(sample.request) else { continue }
                resources.append(resource)
                await bench.checkResource(resource)
            case .ranged: await bench.checkRanges(sample.request)
            case .upload: await bench.checkUpload(sample.request)
            case .redirect: await bench.checkRedirect(sample.request)
            case .challenge(let credential): await bench.checkChallenge(sample.request, credential)
            case .failure(let expected): await bench.checkFailure(sample.request, expected)
            }
        }
        await bench.checkSharing(resources.filter { !bench.isStalled($0.request) })
        return bench.report
    }
}

/// A load for a handler's checks, and its kind.
public struct ConformanceSample: Sendable {
    enum Kind: Sendable {
        case resource, ranged, upload, redirect
        case challenge(URLCredential)
        case failure((any Error)?)
    }

    let request: URLRequest
    let kind: Kind

    /// A resource that loads without answers of the program, and is the same each time.
    public static func resource(_ url: URL) -> ConformanceSample { resource(URLRequest(url: url)) }

    /// A request with the same response each time, without answers of the program.
    public static func resource(_ request: URLRequest) -> ConformanceSample {
        ConformanceSample(request: request, kind: .resource)
    }

    /// A resource that is also loaded in parts (RFC 9110 §14). Its response has the status 200, `Accept-Ranges: bytes`,
    /// and a strong `ETag` or a `Last-Modified`. The checks compare parts with the whole.
    public static func ranged(_ url: URL) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .ranged)
    }

    /// A request whose body the server receives. The checks send bodies of several sizes, as data, file and stream; the
    /// response must have the same status for all.
    public static func upload(_ request: URLRequest) -> ConformanceSample {
        ConformanceSample(request: request, kind: .upload)
    }

    /// A URL that is redirected to a resource.
    public static func redirect(_ url: URL) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .redirect)
    }

    /// A URL for which the delegate gets a challenge, and which loads with this credential.
    public static func challenge(_ url: URL, credential: URLCredential) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .challenge(credential))
    }

    /// A URL that fails to load, with the same error each time.
    ///
    /// - Parameter error: the error that the handler throws, whose type, domain and code are compared. Nil: any error.
    public static func failure(_ url: URL, expecting error: (any Error)? = nil) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .failure(error))
    }
}
