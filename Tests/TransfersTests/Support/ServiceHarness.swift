import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPersistence
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport

@testable import LoadingKitCore
@testable import LoadingKitTransfers

/// A folder with a journal, a clock that the test moves, and the services that work there one after the other.
final class ServiceHarness: Sendable {
    let folder: TemporaryFolder
    let time = ManualTime()
    let wall = Box(Date(timeIntervalSince1970: 1_800_000_000))
    /// How much of each longest pause is taken. Each time that it is asked for is recorded.
    let randomness = Box(0.0)
    let pauses = Recorder<Double>()
    let launches = Recorder<[String]>()
    let conditionsAreGood = Box(true)
    let conditionLooks = Recorder<Bool>()
    let boot = Box("boot")
    let makeConfiguration = Box<@Sendable () -> URLSessionConfiguration>({ .ephemeral })
    /// Of files to upload; below 0: none are made.
    let largestCopy = Box(UploadFile.largestCopy)

    init() throws { folder = try TemporaryFolder() }

    var journal: any TransferJournal {
        get throws { try TransferDatabase(folder: folder.file("state")) }
    }

    func start(_ journal: (any TransferJournal)? = nil) throws -> TransferService {
        var environment = TransferService.Environment { [makeConfiguration] _ in makeConfiguration.value() }
        environment.wallClock = WallClock { [wall] in wall.value }
        environment.time = .manual(time)
        environment.random = { [randomness, pauses] in
            pauses.append(randomness.value)
            return randomness.value
        }
        environment.launch = { [launches] in launches.append($0 + [$1.identifier]) }
        environment.areConditionsGood = { [conditionsAreGood, conditionLooks] in
            conditionLooks.append(conditionsAreGood.value)
            return conditionsAreGood.value
        }
        environment.bootIdentifier = boot.value
        environment.largestCopy = largestCopy.value
        return try TransferService(
            journal: try journal ?? self.journal, folder: folder.file("downloads"), environment)
    }

    /// Time goes on, by both clocks.
    func pass(_ seconds: Int) {
        wall.update { $0.addTimeInterval(TimeInterval(seconds)) }
        time.advance(by: .seconds(seconds))
    }

    func description(
        _ identifier: String = "s", program: String = "/p", _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> SessionDescription {
        let configuration = URLSessionConfiguration.ephemeral
        change(configuration)
        return try SessionDescription(
            configuration.settings, identifier: identifier, program: program, storeFolder: nil)
    }

    /// The files of transfers that are there.
    var files: [String] {
        let all = FileManager.default.enumerator(atPath: folder.file("downloads").path)?.compactMap { $0 as? String }
        return (all ?? []).filter { $0.hasSuffix(".part") || $0.hasSuffix(".upload") }.sorted()
    }
}

/// Runs a test with a service, a server of one resource, and a program that is attached.
///
/// - Parameter count: The resource's size in bytes.
func withProgram(
    count: Int = 1_000_000,
    _ body: @escaping @Sendable (ServiceHarness, RangeServer, TransferService, TestProgram) async throws -> Void
) async throws {
    try await withTimeout {
        let (harness, server) = (try ServiceHarness(), try RangeServer(count: count))
        defer { server.stop() }
        let service = try harness.start()
        defer { service.stop() }
        try await body(harness, server, service, TestProgram(service, try harness.description()))
    }
}

/// A program with a background session.
final class TestProgram: Sendable {
    let events = Recorder<TransferEvent>()
    let channel: any TransferChannel

    init(_ service: TransferService, _ description: SessionDescription) {
        channel = service.makeChannel(for: description) { [events] in events.append($0) }
        channel.attach()
    }

    /// The state that it found, once it is attached.
    func attached() async throws -> SessionState {
        let found = await events.contents { $0.contains { $0.isGreeting } }
        for case .attached(let state) in found { return state }
        for case .detached(let error) in found { throw error.error }
        throw CancellationError()
    }

    func perform(_ command: TransferCommand, descriptors: [OwnedDescriptor] = []) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            channel.send(command, descriptors: descriptors) { error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    func download(
        _ identifier: Int, _ url: String, _ change: (inout TransferRecord) -> Void = { _ in }
    ) async throws {
        try await begin(identifier, .download, url, change)
    }

    func upload(
        _ identifier: Int, _ file: String, to url: String, _ change: (inout TransferRecord) -> Void = { _ in }
    ) async throws {
        try await begin(identifier, .upload, url) { transfer in
            transfer.uploadFile = file
            transfer.request.method = "PUT"
            change(&transfer)
        }
    }

    private func begin(
        _ identifier: Int, _ kind: TransferRecord.Kind, _ url: String,
        _ change: (inout TransferRecord) -> Void
    ) async throws {
        guard let url = URL(string: url), let request = TransferRequest(URLRequest(url: url)) else {
            throw URLError(.badURL)
        }
        var transfer = TransferRecord(identifier: identifier, kind: kind, request: request)
        change(&transfer)
        try await perform(.begin(transfer))
    }

    /// The end of a transfer, once it has come.
    func end(of identifier: Int) async throws -> TransferStatus {
        let found = await events.contents { $0.contains { $0.endedTransfer == identifier } }
        for case .ended(identifier, let end) in found { return end }
        throw CancellationError()
    }

    func takeAll(_ identifier: Int) async throws {
        for part in [TransferStatus.Part.content, .metrics, .completion] {
            try await perform(.take(identifier, part))
        }
    }

    /// The challenges that it was asked, once there are so many.
    func challenge(_ count: Int) async throws -> (transfer: Int, number: Int, challenge: TransferChallenge) {
        let found = await events.contents { $0.count { $0.isChallenge } >= count }
        let challenges = found.filter(\.isChallenge)
        guard case .challenge(let transfer, let number, let challenge)? = challenges.dropFirst(count - 1).first else {
            throw CancellationError()
        }
        return (transfer, number, challenge)
    }
}

extension TransferEvent {
    fileprivate var isGreeting: Bool {
        switch self {
        case .attached, .detached: true
        case _: false
        }
    }

    var isChallenge: Bool { if case .challenge = self { true } else { false } }

    var endedTransfer: Int? { if case .ended(let identifier, _) = self { identifier } else { nil } }

    /// Its name, for comparing orders.
    var name: String { "\(self)".prefix { $0 != "(" }.description }
}
