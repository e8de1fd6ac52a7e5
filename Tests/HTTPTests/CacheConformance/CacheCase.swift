import Foundation
@_spi(LoadingKitPlugins) import LoadingKitPrimitives

@testable import LoadingKitHTTP

/// A suite of http-tests/cache-tests in `cache-tests.json`.
struct CacheSuite: Decodable {
    let id: String
    let tests: [CacheCase]
}

/// One test of a suite: requests, the server's response to each, and what the client must receive.
struct CacheCase: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable {
        case required, optimal, check
    }

    let id: String
    let kind: Kind?
    let requests: [CacheStep]
}

/// One request of a test. `CacheCaseRun` and `CacheCaseServer` have the defaults for what is missing.
struct CacheStep: Decodable, Sendable {
    enum ExpectedType: String, Decodable, Sendable {
        case cached
        case notCached = "not_cached"
        case etagValidated = "etag_validated"
        case lastModifiedValidated = "lm_validated"

        var isValidated: Bool { self == .etagValidated || self == .lastModifiedValidated }
    }

    let requestMethod: String?
    let requestHeaders: [CacheHeader]?
    let requestBody: String?
    let cache: String?
    let filename: String?
    let pauseAfter: Bool?
    let responseStatus: CacheStatus?
    let responseHeaders: [CacheHeader]?
    let responseBody: String?
    let magicLocations: Bool?
    let expectedType: ExpectedType?
    let expectedStatus: Int?
    let expectedResponseHeaders: [CacheHeader]?
    let expectedResponseHeadersMissing: [String]?
    let expectedRequestHeaders: [CacheHeader]?
    let checkBody: Bool?
    /// Whether the key exists, with any value.
    let hasResponseText: Bool

    private enum CodingKeys: String, CodingKey {
        case requestMethod = "request_method"
        case requestHeaders = "request_headers"
        case requestBody = "request_body"
        case cache, filename
        case pauseAfter = "pause_after"
        case responseStatus = "response_status"
        case responseHeaders = "response_headers"
        case responseBody = "response_body"
        case magicLocations = "magic_locations"
        case expectedType = "expected_type"
        case expectedStatus = "expected_status"
        case expectedResponseHeaders = "expected_response_headers"
        case expectedResponseHeadersMissing = "expected_response_headers_missing"
        case expectedRequestHeaders = "expected_request_headers"
        case checkBody = "check_body"
        case expectedResponseText = "expected_response_text"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        requestMethod = try values.decodeIfPresent(String.self, forKey: .requestMethod)
        requestHeaders = try values.decodeIfPresent([CacheHeader].self, forKey: .requestHeaders)
        requestBody = try values.decodeIfPresent(String.self, forKey: .requestBody)
        cache = try values.decodeIfPresent(String.self, forKey: .cache)
        filename = try values.decodeIfPresent(String.self, forKey: .filename)
        pauseAfter = try values.decodeIfPresent(Bool.self, forKey: .pauseAfter)
        responseStatus = try values.decodeIfPresent(CacheStatus.self, forKey: .responseStatus)
        responseHeaders = try values.decodeIfPresent([CacheHeader].self, forKey: .responseHeaders)
        responseBody = try values.decodeIfPresent(String.self, forKey: .responseBody)
        magicLocations = try values.decodeIfPresent(Bool.self, forKey: .magicLocations)
        expectedType = try values.decodeIfPresent(ExpectedType.self, forKey: .expectedType)
        expectedStatus = try values.decodeIfPresent(Int.self, forKey: .expectedStatus)
        expectedResponseHeaders = try values.decodeIfPresent([CacheHeader].self, forKey: .expectedResponseHeaders)
        expectedResponseHeadersMissing = try values.decodeIfPresent(
            [String].self, forKey: .expectedResponseHeadersMissing)
        expectedRequestHeaders = try values.decodeIfPresent([CacheHeader].self, forKey: .expectedRequestHeaders)
        checkBody = try values.decodeIfPresent(Bool.self, forKey: .checkBody)
        hasResponseText = values.contains(.expectedResponseText)
    }
}

/// A status and its phrase: `[200, "OK"]`.
struct CacheStatus: Decodable, Sendable {
    let code: Int

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        code = try values.decode(Int.self)
    }
}

/// A field: `["Date", 0]`, `["Expires", "0", false]`.
struct CacheHeader: Decodable, Sendable {
    private enum Value {
        case text(String)
        /// Seconds from now.
        case date(TimeInterval)
    }

    let name: String
    private let value: Value
    /// Whether the client must receive the field as the server sent it.
    let isChecked: Bool

    init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        name = try values.decode(String.self)
        if let seconds = try? values.decode(Double.self) {
            value = .date(seconds)
        } else {
            value = .text(try values.decode(String.self))
        }
        isChecked = values.isAtEnd ? true : try values.decode(Bool.self)
    }

    func text(now: Date) -> String {
        switch value {
        case .text(let text): text
        case .date(let seconds): HTTPDate.string(now.addingTimeInterval(seconds).timeIntervalSince1970)
        }
    }
}
