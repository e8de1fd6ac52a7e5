extension PoolTable {
    /// Under each state: the inputs, with the actions that follow, and the state after them. An input that concerns
    /// something that the state does not have has no effect.
    ///
    /// ``PoolTable/write(_:)`` makes this table anew; its differences show what a change of the pool does.
    static let expected = """
        ## undetermined, empty
        submit: 1 is queued, serve the queue later | undetermined, waiting 1, attempts 0
        submit, to a fresh connection: 1 is queued, serve the queue later | undetermined, waiting 1, attempts 0
        withdraw: - | undetermined, waiting 0, attempts 0
        serve the queue: - | undetermined, waiting 0, attempts 0
        open HTTP/1.1: - | undetermined, waiting 0, attempts 0
        open HTTP/2: - | undetermined, waiting 0, attempts 0
        adopt HTTP/1.1: keep 1 | http1 idle 1 active 0, waiting 0, attempts 0
        attempt failed: - | undetermined, waiting 0, attempts 0
        attempt reached no server: - | undetermined, waiting 0, attempts 0
        attempt timed out: - | undetermined, waiting 0, attempts 0
        attempt speaks none offered: - | undetermined, waiting 0, attempts 0
        attempt challenges: - | undetermined, waiting 0, attempts 0
        challenge ended: - | undetermined, waiting 0, attempts 0
        connection became idle: - | undetermined, waiting 0, attempts 0
        connection became idle, spent: - | undetermined, waiting 0, attempts 0
        connection became idle after an hour: - | undetermined, waiting 0, attempts 0
        connection closed: release | undetermined, waiting 0, attempts 0
        stream ended: - | undetermined, waiting 0, attempts 0
        server allows no streams: - | undetermined, waiting 0, attempts 0
        GOAWAY: - | undetermined, waiting 0, attempts 0
        connection ended before settings: - | undetermined, waiting 0, attempts 0
        refused: pause 0.05 s | undetermined, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | undetermined, waiting 0, attempts 0, pausing with streams
        pause ended: - | undetermined, waiting 0, attempts 0
        answered: - | undetermined, waiting 0, attempts 0
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 0, attempts 0
        streams cannot upgrade: release | http1 idle 0 active 0, waiting 0, attempts 0
        a minute passed: release | undetermined, waiting 0, attempts 0
        last request first: - | undetermined, waiting 0, attempts 0
        retire all: release | undetermined, waiting 0, attempts 0
        networks changed: release | undetermined, waiting 0, attempts 0
        networks and routes changed: release | undetermined, waiting 0, attempts 0
        session ended: release | undetermined, waiting 0, attempts 0, closing
        send ahead: - | undetermined, waiting 0, attempts 0
        make room: release | undetermined, waiting 0, attempts 0
        use room: - | undetermined, waiting 0, attempts 0
        ## undetermined, an attempt and two requests
        submit: 3 is queued, serve the queue later | undetermined, waiting 3, attempts 1
        submit, to a fresh connection: 3 is queued, serve the queue later | undetermined, waiting 3, attempts 1
        withdraw: - | undetermined, waiting 1, attempts 1
        serve the queue: - | undetermined, waiting 2, attempts 1
        open HTTP/1.1: assign 1 to 3 fresh, start #2 | http1 idle 0 active 1, waiting 1, attempts 1
        open HTTP/2: assign 1 to 3 stream, start #2 offering HTTP/2 | http2 open 1 of 1, waiting 1, attempts 1
        adopt HTTP/1.1: - | undetermined, waiting 2, attempts 1
        attempt failed: fail 1 attemptFailed, start #2 offering HTTP/2 | undetermined, waiting 1, attempts 1
        attempt reached no server: fail 1 attemptFailed, fail 2 attemptFailed, release | undetermined, waiting 0, attempts 0
        attempt timed out: start #2 offering HTTP/2 | undetermined, waiting 2, attempts 1
        attempt speaks none offered: fail 1 attemptFailed, start #2 offering HTTP/2 | undetermined, waiting 1, attempts 1
        attempt challenges: 1 is queued, 2 is queued | undetermined, waiting 2, attempts 1 of which challenge 1
        challenge ended: - | undetermined, waiting 2, attempts 1
        connection became idle: - | undetermined, waiting 2, attempts 1
        connection became idle, spent: - | undetermined, waiting 2, attempts 1
        connection became idle after an hour: - | undetermined, waiting 2, attempts 1
        connection closed: - | undetermined, waiting 2, attempts 1
        stream ended: - | undetermined, waiting 2, attempts 1
        server allows no streams: - | undetermined, waiting 2, attempts 1
        GOAWAY: - | undetermined, waiting 2, attempts 1
        connection ended before settings: - | undetermined, waiting 2, attempts 1
        refused: pause 0.05 s | undetermined, waiting 2, attempts 1, pausing
        stream refused: pause 0.05 s | undetermined, waiting 2, attempts 1, pausing with streams
        pause ended: - | undetermined, waiting 2, attempts 1
        answered: - | undetermined, waiting 2, attempts 1
        HTTP/1.1 required: cancel #1, start #2, start #3 | http1 idle 0 active 0, waiting 2, attempts 2
        streams cannot upgrade: start #2 | http1 idle 0 active 0, waiting 2, attempts 2
        a minute passed: - | undetermined, waiting 2, attempts 1
        last request first: - | undetermined, waiting 2, attempts 1
        retire all: cancel #1, start #2 offering HTTP/2 | undetermined, waiting 2, attempts 1
        networks changed: - | undetermined, waiting 2, attempts 1
        networks and routes changed: - | undetermined, waiting 2, attempts 1
        session ended: - | undetermined, waiting 2, attempts 1, closing
        send ahead: - | undetermined, waiting 2, attempts 1
        make room: - | undetermined, waiting 2, attempts 1
        use room: - | undetermined, waiting 2, attempts 1
        ## http1, empty
        submit: 1 is queued, serve the queue later | http1 idle 0 active 0, waiting 1, attempts 0
        submit, to a fresh connection: 1 is queued, serve the queue later | http1 idle 0 active 0, waiting 1, attempts 0
        withdraw: - | http1 idle 0 active 0, waiting 0, attempts 0
        serve the queue: - | http1 idle 0 active 0, waiting 0, attempts 0
        open HTTP/1.1: - | http1 idle 0 active 0, waiting 0, attempts 0
        open HTTP/2: - | http1 idle 0 active 0, waiting 0, attempts 0
        adopt HTTP/1.1: keep 1 | http1 idle 1 active 0, waiting 0, attempts 0
        attempt failed: - | http1 idle 0 active 0, waiting 0, attempts 0
        attempt reached no server: - | http1 idle 0 active 0, waiting 0, attempts 0
        attempt timed out: - | http1 idle 0 active 0, waiting 0, attempts 0
        attempt speaks none offered: - | http1 idle 0 active 0, waiting 0, attempts 0
        attempt challenges: - | http1 idle 0 active 0, waiting 0, attempts 0
        challenge ended: - | http1 idle 0 active 0, waiting 0, attempts 0
        connection became idle: - | http1 idle 0 active 0, waiting 0, attempts 0
        connection became idle, spent: - | http1 idle 0 active 0, waiting 0, attempts 0
        connection became idle after an hour: - | http1 idle 0 active 0, waiting 0, attempts 0
        connection closed: release | http1 idle 0 active 0, waiting 0, attempts 0
        stream ended: - | http1 idle 0 active 0, waiting 0, attempts 0
        server allows no streams: - | http1 idle 0 active 0, waiting 0, attempts 0
        GOAWAY: - | http1 idle 0 active 0, waiting 0, attempts 0
        connection ended before settings: - | http1 idle 0 active 0, waiting 0, attempts 0
        refused: pause 0.05 s | http1 idle 0 active 0, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 0, waiting 0, attempts 0, pausing with streams
        pause ended: - | http1 idle 0 active 0, waiting 0, attempts 0
        answered: - | http1 idle 0 active 0, waiting 0, attempts 0
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 0, attempts 0
        streams cannot upgrade: release | http1 idle 0 active 0, waiting 0, attempts 0
        a minute passed: release | http1 idle 0 active 0, waiting 0, attempts 0
        last request first: - | http1 idle 0 active 0, waiting 0, attempts 0
        retire all: release | http1 idle 0 active 0, waiting 0, attempts 0
        networks changed: release | http1 idle 0 active 0, waiting 0, attempts 0
        networks and routes changed: release | http1 idle 0 active 0, waiting 0, attempts 0
        session ended: release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        send ahead: - | http1 idle 0 active 0, waiting 0, attempts 0
        make room: release | http1 idle 0 active 0, waiting 0, attempts 0
        use room: - | http1 idle 0 active 0, waiting 0, attempts 0
        ## http1, an attempt
        submit: 2 is queued, serve the queue later | http1 idle 0 active 0, waiting 2, attempts 1
        submit, to a fresh connection: 2 is queued, serve the queue later | http1 idle 0 active 0, waiting 2, attempts 1
        withdraw: cancel #1, release | http1 idle 0 active 0, waiting 0, attempts 0
        serve the queue: - | http1 idle 0 active 0, waiting 1, attempts 1
        open HTTP/1.1: assign 1 to 2 fresh | http1 idle 0 active 1, waiting 0, attempts 0
        open HTTP/2: assign 1 to 2 stream | http2 open 1 of 1, waiting 0, attempts 0
        adopt HTTP/1.1: - | http1 idle 0 active 0, waiting 1, attempts 1
        attempt failed: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt reached no server: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt timed out: start #2 | http1 idle 0 active 0, waiting 1, attempts 1
        attempt speaks none offered: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt challenges: 1 is queued | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        challenge ended: - | http1 idle 0 active 0, waiting 1, attempts 1
        connection became idle: - | http1 idle 0 active 0, waiting 1, attempts 1
        connection became idle, spent: - | http1 idle 0 active 0, waiting 1, attempts 1
        connection became idle after an hour: - | http1 idle 0 active 0, waiting 1, attempts 1
        connection closed: - | http1 idle 0 active 0, waiting 1, attempts 1
        stream ended: - | http1 idle 0 active 0, waiting 1, attempts 1
        server allows no streams: - | http1 idle 0 active 0, waiting 1, attempts 1
        GOAWAY: - | http1 idle 0 active 0, waiting 1, attempts 1
        connection ended before settings: - | http1 idle 0 active 0, waiting 1, attempts 1
        refused: pause 0.05 s | http1 idle 0 active 0, waiting 1, attempts 1, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 0, waiting 1, attempts 1, pausing with streams
        pause ended: - | http1 idle 0 active 0, waiting 1, attempts 1
        answered: - | http1 idle 0 active 0, waiting 1, attempts 1
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 1, attempts 1
        streams cannot upgrade: - | http1 idle 0 active 0, waiting 1, attempts 1
        a minute passed: - | http1 idle 0 active 0, waiting 1, attempts 1
        last request first: - | http1 idle 0 active 0, waiting 1, attempts 1
        retire all: cancel #1, start #2 | http1 idle 0 active 0, waiting 1, attempts 1
        networks changed: - | http1 idle 0 active 0, waiting 1, attempts 1
        networks and routes changed: - | http1 idle 0 active 0, waiting 1, attempts 1
        session ended: - | http1 idle 0 active 0, waiting 1, attempts 1, closing
        send ahead: - | http1 idle 0 active 0, waiting 1, attempts 1
        make room: - | http1 idle 0 active 0, waiting 1, attempts 1
        use room: - | http1 idle 0 active 0, waiting 1, attempts 1
        ## http1, two attempts and three requests
        submit: 4 is queued, serve the queue later | http1 idle 0 active 0, waiting 4, attempts 2
        submit, to a fresh connection: 4 is queued, serve the queue later | http1 idle 0 active 0, waiting 4, attempts 2
        withdraw: 3 is not queued | http1 idle 0 active 0, waiting 2, attempts 2
        serve the queue: - | http1 idle 0 active 0, waiting 3, attempts 2
        open HTTP/1.1: assign 1 to 4 fresh | http1 idle 0 active 1, waiting 2, attempts 1
        open HTTP/2: assign 1 to 4 stream, 3 is not queued | http2 open 1 of 1, waiting 2, attempts 1
        adopt HTTP/1.1: - | http1 idle 0 active 0, waiting 3, attempts 2
        attempt failed: fail 1 attemptFailed, start #3, 3 is not queued | http1 idle 0 active 0, waiting 2, attempts 2
        attempt reached no server: fail 1 attemptFailed, start #3, 3 is not queued | http1 idle 0 active 0, waiting 2, attempts 2
        attempt timed out: start #3 | http1 idle 0 active 0, waiting 3, attempts 2
        attempt speaks none offered: fail 1 attemptFailed, start #3, 3 is not queued | http1 idle 0 active 0, waiting 2, attempts 2
        attempt challenges: 2 is queued | http1 idle 0 active 0, waiting 3, attempts 2 of which challenge 1
        challenge ended: - | http1 idle 0 active 0, waiting 3, attempts 2
        connection became idle: - | http1 idle 0 active 0, waiting 3, attempts 2
        connection became idle, spent: - | http1 idle 0 active 0, waiting 3, attempts 2
        connection became idle after an hour: - | http1 idle 0 active 0, waiting 3, attempts 2
        connection closed: - | http1 idle 0 active 0, waiting 3, attempts 2
        stream ended: - | http1 idle 0 active 0, waiting 3, attempts 2
        server allows no streams: - | http1 idle 0 active 0, waiting 3, attempts 2
        GOAWAY: - | http1 idle 0 active 0, waiting 3, attempts 2
        connection ended before settings: - | http1 idle 0 active 0, waiting 3, attempts 2
        refused: pause 0.05 s | http1 idle 0 active 0, waiting 3, attempts 2, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 0, waiting 3, attempts 2, pausing with streams
        pause ended: - | http1 idle 0 active 0, waiting 3, attempts 2
        answered: - | http1 idle 0 active 0, waiting 3, attempts 2
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 3, attempts 2
        streams cannot upgrade: - | http1 idle 0 active 0, waiting 3, attempts 2
        a minute passed: - | http1 idle 0 active 0, waiting 3, attempts 2
        last request first: 2 is queued, 3 is not queued | http1 idle 0 active 0, waiting 3, attempts 2
        retire all: cancel #2, cancel #1, start #3, start #4 | http1 idle 0 active 0, waiting 3, attempts 2
        networks changed: - | http1 idle 0 active 0, waiting 3, attempts 2
        networks and routes changed: - | http1 idle 0 active 0, waiting 3, attempts 2
        session ended: - | http1 idle 0 active 0, waiting 3, attempts 2, closing
        send ahead: - | http1 idle 0 active 0, waiting 3, attempts 2
        make room: - | http1 idle 0 active 0, waiting 3, attempts 2
        use room: - | http1 idle 0 active 0, waiting 3, attempts 2
        ## http1, an attempt that challenges
        submit: 2 is queued, serve the queue later | http1 idle 0 active 0, waiting 2, attempts 1 of which challenge 1
        submit, to a fresh connection: 2 is queued, serve the queue later | http1 idle 0 active 0, waiting 2, attempts 1 of which challenge 1
        withdraw: cancel #1, release | http1 idle 0 active 0, waiting 0, attempts 0
        serve the queue: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        open HTTP/1.1: assign 1 to 2 fresh | http1 idle 0 active 1, waiting 0, attempts 0
        open HTTP/2: assign 1 to 2 stream | http2 open 1 of 1, waiting 0, attempts 0
        adopt HTTP/1.1: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        attempt failed: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt reached no server: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt timed out: start #2, 1 is not queued | http1 idle 0 active 0, waiting 1, attempts 1
        attempt speaks none offered: fail 1 attemptFailed, release | http1 idle 0 active 0, waiting 0, attempts 0
        attempt challenges: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        challenge ended: 1 is not queued | http1 idle 0 active 0, waiting 1, attempts 1
        connection became idle: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        connection became idle, spent: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        connection became idle after an hour: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        connection closed: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        stream ended: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        server allows no streams: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        GOAWAY: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        connection ended before settings: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        refused: pause 0.05 s | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1, pausing with streams
        pause ended: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        answered: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        streams cannot upgrade: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        a minute passed: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        last request first: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        retire all: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        networks changed: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        networks and routes changed: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        session ended: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1, closing
        send ahead: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        make room: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        use room: - | http1 idle 0 active 0, waiting 1, attempts 1 of which challenge 1
        ## http1, active
        submit: 3 is queued, serve the queue later | http1 idle 0 active 1, waiting 1, attempts 0
        submit, to a fresh connection: 3 is queued, serve the queue later | http1 idle 0 active 1, waiting 1, attempts 0
        withdraw: - | http1 idle 0 active 1, waiting 0, attempts 0
        serve the queue: - | http1 idle 0 active 1, waiting 0, attempts 0
        open HTTP/1.1: - | http1 idle 0 active 1, waiting 0, attempts 0
        open HTTP/2: - | http1 idle 0 active 1, waiting 0, attempts 0
        adopt HTTP/1.1: - | http1 idle 0 active 1, waiting 0, attempts 0
        attempt failed: - | http1 idle 0 active 1, waiting 0, attempts 0
        attempt reached no server: - | http1 idle 0 active 1, waiting 0, attempts 0
        attempt timed out: - | http1 idle 0 active 1, waiting 0, attempts 0
        attempt speaks none offered: - | http1 idle 0 active 1, waiting 0, attempts 0
        attempt challenges: - | http1 idle 0 active 1, waiting 0, attempts 0
        challenge ended: - | http1 idle 0 active 1, waiting 0, attempts 0
        connection became idle: keep 2 | http1 idle 1 active 0, waiting 0, attempts 0
        connection became idle, spent: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        connection became idle after an hour: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        connection closed: release | http1 idle 0 active 0, waiting 0, attempts 0
        stream ended: - | http1 idle 0 active 1, waiting 0, attempts 0
        server allows no streams: - | http1 idle 0 active 1, waiting 0, attempts 0
        GOAWAY: - | http1 idle 0 active 1, waiting 0, attempts 0
        connection ended before settings: - | http1 idle 0 active 1, waiting 0, attempts 0
        refused: pause 0.05 s | http1 idle 0 active 1, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 1, waiting 0, attempts 0, pausing with streams
        pause ended: - | http1 idle 0 active 1, waiting 0, attempts 0
        answered: - | http1 idle 0 active 1, waiting 0, attempts 0
        HTTP/1.1 required: - | http1 idle 0 active 1, waiting 0, attempts 0
        streams cannot upgrade: - | http1 idle 0 active 1, waiting 0, attempts 0
        a minute passed: - | http1 idle 0 active 1, waiting 0, attempts 0
        last request first: - | http1 idle 0 active 1, waiting 0, attempts 0
        retire all: - | http1 idle 0 active 1, waiting 0, attempts 0
        networks changed: - | http1 idle 0 active 1, waiting 0, attempts 0
        networks and routes changed: - | http1 idle 0 active 1, waiting 0, attempts 0
        session ended: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        send ahead: - | http1 idle 0 active 1, waiting 0, attempts 0
        make room: - | http1 idle 0 active 1, waiting 0, attempts 0
        use room: - | http1 idle 0 active 1, waiting 0, attempts 0
        ## http1, idle
        submit: assign 3 to 2 fromIdle | http1 idle 0 active 1, waiting 0, attempts 0
        submit, to a fresh connection: 3 is queued, serve the queue later | http1 idle 1 active 0, waiting 1, attempts 0
        withdraw: - | http1 idle 1 active 0, waiting 0, attempts 0
        serve the queue: - | http1 idle 1 active 0, waiting 0, attempts 0
        open HTTP/1.1: - | http1 idle 1 active 0, waiting 0, attempts 0
        open HTTP/2: - | http1 idle 1 active 0, waiting 0, attempts 0
        adopt HTTP/1.1: - | http1 idle 1 active 0, waiting 0, attempts 0
        attempt failed: - | http1 idle 1 active 0, waiting 0, attempts 0
        attempt reached no server: - | http1 idle 1 active 0, waiting 0, attempts 0
        attempt timed out: - | http1 idle 1 active 0, waiting 0, attempts 0
        attempt speaks none offered: - | http1 idle 1 active 0, waiting 0, attempts 0
        attempt challenges: - | http1 idle 1 active 0, waiting 0, attempts 0
        challenge ended: - | http1 idle 1 active 0, waiting 0, attempts 0
        connection became idle: - | http1 idle 1 active 0, waiting 0, attempts 0
        connection became idle, spent: - | http1 idle 1 active 0, waiting 0, attempts 0
        connection became idle after an hour: - | http1 idle 1 active 0, waiting 0, attempts 0
        connection closed: release | http1 idle 0 active 0, waiting 0, attempts 0
        stream ended: - | http1 idle 1 active 0, waiting 0, attempts 0
        server allows no streams: - | http1 idle 1 active 0, waiting 0, attempts 0
        GOAWAY: - | http1 idle 1 active 0, waiting 0, attempts 0
        connection ended before settings: - | http1 idle 1 active 0, waiting 0, attempts 0
        refused: pause 0.05 s | http1 idle 1 active 0, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | http1 idle 1 active 0, waiting 0, attempts 0, pausing with streams
        pause ended: - | http1 idle 1 active 0, waiting 0, attempts 0
        answered: - | http1 idle 1 active 0, waiting 0, attempts 0
        HTTP/1.1 required: - | http1 idle 1 active 0, waiting 0, attempts 0
        streams cannot upgrade: - | http1 idle 1 active 0, waiting 0, attempts 0
        a minute passed: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        last request first: - | http1 idle 1 active 0, waiting 0, attempts 0
        retire all: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        networks changed: - | http1 idle 1 active 0, waiting 0, attempts 0
        networks and routes changed: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        session ended: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        send ahead: - | http1 idle 1 active 0, waiting 0, attempts 0
        make room: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        use room: - | http1 idle 1 active 0, waiting 0, attempts 0
        ## http1, all active and two requests
        submit: 7 is queued, serve the queue later | http1 idle 0 active 2, waiting 3, attempts 0
        submit, to a fresh connection: 7 is queued, serve the queue later | http1 idle 0 active 2, waiting 3, attempts 0
        withdraw: - | http1 idle 0 active 2, waiting 1, attempts 0
        serve the queue: - | http1 idle 0 active 2, waiting 2, attempts 0
        open HTTP/1.1: - | http1 idle 0 active 2, waiting 2, attempts 0
        open HTTP/2: - | http1 idle 0 active 2, waiting 2, attempts 0
        adopt HTTP/1.1: - | http1 idle 0 active 2, waiting 2, attempts 0
        attempt failed: - | http1 idle 0 active 2, waiting 2, attempts 0
        attempt reached no server: - | http1 idle 0 active 2, waiting 2, attempts 0
        attempt timed out: - | http1 idle 0 active 2, waiting 2, attempts 0
        attempt speaks none offered: - | http1 idle 0 active 2, waiting 2, attempts 0
        attempt challenges: - | http1 idle 0 active 2, waiting 2, attempts 0
        challenge ended: - | http1 idle 0 active 2, waiting 2, attempts 0
        connection became idle: assign 3 to 5 atOnce, send ahead later | http1 idle 0 active 2, waiting 1, attempts 0
        connection became idle, spent: close 5, start #3, 3 is not queued | http1 idle 0 active 1, waiting 2, attempts 1
        connection became idle after an hour: close 5, start #3, 3 is not queued | http1 idle 0 active 1, waiting 2, attempts 1
        connection closed: start #3, 3 is not queued | http1 idle 0 active 1, waiting 2, attempts 1
        stream ended: - | http1 idle 0 active 2, waiting 2, attempts 0
        server allows no streams: - | http1 idle 0 active 2, waiting 2, attempts 0
        GOAWAY: - | http1 idle 0 active 2, waiting 2, attempts 0
        connection ended before settings: - | http1 idle 0 active 2, waiting 2, attempts 0
        refused: pause 0.05 s | http1 idle 0 active 2, waiting 2, attempts 0, pausing
        stream refused: pause 0.05 s | http1 idle 0 active 2, waiting 2, attempts 0, pausing with streams
        pause ended: - | http1 idle 0 active 2, waiting 2, attempts 0
        answered: - | http1 idle 0 active 2, waiting 2, attempts 0
        HTTP/1.1 required: - | http1 idle 0 active 2, waiting 2, attempts 0
        streams cannot upgrade: - | http1 idle 0 active 2, waiting 2, attempts 0
        a minute passed: - | http1 idle 0 active 2, waiting 2, attempts 0
        last request first: - | http1 idle 0 active 2, waiting 2, attempts 0
        retire all: - | http1 idle 0 active 2, waiting 2, attempts 0
        networks changed: - | http1 idle 0 active 2, waiting 2, attempts 0
        networks and routes changed: - | http1 idle 0 active 2, waiting 2, attempts 0
        session ended: - | http1 idle 0 active 2, waiting 2, attempts 0, closing
        send ahead: - | http1 idle 0 active 2, waiting 2, attempts 0
        make room: - | http1 idle 0 active 2, waiting 2, attempts 0
        use room: - | http1 idle 0 active 2, waiting 2, attempts 0
        ## http2, no connection
        submit: 1 is queued, serve the queue later | http2 no connection, waiting 1, attempts 0
        submit, to a fresh connection: 1 is queued, serve the queue later | http2 no connection, waiting 1, attempts 0
        withdraw: - | http2 no connection, waiting 0, attempts 0
        serve the queue: - | http2 no connection, waiting 0, attempts 0
        open HTTP/1.1: - | http2 no connection, waiting 0, attempts 0
        open HTTP/2: - | http2 no connection, waiting 0, attempts 0
        adopt HTTP/1.1: keep 1 | http1 idle 1 active 0, waiting 0, attempts 0
        attempt failed: - | http2 no connection, waiting 0, attempts 0
        attempt reached no server: - | http2 no connection, waiting 0, attempts 0
        attempt timed out: - | http2 no connection, waiting 0, attempts 0
        attempt speaks none offered: - | http2 no connection, waiting 0, attempts 0
        attempt challenges: - | http2 no connection, waiting 0, attempts 0
        challenge ended: - | http2 no connection, waiting 0, attempts 0
        connection became idle: - | http2 no connection, waiting 0, attempts 0
        connection became idle, spent: - | http2 no connection, waiting 0, attempts 0
        connection became idle after an hour: - | http2 no connection, waiting 0, attempts 0
        connection closed: release | http2 no connection, waiting 0, attempts 0
        stream ended: - | http2 no connection, waiting 0, attempts 0
        server allows no streams: - | http2 no connection, waiting 0, attempts 0
        GOAWAY: - | http2 no connection, waiting 0, attempts 0
        connection ended before settings: - | http2 no connection, waiting 0, attempts 0
        refused: pause 0.05 s | http2 no connection, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | http2 no connection, waiting 0, attempts 0, pausing with streams
        pause ended: - | http2 no connection, waiting 0, attempts 0
        answered: - | http2 no connection, waiting 0, attempts 0
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 0, attempts 0
        streams cannot upgrade: release | http1 idle 0 active 0, waiting 0, attempts 0
        a minute passed: release | http2 no connection, waiting 0, attempts 0
        last request first: - | http2 no connection, waiting 0, attempts 0
        retire all: release | http2 no connection, waiting 0, attempts 0
        networks changed: release | http2 no connection, waiting 0, attempts 0
        networks and routes changed: release | http2 no connection, waiting 0, attempts 0
        session ended: release | http2 no connection, waiting 0, attempts 0, closing
        send ahead: - | http2 no connection, waiting 0, attempts 0
        make room: release | http2 no connection, waiting 0, attempts 0
        use room: - | http2 no connection, waiting 0, attempts 0
        ## http2, idle
        submit: assign 3 to 2 stream | http2 open 1 of 2, waiting 0, attempts 0
        submit, to a fresh connection: assign 3 to 2 stream | http2 open 1 of 2, waiting 0, attempts 0
        withdraw: - | http2 open 0 of 2, waiting 0, attempts 0
        serve the queue: - | http2 open 0 of 2, waiting 0, attempts 0
        open HTTP/1.1: - | http2 open 0 of 2, waiting 0, attempts 0
        open HTTP/2: - | http2 open 0 of 2, waiting 0, attempts 0
        adopt HTTP/1.1: - | http2 open 0 of 2, waiting 0, attempts 0
        attempt failed: - | http2 open 0 of 2, waiting 0, attempts 0
        attempt reached no server: - | http2 open 0 of 2, waiting 0, attempts 0
        attempt timed out: - | http2 open 0 of 2, waiting 0, attempts 0
        attempt speaks none offered: - | http2 open 0 of 2, waiting 0, attempts 0
        attempt challenges: - | http2 open 0 of 2, waiting 0, attempts 0
        challenge ended: - | http2 open 0 of 2, waiting 0, attempts 0
        connection became idle: - | http2 open 0 of 2, waiting 0, attempts 0
        connection became idle, spent: - | http2 open 0 of 2, waiting 0, attempts 0
        connection became idle after an hour: - | http2 open 0 of 2, waiting 0, attempts 0
        connection closed: release | http2 no connection, waiting 0, attempts 0
        stream ended: - | http2 open 0 of 2, waiting 0, attempts 0
        server allows no streams: close 2, release | http2 no connection, waiting 0, attempts 0
        GOAWAY: - | http2 no connection, waiting 0, attempts 0
        connection ended before settings: - | http2 open 0 of 2, waiting 0, attempts 0
        refused: pause 0.05 s | http2 open 0 of 2, waiting 0, attempts 0, pausing
        stream refused: pause 0.05 s | http2 open 0 of 2, waiting 0, attempts 0, pausing with streams
        pause ended: - | http2 open 0 of 2, waiting 0, attempts 0
        answered: - | http2 open 0 of 2, waiting 0, attempts 0
        HTTP/1.1 required: retire 2 | http1 idle 0 active 0, waiting 0, attempts 0
        streams cannot upgrade: retire 2, release | http1 idle 0 active 0, waiting 0, attempts 0
        a minute passed: close 2, release | http2 no connection, waiting 0, attempts 0
        last request first: - | http2 open 0 of 2, waiting 0, attempts 0
        retire all: close 2, release | http2 no connection, waiting 0, attempts 0
        networks changed: check 2 | http2 open 0 of 2 awaits the server, waiting 0, attempts 0
        networks and routes changed: close 2, release | http2 no connection, waiting 0, attempts 0
        session ended: close 2, release | http2 no connection, waiting 0, attempts 0, closing
        send ahead: - | http2 open 0 of 2, waiting 0, attempts 0
        make room: close 2, release | http2 no connection, waiting 0, attempts 0
        use room: - | http2 open 0 of 2, waiting 0, attempts 0
        ## http2, full, an attempt and a request
        submit: 5 is queued, serve the queue later | http2 open 2 of 2, waiting 2, attempts 1
        submit, to a fresh connection: 5 is queued, serve the queue later | http2 open 2 of 2, waiting 2, attempts 1
        withdraw: cancel #2 | http2 open 2 of 2, waiting 0, attempts 0
        serve the queue: - | http2 open 2 of 2, waiting 1, attempts 1
        open HTTP/1.1: retire 4, assign 3 to 5 fresh | http1 idle 0 active 1, waiting 0, attempts 0
        open HTTP/2: assign 3 to 5 stream | http2 open 2 of 2 open 1 of 1, waiting 0, attempts 0
        adopt HTTP/1.1: - | http2 open 2 of 2, waiting 1, attempts 1
        attempt failed: fail 3 attemptFailed | http2 open 2 of 2, waiting 0, attempts 0
        attempt reached no server: fail 3 attemptFailed | http2 open 2 of 2, waiting 0, attempts 0
        attempt timed out: start #3 offering HTTP/2 | http2 open 2 of 2, waiting 1, attempts 1
        attempt speaks none offered: fail 3 attemptFailed | http2 open 2 of 2, waiting 0, attempts 0
        attempt challenges: 3 is queued | http2 open 2 of 2, waiting 1, attempts 1 of which challenge 1
        challenge ended: - | http2 open 2 of 2, waiting 1, attempts 1
        connection became idle: - | http2 open 2 of 2, waiting 1, attempts 1
        connection became idle, spent: - | http2 open 2 of 2, waiting 1, attempts 1
        connection became idle after an hour: - | http2 open 2 of 2, waiting 1, attempts 1
        connection closed: - | http2 no connection, waiting 1, attempts 1
        stream ended: assign 3 to 4 stream, cancel #2 | http2 open 2 of 2, waiting 0, attempts 0
        server allows no streams: - | http2 open 2 of 2, waiting 1, attempts 1
        GOAWAY: - | http2 no connection, waiting 1, attempts 1
        connection ended before settings: - | http2 open 2 of 2, waiting 1, attempts 1
        refused: pause 0.05 s | http2 open 2 of 2, waiting 1, attempts 1, pausing
        stream refused: pause 0.05 s | http2 open 2 of 2, waiting 1, attempts 1, pausing with streams
        pause ended: - | http2 open 2 of 2, waiting 1, attempts 1
        answered: - | http2 open 2 of 2, waiting 1, attempts 1
        HTTP/1.1 required: retire 4, cancel #2, start #3 | http1 idle 0 active 0, waiting 1, attempts 1
        streams cannot upgrade: retire 4 | http1 idle 0 active 0, waiting 1, attempts 1
        a minute passed: - | http2 open 2 of 2, waiting 1, attempts 1
        last request first: - | http2 open 2 of 2, waiting 1, attempts 1
        retire all: cancel #2, retire 4, start #3 offering HTTP/2 | http2 no connection, waiting 1, attempts 1
        networks changed: check 4 | http2 open 2 of 2 awaits the server, waiting 1, attempts 1
        networks and routes changed: retire 4 | http2 no connection, waiting 1, attempts 1
        session ended: - | http2 open 2 of 2, waiting 1, attempts 1, closing
        send ahead: - | http2 open 2 of 2, waiting 1, attempts 1
        make room: - | http2 open 2 of 2, waiting 1, attempts 1
        use room: - | http2 open 2 of 2, waiting 1, attempts 1
        ## http2 for an upgrade, awaits the server
        submit: 3 is queued, serve the queue later | http2 open 0 of 0 awaits the server, waiting 2, attempts 0
        submit, to a fresh connection: 3 is queued, serve the queue later | http2 open 0 of 0 awaits the server, waiting 2, attempts 0
        withdraw: - | http2 open 0 of 0 awaits the server, waiting 0, attempts 0
        serve the queue: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        open HTTP/1.1: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        open HTTP/2: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        adopt HTTP/1.1: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        attempt failed: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        attempt reached no server: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        attempt timed out: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        attempt speaks none offered: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        attempt challenges: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        challenge ended: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        connection became idle: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        connection became idle, spent: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        connection became idle after an hour: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        connection closed: start #3 offering HTTP/2 | http2 no connection, waiting 1, attempts 1
        stream ended: assign 1 to 2 stream | http2 open 1 of 2, waiting 0, attempts 0
        server allows no streams: close 2, pause 0.05 s, 1 is queued | http2 no connection, waiting 1, attempts 0, pausing
        GOAWAY: pause 0.05 s, 1 is queued | http2 no connection, waiting 1, attempts 0, pausing
        connection ended before settings: fail 1 attemptFailed, release | http2 no connection, waiting 0, attempts 0
        refused: pause 0.05 s | http2 open 0 of 0 awaits the server, waiting 1, attempts 0, pausing
        stream refused: pause 0.05 s | http2 open 0 of 0 awaits the server, waiting 1, attempts 0, pausing with streams
        pause ended: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        answered: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        HTTP/1.1 required: retire 2, start #3 | http1 idle 0 active 0, waiting 1, attempts 1
        streams cannot upgrade: retire 2, fail 1 opensNoWebSocket, release | http1 idle 0 active 0, waiting 0, attempts 0
        a minute passed: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        last request first: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        retire all: close 2, start #3 offering HTTP/2 | http2 no connection, waiting 1, attempts 1
        networks changed: check 2 | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        networks and routes changed: close 2, start #3 offering HTTP/2 | http2 no connection, waiting 1, attempts 1
        session ended: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0, closing
        send ahead: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        make room: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        use room: - | http2 open 0 of 0 awaits the server, waiting 1, attempts 0
        ## pausing
        submit: 4 is queued, serve the queue later | http2 no connection, waiting 2, attempts 0, pausing
        submit, to a fresh connection: 4 is queued, serve the queue later | http2 no connection, waiting 2, attempts 0, pausing
        withdraw: release | http2 no connection, waiting 0, attempts 0, pausing
        serve the queue: - | http2 no connection, waiting 1, attempts 0, pausing
        open HTTP/1.1: - | http2 no connection, waiting 1, attempts 0, pausing
        open HTTP/2: - | http2 no connection, waiting 1, attempts 0, pausing
        adopt HTTP/1.1: - | http2 no connection, waiting 1, attempts 0, pausing
        attempt failed: - | http2 no connection, waiting 1, attempts 0, pausing
        attempt reached no server: - | http2 no connection, waiting 1, attempts 0, pausing
        attempt timed out: - | http2 no connection, waiting 1, attempts 0, pausing
        attempt speaks none offered: - | http2 no connection, waiting 1, attempts 0, pausing
        attempt challenges: - | http2 no connection, waiting 1, attempts 0, pausing
        challenge ended: - | http2 no connection, waiting 1, attempts 0, pausing
        connection became idle: - | http2 no connection, waiting 1, attempts 0, pausing
        connection became idle, spent: - | http2 no connection, waiting 1, attempts 0, pausing
        connection became idle after an hour: - | http2 no connection, waiting 1, attempts 0, pausing
        connection closed: - | http2 no connection, waiting 1, attempts 0, pausing
        stream ended: - | http2 no connection, waiting 1, attempts 0, pausing
        server allows no streams: - | http2 no connection, waiting 1, attempts 0, pausing
        GOAWAY: - | http2 no connection, waiting 1, attempts 0, pausing
        connection ended before settings: - | http2 no connection, waiting 1, attempts 0, pausing
        refused: - | http2 no connection, waiting 1, attempts 0, pausing
        stream refused: pause 0.05 s | http2 no connection, waiting 1, attempts 0, pausing with streams
        pause ended: start #2 offering HTTP/2, 3 is not queued | http2 no connection, waiting 1, attempts 1
        answered: end pause, start #2 offering HTTP/2, 3 is not queued | http2 no connection, waiting 1, attempts 1
        HTTP/1.1 required: - | http1 idle 0 active 0, waiting 1, attempts 0, pausing
        streams cannot upgrade: - | http1 idle 0 active 0, waiting 1, attempts 0, pausing
        a minute passed: - | http2 no connection, waiting 1, attempts 0, pausing
        last request first: - | http2 no connection, waiting 1, attempts 0, pausing
        retire all: - | http2 no connection, waiting 1, attempts 0, pausing
        networks changed: - | http2 no connection, waiting 1, attempts 0, pausing
        networks and routes changed: - | http2 no connection, waiting 1, attempts 0, pausing
        session ended: - | http2 no connection, waiting 1, attempts 0, pausing, closing
        send ahead: - | http2 no connection, waiting 1, attempts 0, pausing
        make room: - | http2 no connection, waiting 1, attempts 0, pausing
        use room: - | http2 no connection, waiting 1, attempts 0, pausing
        ## http2, pausing with streams, a request
        submit: 4 is queued, serve the queue later | http2 open 0 of 2, waiting 2, attempts 0, pausing with streams
        submit, to a fresh connection: 4 is queued, serve the queue later | http2 open 0 of 2, waiting 2, attempts 0, pausing with streams
        withdraw: - | http2 open 0 of 2, waiting 0, attempts 0, pausing with streams
        serve the queue: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        open HTTP/1.1: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        open HTTP/2: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        adopt HTTP/1.1: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        attempt failed: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        attempt reached no server: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        attempt timed out: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        attempt speaks none offered: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        attempt challenges: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        challenge ended: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        connection became idle: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        connection became idle, spent: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        connection became idle after an hour: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        connection closed: - | http2 no connection, waiting 1, attempts 0, pausing with streams
        stream ended: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        server allows no streams: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams
        GOAWAY: - | http2 no connection, waiting 1, attempts 0, pausing with streams
        connection ended before settings: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        refused: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        stream refused: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        pause ended: assign 3 to 2 stream | http2 open 1 of 2, waiting 0, attempts 0
        answered: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        HTTP/1.1 required: retire 2 | http1 idle 0 active 0, waiting 1, attempts 0, pausing with streams
        streams cannot upgrade: retire 2 | http1 idle 0 active 0, waiting 1, attempts 0, pausing with streams
        a minute passed: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams
        last request first: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        retire all: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams
        networks changed: check 2, 3 is not queued | http2 open 0 of 2 awaits the server, waiting 1, attempts 0, pausing with streams
        networks and routes changed: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams
        session ended: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams, closing
        send ahead: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        make room: close 2 | http2 no connection, waiting 1, attempts 0, pausing with streams
        use room: - | http2 open 0 of 2, waiting 1, attempts 0, pausing with streams
        ## closing, active
        submit: 3 is queued, serve the queue later | http1 idle 0 active 1, waiting 1, attempts 0, closing
        submit, to a fresh connection: 3 is queued, serve the queue later | http1 idle 0 active 1, waiting 1, attempts 0, closing
        withdraw: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        serve the queue: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        open HTTP/1.1: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        open HTTP/2: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        adopt HTTP/1.1: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        attempt failed: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        attempt reached no server: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        attempt timed out: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        attempt speaks none offered: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        attempt challenges: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        challenge ended: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        connection became idle: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        connection became idle, spent: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        connection became idle after an hour: close 2, release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        connection closed: release | http1 idle 0 active 0, waiting 0, attempts 0, closing
        stream ended: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        server allows no streams: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        GOAWAY: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        connection ended before settings: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        refused: pause 0.05 s | http1 idle 0 active 1, waiting 0, attempts 0, pausing, closing
        stream refused: pause 0.05 s | http1 idle 0 active 1, waiting 0, attempts 0, pausing with streams, closing
        pause ended: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        answered: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        HTTP/1.1 required: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        streams cannot upgrade: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        a minute passed: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        last request first: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        retire all: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        networks changed: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        networks and routes changed: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        session ended: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        send ahead: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        make room: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        use room: - | http1 idle 0 active 1, waiting 0, attempts 0, closing
        """
}
