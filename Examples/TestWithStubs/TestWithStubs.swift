import Foundation
import LoadingKit
import LoadingKitTesting

/// Tests code that loads, without a network: stubs stand where the server would. A test in Swift Testing or XCTest does
/// the same, with `#expect` or `XCTAssert` in place of `check`.
///
///     swift run TestWithStubsExample
@main
enum TestWithStubs {
    static func main() async {
        do {
            try await theForecastIsRead()
            try await anAbsentCityIsNoError()
            try await aRequestWithoutStubFails()
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    static func theForecastIsRead() async throws {
        let stubs = StubSet()
        stubs.add(.get("https://weather.example/cities/{city}"), .field("Accept", "application/json")) { request in
            .json(["city": .string(request.parameters["city"] ?? ""), "degrees": 21])
        }
        let degrees = try await Weather(session: session(stubs)).degrees(in: "Bern")
        check(degrees == 21 && stubs.requests.count == 1, "the forecast is read")
        try stubs.verify()  // throws for stubs that were not used, and for requests without a stub
    }

    static func anAbsentCityIsNoError() async throws {
        let stubs = StubSet()
        stubs.add(always: .status(404))
        let degrees = try await Weather(session: session(stubs)).degrees(in: "Atlantis")
        check(degrees == nil, "an absent city is no error")
    }

    static func aRequestWithoutStubFails() async throws {
        do {
            _ = try await Weather(session: session(StubSet())).degrees(in: "Bern")
            check(false, "a request without a stub fails")
        } catch is UnexpectedRequestError {
            check(true, "a request without a stub fails")
        }
    }

    /// Each test has a session and stubs of its own, so that tests may run at the same time.
    static func session(_ stubs: StubSet) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        stubs.install(in: configuration)
        return URLSession(configuration: configuration)
    }

    static func check(_ condition: Bool, _ name: String) {
        print(condition ? "passed:" : "FAILED:", name)
        if !condition { exit(1) }
    }
}

/// The code under test. It gets its session from outside.
struct Weather {
    private struct Forecast: Decodable { let degrees: Int }

    let session: URLSession

    /// Nil for a city that the server does not know.
    func degrees(in city: String) async throws -> Int? {
        guard let cities = URL(string: "https://weather.example/cities") else { throw URLError(.badURL) }
        var request = URLRequest(url: cities.appending(component: city))  // encoded: a "/" in it adds no component
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await session.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode
        if status == 404 { return nil }
        guard status == 200 else { throw URLError(.badServerResponse) }
        return try JSONDecoder().decode(Forecast.self, from: data).degrees
    }
}
