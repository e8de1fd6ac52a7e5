import LoadingKitLoopbackServer

/// The events on a scripted peer's connections.
final class ConnectionLog: Sendable {
    let openings = Recorder<Int>()
    let endings = Recorder<RecordedConnection>()
    private let connections = Box<[Int: RecordedConnection]>([:])

    var snapshot: [RecordedConnection] {
        connections.value.values.sorted { $0.number < $1.number }
    }

    func opened(_ number: Int) {
        connections.update { $0[number] = RecordedConnection(number: number) }
        openings.append(number)
    }

    func received(_ bytes: [UInt8], on number: Int) {
        connections.update { $0[number]?.received += bytes }
    }

    func startedTLS(_ facts: TLSFacts?, on number: Int) {
        connections.update { $0[number]?.tls = facts }
    }

    func ended(_ number: Int, _ ending: RecordedConnection.Ending) {
        let connection = connections.update { connections in
            connections[number]?.ending = ending
            return connections[number]
        }
        if let connection { endings.append(connection) }
    }
}
