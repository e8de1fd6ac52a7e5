import Foundation
import LoadingKit
import Synchronization

/// Checks that a handler keeps the contract of handlers: loads URLs of yours in every way that a program can, and lists
/// the rules that do not hold.
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
/// of handlers* in LoadingKit's documentation; each finding says the number and the sentence.
///
/// What is loaded must be the same each time, and there must be enough of it that the checks are worth something: more
/// than 256 KiB where backpressure matters.
public struct HandlerConformance: Sendable {
    let handler: URLProtocolHandler.Type?
    let samples: [ConformanceSample]
    let configure: @Sendable (URLSessionConfiguration) -> Void

    /// Whether the handler is an interceptor: then it may take requests of any kind. False by default.
    public var isInterceptor = false
    /// How many loads go on at once in the check for that. 1,000 by default.
    public var loadsAtOnce = 1000
    /// How many seconds a load may take; one that takes longer is a finding. 30 by default.
    public var timeLimit: TimeInterval = 30

    /// Checks a class, which is the first in the `protocolClasses` of the sessions that the checks make.
    ///
    /// - Parameters:
    ///   - handler: the class.
    ///   - samples: what it is to load; a resource at least.
    ///   - configure: sets up each of these sessions, such as the authorities that it trusts, or other handlers.
    public init(
        of handler: URLProtocolHandler.Type, _ samples: [ConformanceSample],
        configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        self.handler = handler
        self.samples = samples
        self.configure = configure
    }

    /// Checks what loads the samples in sessions that `configure` sets up: a built-in handler, or one that comes from a
    /// factory.
    public init(
        _ samples: [ConformanceSample], configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in }
    ) {
        handler = nil
        self.samples = samples
        self.configure = configure
    }

    /// Runs all checks, one after the other.
    public func run() async -> ConformanceReport {
        let bench = ConformanceBench(self)
        if let handler { bench.checkClass(handler) }
        for sample in samples {
            switch sample.kind {
            case .resource: await bench.checkResource(sample)
            case .upload: await bench.checkUpload(sample)
            case .redirect: await bench.checkRedirect(sample)
            case .challenge(let credential): await bench.checkChallenge(sample, credential)
            case .failure: await bench.checkFailure(sample)
            }
        }
        return bench.report
    }
}

/// Something that a handler is to load, and what kind of load that is.
public struct ConformanceSample: Sendable {
    enum Kind: Sendable {
        case resource, upload, redirect, failure
        case challenge(URLCredential)
    }

    let request: URLRequest
    let kind: Kind

    /// A resource that loads without questions, and is the same each time.
    public static func resource(_ url: URL) -> ConformanceSample { resource(URLRequest(url: url)) }

    /// A request that is answered without questions, in the same way each time.
    public static func resource(_ request: URLRequest) -> ConformanceSample {
        ConformanceSample(request: request, kind: .resource)
    }

    /// A request whose body is received. The checks give it bodies of several sizes, as data, file and stream; the
    /// response's status has to be the same for all.
    public static func upload(_ request: URLRequest) -> ConformanceSample {
        ConformanceSample(request: request, kind: .upload)
    }

    /// A URL that is redirected to a resource.
    public static func redirect(_ url: URL) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .redirect)
    }

    /// A URL for which the delegate is asked, and which loads with this credential.
    public static func challenge(_ url: URL, credential: URLCredential) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .challenge(credential))
    }

    /// A URL that fails to load, with the same error each time.
    public static func failure(_ url: URL) -> ConformanceSample {
        ConformanceSample(request: URLRequest(url: url), kind: .failure)
    }
}
