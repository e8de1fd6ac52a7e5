import Foundation
import LoadingKit

/// Forwards a request, and records it with its response.
struct Recording: LoadInterceptor {
    private let recorder: HARRecorder
    private let schemes: Set<String>

    init(_ recorder: HARRecorder, _ schemes: [String]) {
        self.recorder = recorder
        self.schemes = Set(schemes.map { $0.lowercased() })
    }

    func canIntercept(_ request: URLRequest) -> Bool {
        request.url?.scheme.map { schemes.contains($0.lowercased()) } ?? false
    }

    func load(_ load: LoadContext) async throws {
        let slot = recorder.begin(load.request, load.task)
        let maker = EntryMaker(slot, recorder)
        let received = RecordedBody(limit: recorder.options.maximumBodySize)
        do {
            let request = try await recordedBody(of: load, slot)
            let loaded = try await load.next.load(request, redirects: .returned)
            slot.didReceive(loaded, at: recorder.options.now())
            let status = (loaded.response as? HTTPURLResponse)?.statusCode
            if loaded.redirection != nil || status == 101 { return try await pass(loaded, load, slot, maker) }
            try await load.receive(loaded.response)
            for try await piece in loaded.body {
                received.append(piece)
                try await load.receive(piece)
            }
            slot.finish(maker.entry(received, at: recorder.options.now()))
        } catch {
            if slot.entry == nil { slot.finish(maker.entry(received, at: recorder.options.now(), error: error)) }
            throw error
        }
    }

    /// The session gets a response that redirects, or switches protocols, unchanged: it follows the redirect with
    /// another load, or takes the connection. The body, which the program gets where its delegate declines the
    /// redirect, is not recorded.
    private func pass(
        _ loaded: LoadedResponse, _ load: LoadContext, _ slot: RecordingSlot, _ maker: EntryMaker
    ) async throws {
        slot.didRedirect(maker.entry(nil, at: recorder.options.now()), loaded)
        defer { slot.finishRedirect() }
        try await load.receive(loaded)
    }

    /// The request to forward, whose body is copied. A body that is data or a file is read separately, before it is
    /// sent; a stream is copied while it is sent.
    private func recordedBody(of load: LoadContext, _ slot: RecordingSlot) async throws -> URLRequest {
        var request = load.request
        guard !load.body.isEmpty else { return request }
        let body = RecordedBody(limit: recorder.options.maximumBodySize)
        slot.body = body
        guard let stream = request.httpBodyStream else {
            try await read(load.body, into: body)
            return request
        }
        if let earlier = stream as? RecordingInputStream {
            // A redirect's request has the same stream, which was read. The recorded body replaces it.
            guard let data = earlier.recorded.wholeData else {
                throw URLError(
                    .requestBodyStreamExhausted,
                    userInfo: [
                        NSLocalizedDescriptionKey: "the redirect needs the request's body again, and its recording "
                            + "does not have all of it (HARRecorder.Options.maximumBodySize)"
                    ])
            }
            body.append(data)
            body.finish()
            request.httpBody = data
            return request
        }
        request.httpBodyStream = RecordingInputStream(stream, body)
        return request
    }

    /// A body that exceeds the limit is not read to its end.
    private func read(_ source: LoadBody, into body: RecordedBody) async throws {
        if let count = source.count, count > recorder.options.maximumBodySize || !recorder.options.recordsBodies {
            return body.skip(count)
        }
        for try await piece in source { body.append(piece) }
        body.finish()
    }
}
