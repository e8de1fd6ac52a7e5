import Foundation
import LoadingKitCore
import LoadingKitInspector
import LoadingKitPrimitives

extension URLSession {
    /// Shows the traffic of all sessions of the program, those that there are and those to come, on a page in a browser:
    /// each load with its phases, heads and bodies, connections and what they carry, and the reasons for what the session
    /// decides (cache, cookies, challenges, repeated requests). See <doc:Inspector>.
    ///
    /// ```swift
    /// let inspector = try URLSession.inspect(on: 8080)
    /// print(inspector.page)
    /// ```
    ///
    /// The page is served on the loopback interface alone, and only to those who have its whole address, which contains a
    /// secret. Programs started with `LOADKIT_INSPECT=1` in their environment do the same without a change.
    ///
    /// - Parameters:
    ///   - port: the port. Default 0: any that is free.
    ///   - allowsChanges: whether requests and responses that match a rule can be held and changed from the page. Default
    ///     false.
    ///   - redactsSecrets: whether secrets are left out, as in recordings (`recordHAR(to:)`). Default true.
    /// - Throws: `URLError` where the page cannot be served, for example as the port is in use.
    @discardableResult
    public static func inspect(
        on port: UInt16 = 0, allowsChanges: Bool = false, redactsSecrets: Bool = true
    ) throws -> URLSessionInspector {
        do {
            return URLSessionInspector(
                try Inspector(port: port, allowsChanges: allowsChanges, redacts: redactsSecrets))
        } catch {
            throw URLError(
                LoadFailure(.cannotConnectToHost, "the inspector's page cannot be served on port \(port): \(error)"),
                url: nil)
        }
    }
}

/// A page that shows the program's traffic: ``URLSession/inspect(on:allowsChanges:redactsSecrets:)``. It goes on where the
/// program does not keep this object.
public final class URLSessionInspector: Sendable {
    private let inspector: Inspector

    fileprivate init(_ inspector: Inspector) { self.inspector = inspector }

    /// The page's address. A browser that has it shows the program's traffic.
    public var page: URL { URL(string: inspector.address) ?? URL(fileURLWithPath: "/") }

    /// Ends the page. Loads that it holds go on unchanged.
    public func stop() { inspector.stop() }
}

/// The inspection that the environment asks for: where `LOADKIT_INSPECT` is set, the program's traffic is shown from its
/// first configuration on.
enum EnvironmentInspection {
    static func startIfNeeded() { _ = inspector }

    private static let inspector: Inspector? = {
        guard let value = ProcessEnvironment.secureValue(of: "LOADKIT_INSPECT"), !value.isEmpty, value != "0" else {
            return nil
        }
        // `1`: any port. A path: a file, or a pipe of `loadkit inspect`, that gets the address.
        let port = UInt16(value).flatMap { $0 == 1 ? nil : $0 } ?? 0
        let allowsChanges = ProcessEnvironment.secureValue(of: "LOADKIT_INSPECT_CHANGES") == "1"
        do {
            let inspector = try Inspector(port: port, allowsChanges: allowsChanges, redacts: true)
            tell(inspector.address, to: value.hasPrefix("/") ? value : nil)
            return inspector
        } catch {
            tell("LOADKIT_INSPECT: no page can be served: \(error)", to: nil)
            return nil
        }
    }()

    private static func tell(_ line: String, to path: String?) {
        let descriptor = path.map { open($0, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC) } ?? -1
        let file = descriptor >= 0 ? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) : .standardError
        try? file.write(contentsOf: Data("\(line)\n".utf8))
    }
}
