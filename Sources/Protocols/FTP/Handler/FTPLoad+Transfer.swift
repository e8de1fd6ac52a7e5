import Foundation
import LoadingKitCore
import LoadingKitFTP
import LoadingKitTransport

extension FTPLoad {
    /// What is done on a connection on which the user is logged in.
    final class Transfer {
        enum Phase {
            /// The server has not begun.
            case asked
            /// Bytes come: of a file, or of a listing.
            case receiving(FTPListingBody?)
            /// What is left of a piece of the body, and what gives the next one.
            case sending(Data, more: (any BodySource)?)
            /// The body's source gives its next piece.
            case readingBody
            /// All bytes are sent. With a timer: the server has closed the data connection before, and may say why
            /// until then.
            case sent(LoopTimer?)
        }

        let plan: Plan
        let connection: FTPConnection
        var phase = Phase.asked
        var facts = FTPFacts()
        var range: Range<Int64>?
        var received: Int64 = 0

        init(_ plan: Plan, _ connection: FTPConnection) {
            self.plan = plan
            self.connection = connection
        }

        var request: FTPRequest { plan.request }

        var hasBegun: Bool { if case .asked = phase { false } else { true } }

        /// How many bytes the server said that there are: with `SIZE`, which is exact.
        var expectedCount: Int64? {
            guard request.transfer.path.form != .text else { return nil }
            return range.map { Int64($0.count) } ?? facts.size
        }

        /// Whether the part that was asked for is there, behind which the server would send on to the file's end.
        var isPartComplete: Bool { range.map { $0.upperBound != facts.size && received >= $0.count } ?? false }

        /// Nothing is received or sent any more.
        func stop() {
            if case .sent(let timer?) = phase { timer.cancel() }
            connection.data.close()
            request.body.abandon()
        }
    }

    // MARK: The beginning

    func beginTransfer(_ plan: Plan, _ connection: FTPConnection, isReused: Bool) {
        guard let metrics = connection.metrics else { return }
        timings.beginRequest(on: metrics, isReused: isReused, at: loop.now)
        state = .transferring(Transfer(plan, connection))
        connection.run { $0.begin(plan.request.transfer) }
    }

    func fileIsKnown(_ facts: FTPFacts, _ transfer: Transfer) {
        transfer.facts = facts
        transfer.range = transfer.request.range(of: facts)
        let isStored = transfer.request.transfer.operation == .store
        let offset = isStored ? transfer.request.bodyOffset : transfer.range?.lowerBound ?? 0
        transfer.connection.run { $0.proceed(from: offset) }
    }

    func transferDidBegin(_ beginning: FTPClientStateMachine.Beginning, _ transfer: Transfer) {
        let request = transfer.request
        timings.requestEnd = loop.now
        switch request.transfer.operation {
        case .retrieve:
            if beginning.offset == 0, transfer.range?.lowerBound ?? 0 > 0 { transfer.range = nil }
            var facts = transfer.facts
            if facts.size == nil, request.transfer.path.form != .text { facts.size = beginning.announcedSize }
            transfer.phase = .receiving(nil)
            give(request.fileResponse(facts, part: transfer.range))
        case .list:
            let listing = FTPListingBody(request, isMachineListing: beginning.isMachineListing)
            transfer.phase = .receiving(listing)
            give(request.listingResponse)
            listing.begin().withUnsafeBytes(give)
        case .store, .append:
            transfer.phase = .sending(request.body.data ?? Data(), more: request.body.source)
            receiver?.noteActivity()
        case .inspect, .makeDirectory: break
        }
        moveData()
    }

    // MARK: The end

    func transferDidFinish(_ facts: FTPFacts, _ transfer: Transfer) throws {
        let request = transfer.request
        switch request.transfer.operation {
        case .retrieve:
            if let expected = transfer.expectedCount, transfer.received < expected {
                throw LoadFailure(
                    .networkConnectionLost,
                    "the server sent \(transfer.received) bytes of the \(expected) that the file has")
            }
        case .list:
            if case .receiving(let listing?) = transfer.phase { try listing.finish().withUnsafeBytes(give) }
        case .inspect: give(request.fileResponse(facts, part: nil))
        case .store, .append, .makeDirectory: give(request.writtenResponse)
        }
        finish()
    }

    func transferDidFail(_ refusal: FTPRefusal, _ transfer: Transfer) {
        let failure = transfer.connection.failure(of: refusal)
        if transfer.connection.mayHearMore { transfer.connection.close() }
        fail(failure)
    }
}
