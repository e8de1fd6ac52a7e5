/// The steps of a transfer in its folder: facts, the data connection, and the transfer's command.
extension FTPClientStateMachine {
    // MARK: Inputs

    /// Continues the transfer after ``Event/report(_:)``.
    ///
    /// - Parameter offset: the offset in the file at which the transfer begins. If the server cannot begin there, a file is
    ///   retrieved from its start. The rest of a file cannot be stored then: the server is asked each time.
    public mutating func proceed(from offset: Int64) -> Action {
        guard case .transfer(.reported, var work) = state else { return .wait }
        work.offset = isRestartRefused && work.transfer.operation == .retrieve ? 0 : max(0, offset)
        return openPassive(work)
    }

    /// Records that the data connection is open.
    public mutating func dataDidOpen() -> Action {
        guard case .transfer(.opening, let work) = state else { return .wait }
        guard work.offset > 0 else { return sendCommand(work) }
        return send(.known("REST", work.offset), .transfer(.restart, work))
    }

    /// Records that the data connection could not be opened. After `EPSV`, tries `PASV` if that may be used.
    public mutating func dataDidFail() -> Action {
        guard case .transfer(.opening(let isExtended), let work) = state else { return .wait }
        guard isExtended, allowsPlainPassive else { return close(.dataConnection, nil, to: "EPSV") }
        isExtendedPassiveRefused = true
        return send(.known("PASV"), .transfer(.passive, work))
    }

    /// Records that all bytes were sent or received, and that the data connection is closed.
    public mutating func dataDidEnd() -> Action {
        guard case .transfer(.transferring(let reply), let work) = state else { return .wait }
        if let reply { return end(work, reply) }
        state = .transfer(.ending, work)
        return .wait
    }

    // MARK: Replies

    mutating func transferReply(
        _ reply: FTPReply, _ kind: FTPReply.Kind, _ step: TransferStep, _ work: Work
    ) -> Action {
        switch step {
        case .size: return sizeReply(reply, kind, work)
        case .time: return timeReply(reply, kind, work)
        case .extendedPassive:
            if let port = reply.extendedPassivePort { return open(port, work, isExtended: true) }
            guard allowsPlainPassive else { return fail(.dataConnection, reply) }
            isExtendedPassiveRefused = true
            return send(.known("PASV"), .transfer(.passive, work))
        case .passive:
            guard let port = reply.passivePort else { return fail(.dataConnection, reply) }
            return open(port, work, isExtended: false)
        case .restart: return restartReply(reply, kind, work)
        case .command: return commandReply(work, reply, kind)
        case .transferring(nil):
            // The completion reply may arrive before the data connection's last bytes. It takes effect after them.
            guard kind == .completion else { return end(work, reply) }
            state = .transfer(.transferring(reply: reply), work)
            return .wait
        case .ending: return end(work, reply)
        case .probing(let refusal): return probeReply(kind, refusal, work)
        case .making: return kind == .completion ? finish(work) : fail(reply.writeRefusal, reply)
        case .reported, .opening, .transferring: return unexpected(reply)
        }
    }

    private mutating func sizeReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ work: Work) -> Action {
        var work = work
        let isDone = kind == .completion
        if isDone { work.facts.size = reply.size } else { work.sizeRefusal = reply }
        // A file without a size may have a time, but a request for both costs more than the time is worth.
        guard isDone || work.transfer.operation == .inspect, let command = argumentCommand("MDTM", work) else {
            return report(work)
        }
        return send(command, .transfer(.time, work))
    }

    private mutating func timeReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ work: Work) -> Action {
        var work = work
        let isDone = kind == .completion
        if isDone { work.facts.modificationTime = reply.modificationTime }
        guard work.transfer.operation == .inspect else { return report(work) }
        if let refusal = work.sizeRefusal, !isDone {
            return fail(refusal.isOfUnknownCommand ? .notImplemented : .noSuchFile, refusal, to: "SIZE")
        }
        // The size of a text was not asked for. A server without MDTM says nothing about the file.
        if work.transfer.form == .text, !isDone, !reply.isOfUnknownCommand { return fail(.noSuchFile, reply) }
        return finish(work)
    }

    private mutating func restartReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ work: Work) -> Action {
        var work = work
        if kind != .intermediate {
            isRestartRefused = true
            guard work.transfer.operation == .retrieve else { return close(.notImplemented, reply) }
            work.offset = 0
        }
        return sendCommand(work)
    }

    private mutating func commandReply(_ work: Work, _ reply: FTPReply, _ kind: FTPReply.Kind) -> Action {
        switch kind {
        case .preliminary, .completion:
            // Some servers send only the last reply, without a preliminary one, for a short file.
            state = .transfer(.transferring(reply: kind == .completion ? reply : nil), work)
            let isMachineListing = work.transfer.operation == .list && !work.usesPlainListing
            return .tell(
                .begin(
                    Beginning(
                        offset: work.offset, announcedSize: reply.announcedSize, isMachineListing: isMachineListing)))
        case .intermediate: return unexpected(reply)
        case .transientFailure, .permanentFailure: return refuseCommand(work, reply)
        }
    }

    private mutating func refuseCommand(_ work: Work, _ reply: FTPReply) -> Action {
        switch work.transfer.operation {
        case .list:
            if !work.usesPlainListing, reply.isOfUnknownCommand {
                // LIST can use the data connection that was opened for MLSD.
                var work = work
                work.usesPlainListing = true
                isMachineListingRefused = true
                return sendCommand(work)
            }
            // CWD has shown that the folder exists.
            return reply.isOfEmptyFolder ? finish(work) : fail(reply.dataRefusal ?? .noSuchFile, reply)
        case .retrieve:
            if let kind = reply.dataRefusal { return fail(kind, reply) }
            let kind = reply.readRefusal(exists: work.facts.size != nil)
            let refusal = FTPRefusal(kind, reply, to: command)
            // A CWD with the whole path shows whether the path names a folder. From another folder, a relative path
            // would not lead to it.
            guard reply.code == 550, work.facts.size == nil, folders.isEmpty, work.transfer.folders.isEmpty,
                let command = try? FTPCommand("CWD", work.transfer.path.whole)
            else { return failed(refusal) }
            return send(command, .transfer(.probing(refusal), work))
        case .store, .append: return fail(reply.dataRefusal ?? reply.writeRefusal, reply)
        case .inspect, .makeDirectory: return close(.unexpectedReply, reply)
        }
    }

    private mutating func probeReply(_ kind: FTPReply.Kind, _ refusal: FTPRefusal, _ work: Work) -> Action {
        guard kind == .completion else { return failed(refusal) }
        // If the path of the home folder is not known, the connection cannot be used for other paths.
        guard home != nil else { return close(.isDirectory, refusal.reply, to: refusal.command) }
        folders = [work.transfer.path.whole]
        return failed(FTPRefusal(.isDirectory, refusal.reply, to: refusal.command))
    }

    // MARK: Steps

    mutating func arrive(_ work: Work) -> Action {
        switch work.transfer.operation {
        case .retrieve, .inspect:
            // The size in text form differs, and servers must read the whole file to compute it.
            if work.transfer.form == .image, let command = argumentCommand("SIZE", work) {
                return send(command, .transfer(.size, work))
            }
            // The time also shows whether the file exists.
            guard work.transfer.operation == .inspect, let command = argumentCommand("MDTM", work) else {
                return report(work)
            }
            return send(command, .transfer(.time, work))
        case .list: return openPassive(work)
        case .store, .append: return report(work)
        case .makeDirectory:
            guard let command = argumentCommand("MKD", work) else { return fail(.cannotWrite, nil, to: "MKD") }
            return send(command, .transfer(.making, work))
        }
    }

    private mutating func report(_ work: Work) -> Action {
        guard work.transfer.operation != .inspect else { return finish(work) }
        pause(.transfer(.reported, work))
        return .tell(.report(work.facts))
    }

    private mutating func openPassive(_ work: Work) -> Action {
        isExtendedPassiveRefused && allowsPlainPassive
            ? send(.known("PASV"), .transfer(.passive, work)) : send(.known("EPSV"), .transfer(.extendedPassive, work))
    }

    private mutating func open(_ port: UInt16, _ work: Work, isExtended: Bool) -> Action {
        pause(.transfer(.opening(isExtended: isExtended), work))
        return .openData(port: port)
    }

    private mutating func sendCommand(_ work: Work) -> Action {
        var work = work
        if work.transfer.operation == .list {
            if isMachineListingRefused || !features.hasMachineListings { work.usesPlainListing = true }
            return send(work.usesPlainListing ? .known("LIST") : .known("MLSD"), .transfer(.command, work))
        }
        guard let command = argumentCommand(work.transfer.operation.rawValue, work) else {
            return close(.unexpectedReply, nil, to: work.transfer.operation.rawValue)
        }
        return send(command, .transfer(.command, work))
    }

    private func argumentCommand(_ name: String, _ work: Work) -> FTPCommand? {
        guard let argument = work.transfer.argument, !argument.isEmpty else { return nil }
        return try? FTPCommand(name, argument)
    }

    private mutating func end(_ work: Work, _ reply: FTPReply) -> Action {
        guard reply.kind == .completion else {
            let kind: FTPRefusal.Kind = reply.code == 452 || reply.code == 552 ? .noSpace : .interrupted
            return fail(kind, reply)
        }
        return finish(work)
    }
}
