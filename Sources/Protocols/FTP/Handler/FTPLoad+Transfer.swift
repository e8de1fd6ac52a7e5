import Foundation
import LoadingKitCore
import LoadingKitFTP

/// The transfer's beginning, and how it ends.
extension FTPLoad {
    func transferWillBegin(on connection: FTPConnection) {
        guard let request, let metrics = connection.metrics else { return }
        timings.beginRequest(on: metrics, isReused: isReused, at: loop.now)
        connection.begin(request.transfer)
    }

    func fileIsKnown(_ facts: FTPFacts, _ connection: FTPConnection) {
        guard let request else { return }
        self.facts = facts
        range = request.range(of: facts)
        connection.proceed(from: request.transfer.operation == .store ? request.bodyOffset : range?.lowerBound ?? 0)
    }

    func dataDidOpen() { connection?.dataDidOpen() }

    func dataDidFail(_ error: any Error) {
        dataError = error
        connection?.dataDidFail()
    }

    func dataDidBreak(_ error: any Error) {
        // What the server has to say is more than that.
        guard connection != nil else { return }
        fail(error)
    }

    func transferDidBegin(_ beginning: FTPClientStateMachine.Beginning) {
        guard let request, let receiver else { return }
        if isBlocked {
            heldBeginning = beginning
            return
        }
        self.beginning = beginning
        timings.requestEnd = loop.now
        switch request.transfer.operation {
        case .retrieve:
            if beginning.offset == 0, range?.lowerBound ?? 0 > 0 { range = nil }
            var facts = facts
            if facts.size == nil, request.transfer.path.form != .text { facts.size = beginning.announcedSize }
            give(FTPResponse.file(request, facts, range: range))
        case .list:
            let body = FTPListingBody(request, isMachineListing: beginning.isMachineListing)
            listing = body
            give(FTPResponse.listing(request))
            if self.receiver != nil { give(body.begin()) }
        case .store, .append:
            sender = request.body.map { FTPBodySender($0) }
            receiver.noteActivity()
        case .inspect, .makeDirectory: break
        }
        readData()
        sendData()
    }

    func give(_ response: URLResponse) {
        self.response = response
        timings.responseStart = loop.now
        if receiver?.receive(response) == .wait { isBlocked = true }
    }

    func give(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        timings.responseBodyBytesAfterDecoding += Int64(bytes.count)
        if bytes.withUnsafeBytes({ receiver?.receive($0) }) == .wait { isBlocked = true }
    }

    func transferDidFinish(_ facts: FTPFacts, _ connection: FTPConnection) {
        stopTransfer()
        release(connection)
        complete(facts)
    }

    /// The server has broken the transfer off. What came before is read first: a resumed download need not load it again.
    func transferDidFail(_ refusal: FTPRefusal) {
        readRest()
        guard let connection else { return }
        if isBlocked, isReading, !isDataOver {
            heldRefusal = refusal
            return
        }
        // Some servers say on the control connection, too, that TLS of a data connection came to nothing: the next
        // command would take that for its answer.
        let mayHaveMore = data != nil && connection.key.server.security != .none
        stopTransfer()
        if !mayHaveMore { release(connection) }
        fail(LoadFailure(refusal))
    }

    /// Whether a file's bytes come.
    var isReading: Bool {
        request?.transfer.operation == .retrieve && (beginning != nil || heldBeginning != nil)
    }

    func complete(_ facts: FTPFacts) {
        guard let request else { return }
        switch request.transfer.operation {
        case .retrieve: break
        case .list, .inspect, .store, .append, .makeDirectory:
            guard !isBlocked else {
                heldEnd = facts
                return
            }
        }
        switch request.transfer.operation {
        case .retrieve:
            if let expected = expectedCount, received < expected {
                return fail(LoadFailure.differentSize(received, expected: expected))
            }
        case .list: if let end = listingEnd() { give(end) } else { return }
        case .inspect: give(FTPResponse.file(request, facts, range: nil))
        case .store, .append, .makeDirectory: give(FTPResponse.written(request))
        }
        finish()
    }

    private func listingEnd() -> [UInt8]? {
        do {
            return try listing?.finish() ?? []
        } catch {
            fail(error)
            return nil
        }
    }

    /// How many bytes the server said that there are: with `SIZE`, which is exact.
    var expectedCount: Int64? {
        guard request?.transfer.path.form != .text else { return nil }
        return range.map { $0.upperBound - $0.lowerBound } ?? facts.size
    }
}
