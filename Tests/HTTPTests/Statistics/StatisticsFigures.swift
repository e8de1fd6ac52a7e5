import Foundation
import LoadingKit

extension URLSession.Statistics {
    /// The figures above 0 that depend on no time and size, by their names.
    var figures: [String: Int] {
        var all: [String: Int] = [
            "tasks.begun": tasks.begun, "tasks.succeeded": tasks.succeeded,
            "tasks.failed.handler": tasks.failedByHandler,
            "requests.loads": requests.loads, "requests.waiting": requests.waiting,
            "requests.longestQueue": requests.longestQueue, "requests.new": requests.onNewConnections,
            "requests.used": requests.onUsedConnections, "requests.redirects": requests.redirects,
            "requests.failedConnects": requests.failedConnects, "connections.opening": connections.opening,
            "connections.cancelled": connections.cancelled, "cache.stored": cache.stored,
            "cookies.stored": cookies.stored, "cookies.requests": cookies.requests,
            "times.lookUps": nameLookUps.count, "times.connects": connects.count, "times.handshakes": handshakes.count,
            "times.firstBytes": firstBytes.count,
        ]
        let kinds = [
            ("data", tasks.data), ("upload", tasks.upload), ("download", tasks.download), ("stream", tasks.stream),
            ("webSocket", tasks.webSocket),
        ]
        for (name, states) in kinds {
            all["tasks.\(name).running"] = states.running
            all["tasks.\(name).suspended"] = states.suspended
            all["tasks.\(name).canceling"] = states.canceling
        }
        for (name, states) in connections.open {
            all["connections.\(name).active"] = states.active
            all["connections.\(name).idle"] = states.idle
            all["connections.\(name).closing"] = states.closing
        }
        for (code, count) in tasks.failed { all["tasks.failed.\(code.rawValue)"] = count }
        for (digit, count) in requests.responses { all["requests.\(digit)xx"] = count }
        let reasons = [
            ("requests.retries", requests.retries), ("connections.opened", connections.opened),
            ("connections.closed", connections.closed), ("connections.failed", connections.failed),
            ("cache.hits", cache.hits), ("cache.misses", cache.misses), ("cache.validations", cache.validations),
            ("cache.notStored", cache.notStored), ("cookies.refused", cookies.refused),
            ("challenges", challenges.received), ("answers", challenges.answers),
        ]
        for (name, counts) in reasons {
            for (reason, count) in counts { all["\(name).\(reason)"] = count }
        }
        return all.filter { $0.value != 0 }
    }
}
