/// Load generators: programs that parse little and keep nothing, so that what they cost is a floor. They verify no
/// certificates. Their processor time includes their start, of a few milliseconds.
enum LoadGenerator {
    /// wrk, for a second, with a connection for each request at a time.
    static func wrk(_ load: Load) -> Contestant {
        Contestant(implementation: "wrk") { nginx in
            let arguments = ["-t1", "-c\(load.atATime)", "-d1s", "--latency", load.url(nginx.ports)]
            let process = try Command("wrk", arguments)
            let words = Words(process.output)
            guard words.next(to: "Socket errors:") == nil, words.next(to: "Non-2xx") == nil,
                let requests = words.number(before: "requests in"), requests > 0,
                let time = words.microseconds(after: "requests in")
            else { throw Failure("wrk: \(process.output)") }
            return Run(
                requests: requests, bytes: requests * Double(load.length), processorTime: process.processorTime,
                time: time, latencyMedian: words.microseconds(after: "50%"),
                latency99th: words.microseconds(after: "99%"))
        }
    }

    /// h2load, over as few connections as the server's limit of 128 streams lets.
    static func h2load(_ load: Load, requests: Int) -> Contestant {
        Contestant(implementation: "h2load") { nginx in
            let connections = (load.atATime + 127) / 128
            let arguments = [
                "-n\(requests)", "-c\(connections)", "-m\(load.atATime / connections)", load.url(nginx.ports),
            ]
            let process = try Command("h2load", arguments)
            let words = Words(process.output)
            guard words.number(before: "succeeded,") == Double(requests),
                words.number(before: "2xx,") == Double(requests),
                let time = words.microseconds(after: "finished in")
            else { throw Failure("h2load: \(process.output)") }
            return Run(
                requests: Double(requests), bytes: Double(requests * load.length),
                processorTime: process.processorTime, time: time)
        }
    }
}
