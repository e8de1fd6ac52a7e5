import LoadingKitLoopbackServer
import LoadingKitPrimitives

/// The server's side of resumable uploads (draft-ietf-httpbis-resumable-upload), with faults, on a
/// ``LoopbackServer``, over either version of HTTP. A body sent to a path that is not an upload's starts an upload.
package final class UploadPeer: Sendable {
    /// The faults of the server, and its optional answers.
    package struct Faults: Sendable {
        /// The offsets at which the connection ends, in order. The peer waits there until ``UploadPeer/interimSeen`` is fired.
        package var breaks: [Int] = []
        /// The number of lost responses to complete uploads: the connection ends instead.
        package var lostResponses = 0
        /// False answers to the next questions for the offset.
        package var retrievals: [ServerResponse] = []
        /// Answers to the next parts, which are not accepted.
        package var appends: [ServerResponse] = []
        /// The results of complete uploads, in place of the server's own. They do not say that the upload is complete.
        package var results: [ServerResponse] = []
        /// The whole value of `Upload-Limit`.
        package var limit: String?
        /// The `Location` of 104, in which `PATH` stands for the resource's path.
        package var location = "PATH"
        /// How often 104 is sent.
        package var interims = 1
        /// Whether the server knows the protocol.
        package var isCapable = true
        /// Fields of 104.
        package var interimFields: [(String, String)] = [("Upload-Draft-Interop-Version", "6")]

        package init() {}
    }

    package struct Upload: Sendable {
        package var bytes: [UInt8] = []
        package var isComplete = false
    }

    private struct State {
        var faults: Faults
        var uploads: [Int: Upload] = [:]
        /// The upload of a request on a connection; nil where the request is refused.
        var targets: [String: Int?] = [:]

        /// Later bytes of these requests are not accepted: they would change an offset that the client already has.
        mutating func endRequests(for number: Int) {
            for (key, target) in targets where target == number { targets[key] = .some(nil) }
        }
    }

    private struct Broken: Error {}

    /// Fired when the client has seen a 104.
    package let interimSeen = Signal()
    private let state: Guarded<State>

    package init(_ faults: Faults = Faults()) { state = Guarded(State(faults: faults)) }

    package func change(_ change: (inout Faults) -> Void) { state.withLock { change(&$0.faults) } }

    /// In the order in which they were begun.
    package var uploads: [Upload] {
        state.withLock { state in state.uploads.keys.sorted().compactMap { state.uploads[$0] } }
    }

    /// Has a server do this peer's part.
    package func serve(_ options: inout LoopbackServer.Options) {
        options.interimResponses = { self.begin($0) }
        options.receiveBody = { try self.receive($0, $1) }
    }

    // MARK: A request's head

    private static func key(_ request: ServerRequest) -> String { "\(request.connection).\(request.number)" }

    private static func number(_ request: ServerRequest) -> Int? {
        request.path.hasPrefix("/uploads/") ? Int(request.path.dropFirst("/uploads/".count)) : nil
    }

    private func begin(_ request: ServerRequest) -> [ServerResponse.Interim] {
        state.withLock { state in
            if let number = Self.number(request) {
                guard request.method == "PATCH" else { return [] }
                let offset = request.fields[name: "Upload-Offset"].flatMap { Int($0) }
                let fits = state.faults.appends.isEmpty && state.uploads[number]?.bytes.count == offset
                if fits { state.endRequests(for: number) }
                state.targets[Self.key(request)] = .some(fits ? number : nil)
                return []
            }
            let number = state.uploads.count
            state.uploads[number] = Upload()
            state.targets[Self.key(request)] = number
            guard state.faults.isCapable, request.fields.contains(name: "Upload-Complete") else { return [] }
            var interim = ServerResponse.Interim(104)
            let location = state.faults.location.split(separator: "PATH", omittingEmptySubsequences: false)
            interim.fields.append(name: "Location", value: location.joined(separator: "/uploads/\(number)"))
            for (name, value) in state.faults.interimFields { interim.fields.append(name: name, value: value) }
            if let limit = state.faults.limit { interim.fields.append(name: "Upload-Limit", value: limit) }
            return Array(repeating: interim, count: state.faults.interims)
        }
    }

    // MARK: A request's body

    private func receive(_ request: ServerRequest, _ bytes: UnsafeRawBufferPointer) throws {
        let isBroken = state.withLock { state in
            guard let number = state.targets[Self.key(request)] ?? nil, var upload = state.uploads[number] else {
                return false
            }
            let room = state.faults.breaks.first.map { max(0, $0 - upload.bytes.count) } ?? .max
            upload.bytes += bytes.prefix(room)
            state.uploads[number] = upload
            guard bytes.count >= room else { return false }
            state.faults.breaks.removeFirst()
            return true
        }
        guard isBroken else { return }
        try request.exchange.wait(for: interimSeen)
        throw Broken()
    }

    // MARK: The answer

    package func answer(_ request: ServerRequest) throws -> ServerResponse {
        guard let number = Self.number(request) else {
            return try complete(request, state.withLock { $0.uploads.count } - 1)
        }
        switch request.method {
        case "HEAD": return retrieved(number)
        case "PATCH": return try appended(request, number)
        case "DELETE": return ServerResponse(204)
        case _: return ServerResponse(405)
        }
    }

    private func retrieved(_ number: Int) -> ServerResponse {
        state.withLock { state in
            if !state.faults.retrievals.isEmpty { return state.faults.retrievals.removeFirst() }
            guard let upload = state.uploads[number] else { return ServerResponse(404) }
            state.endRequests(for: number)
            let response = ServerResponse(204).adding("Cache-Control", "no-store")
                .adding("Upload-Offset", "\(upload.bytes.count)")
                .adding("Upload-Complete", upload.isComplete ? "?1" : "?0")
            return state.faults.limit.map { response.adding("Upload-Limit", $0) } ?? response
        }
    }

    private func appended(_ request: ServerRequest, _ number: Int) throws -> ServerResponse {
        let refusal = state.withLock { state -> ServerResponse? in
            if !state.faults.appends.isEmpty { return state.faults.appends.removeFirst() }
            let fits = (state.targets[Self.key(request)] ?? nil) != nil
            return fits
                ? nil : ServerResponse(409).adding("Upload-Offset", "\(state.uploads[number]?.bytes.count ?? 0)")
        }
        if let refusal { return refusal }
        guard request.fields[name: "Content-Type"] == "application/partial-upload" else { return ServerResponse(415) }
        if request.fields[name: "Upload-Complete"] == "?1" { return try complete(request, number) }
        return ServerResponse(204).adding("Upload-Complete", "?0")
    }

    private func complete(_ request: ServerRequest, _ number: Int) throws -> ServerResponse {
        let (count, isLost, result) = state.withLock { state -> (Int, Bool, ServerResponse?) in
            state.uploads[number]?.isComplete = true
            let isLost = state.faults.lostResponses > 0
            if isLost { state.faults.lostResponses -= 1 }
            let result = state.faults.results.isEmpty ? nil : state.faults.results.removeFirst()
            return (state.uploads[number]?.bytes.count ?? 0, isLost, result)
        }
        if isLost {
            try request.exchange.wait(for: interimSeen)
            throw Broken()
        }
        if let result { return result }
        return .text("took \(count)").adding("Upload-Complete", "?1")
    }
}
