/// The client's side of a control connection (RFC 959, 2228, 2389, 2428, 3659, 4217), from the greeting to the last transfer.
///
///     greeting → (AUTH TLS → TLS → PBSZ → PROT) → log in (USER → PASS) → FEAT → (OPTS) → idle
///     idle → (TYPE) → (PWD → CWD …) → (SIZE → MDTM → facts) → EPSV or PASV → data connection → (REST) → RETR, … → idle
///
/// Each input is a method, which gives one action that is to be done. It holds no connection, and reads no clock. A transfer
/// that fails leaves the connection ready for another one, unless the action is ``Action/close(_:)``.
public struct FTPClientStateMachine: Sendable {
    /// A transfer under way, with what is known up to now.
    private struct Work: Sendable {
        let transfer: FTPTransfer
        var facts = FTPFacts()
        var offset: Int64 = 0
        /// How `SIZE` was refused, if it was.
        var sizeRefusal: FTPReply?
        /// Whether the reply to `MLSD` was that there is no such command.
        var usesPlainListing = false
        /// The folder that was made last, which must be there then.
        var madeFolder: Int?

        init(_ transfer: FTPTransfer) { self.transfer = transfer }

        var commandName: String { usesPlainListing ? "LIST" : transfer.command }
    }

    /// Which reply is waited for.
    private enum State: Sendable {
        case greeting
        case auth
        /// TLS is put on the connection.
        case securing
        case bufferSize
        case protection
        /// The user is not known yet.
        case anonymous
        case user(password: [UInt8]?)
        case password
        case features
        case options
        case idle
        case form(Work)
        case home(Work)
        case goingHome(Work)
        /// The index of the folder that is entered.
        case folder(Work, Int)
        case makingFolder(Work, Int)
        case size(Work)
        case time(Work)
        /// What is known was reported.
        case reported(Work)
        case extendedPassive(Work)
        case passive(Work)
        /// The data connection is made.
        case opening(Work, isExtended: Bool)
        case restart(Work)
        case command(Work)
        /// Bytes are sent. With a reply: the server has ended the transfer already.
        case transferring(Work, reply: FTPReply?)
        /// The data is over; the server's last reply is not there.
        case ending(Work)
        /// Whether what could not be read is a folder.
        case probing(Work, FTPRefusal)
        case making(Work)
        case closed
    }

    private let security: Security
    private let limits: FTPLimits
    private var state = State.greeting
    private var preliminaryReplies = 0
    /// What the server says that it can do. Known when it is ready.
    public private(set) var features = FTPFeatures.none
    /// Whether `PASV` can be used: its replies name IPv4's ports.
    private let allowsPlainPassive: Bool
    private var isExtendedPassiveRefused = false
    private var isRestartRefused = false
    private var isMachineListingRefused = false
    private var form: FTPPath.Form?
    /// The user's own folder; nil while it is not known.
    private var home: [UInt8]?
    /// The folders that were entered from there.
    private var folders: [[UInt8]] = []

    /// A connection that was just made.
    ///
    /// - Parameters:
    ///   - allowsPlainPassive: whether the connection is one over IPv4, or through a proxy.
    public init(security: Security, allowsPlainPassive: Bool, limits: FTPLimits = FTPLimits()) {
        self.security = security
        self.allowsPlainPassive = allowsPlainPassive
        self.limits = limits
    }

    /// Whether a transfer can begin.
    public var isReady: Bool {
        switch state {
        case .idle: true
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .form,
            .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive, .opening,
            .restart, .command, .transferring, .ending, .probing, .making, .closed:
            false
        }
    }

    /// Whether the server can be asked to begin within a file.
    public var mayRestart: Bool { !isRestartRefused }

    /// The name of the state, for messages and tables.
    public var stateName: String {
        switch state {
        case .greeting: "greeting"
        case .auth: "auth"
        case .securing: "securing"
        case .bufferSize: "bufferSize"
        case .protection: "protection"
        case .anonymous: "anonymous"
        case .user: "user"
        case .password: "password"
        case .features: "features"
        case .options: "options"
        case .idle: "idle"
        case .form: "form"
        case .home: "home"
        case .goingHome: "goingHome"
        case .folder: "folder"
        case .makingFolder: "makingFolder"
        case .size: "size"
        case .time: "time"
        case .reported: "reported"
        case .extendedPassive: "extendedPassive"
        case .passive: "passive"
        case .opening: "opening"
        case .restart: "restart"
        case .command: "command"
        case .transferring: "transferring"
        case .ending: "ending"
        case .probing: "probing"
        case .making: "making"
        case .closed: "closed"
        }
    }
}

// MARK: - Inputs of the client

extension FTPClientStateMachine {
    /// TLS is on the control connection.
    public mutating func tlsDidStart() -> Action {
        switch state {
        case .securing: return send(.known("PBSZ", "0"), .bufferSize)
        case .greeting, .auth, .bufferSize, .protection, .anonymous, .user, .password, .features, .options, .idle,
            .form,
            .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive, .opening,
            .restart, .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// Names the user. Nil for a password that is not known: the server may not ask for one.
    ///
    /// - Throws: ``FTPError/invalidArgument(command:)``, and stays as it is.
    public mutating func logIn(user: [UInt8], password: [UInt8]?) throws(FTPError) -> Action {
        switch state {
        case .anonymous:
            let command = try FTPCommand("USER", user)
            _ = try FTPCommand("PASS", password)
            return send(command, .user(password: password))
        case .greeting, .auth, .securing, .bufferSize, .protection, .user, .password, .features, .options, .idle, .form,
            .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive, .opening,
            .restart, .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// Begins a transfer on a connection that is ready.
    public mutating func begin(_ transfer: FTPTransfer) -> Action {
        switch state {
        case .idle:
            let work = Work(transfer)
            if transfer.operation == .makeDirectory { return enterFolders(work) }
            guard form != transfer.form else { return enterFolders(work) }
            switch transfer.form {
            case .image: return send(.known("TYPE", "I"), .form(work))
            case .text: return send(.known("TYPE", "A"), .form(work))
            }
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .form,
            .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive, .opening,
            .restart, .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// Goes on after ``Action/report(_:)``.
    ///
    /// - Parameter offset: where in the file the transfer begins.
    public mutating func proceed(from offset: Int64) -> Action {
        switch state {
        case .reported(var work):
            work.offset = isRestartRefused ? 0 : max(0, offset)
            return openPassive(work)
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .idle,
            .form, .home, .goingHome, .folder, .makingFolder, .size, .time, .extendedPassive, .passive, .opening,
            .restart,
            .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// The data connection is made.
    public mutating func dataDidOpen() -> Action {
        switch state {
        case .opening(let work, _):
            guard work.offset > 0 else { return sendCommand(work) }
            return send(.decimal("REST", work.offset), .restart(work))
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .idle,
            .form, .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive,
            .restart,
            .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// The data connection could not be made. The other command for one is tried, where there is one.
    public mutating func dataDidFail() -> Action {
        switch state {
        case .opening(let work, isExtended: true) where allowsPlainPassive:
            isExtendedPassiveRefused = true
            return send(.known("PASV"), .passive(work))
        case .opening: return close(.dataConnection, nil, "EPSV")
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .idle,
            .form, .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive,
            .restart,
            .command, .transferring, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// All bytes were sent on the data connection, or all were received, and it is closed.
    public mutating func dataDidEnd() -> Action {
        switch state {
        case .transferring(let work, let reply?): return end(work, reply)
        case .transferring(let work, nil):
            state = .ending(work)
            return .wait
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .idle,
            .form, .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive,
            .opening,
            .restart, .command, .ending, .probing, .making, .closed:
            return .wait
        }
    }

    /// The connection is closed, by either side.
    public mutating func connectionDidClose() { state = .closed }
}

// MARK: - Replies

extension FTPClientStateMachine {
    /// The server's reply.
    ///
    /// - Throws: ``FTPError/tooManyPreliminaryReplies(limit:)``.
    public mutating func receive(_ reply: FTPReply) throws(FTPError) -> Action {
        if case .closed = state { return .wait }
        // Of use in no state (RFC 959 §4.2.2).
        if reply.code == 421 { return close(.serviceUnavailable, reply, commandName) }
        guard let kind = reply.kind else { return close(.unexpectedReply, reply, commandName) }
        if kind == .preliminary {
            preliminaryReplies += 1
            guard preliminaryReplies <= limits.preliminaryReplies else {
                state = .closed
                throw .tooManyPreliminaryReplies(limit: limits.preliminaryReplies)
            }
            guard beginsTransfer else { return preliminaryAction(reply) }
        }
        return receive(reply, kind)
    }

    /// Whether a preliminary reply means that bytes are sent.
    private var beginsTransfer: Bool {
        switch state {
        case .command: true
        case .greeting, .auth, .securing, .bufferSize, .protection, .anonymous, .user, .password, .features, .options,
            .idle,
            .form, .home, .goingHome, .folder, .makingFolder, .size, .time, .reported, .extendedPassive, .passive,
            .opening,
            .restart, .transferring, .ending, .probing, .making, .closed:
            false
        }
    }

    /// Preliminary replies say that something takes time; where no reply is waited for none may come.
    private mutating func preliminaryAction(_ reply: FTPReply) -> Action {
        isWaitingForReply ? .wait : close(.unexpectedReply, reply, commandName)
    }

    private var isWaitingForReply: Bool {
        switch state {
        case .securing, .anonymous, .idle, .reported, .opening, .closed: false
        case .greeting, .auth, .bufferSize, .protection, .user, .password, .features, .options, .form, .home,
            .goingHome,
            .folder, .makingFolder, .size, .time, .extendedPassive, .passive, .restart, .command, .transferring,
            .ending,
            .probing, .making:
            true
        }
    }

    private mutating func receive(_ reply: FTPReply, _ kind: FTPReply.Kind) -> Action {
        let isDone = kind == .completion
        switch state {
        case .greeting:
            guard isDone else { return close(.serviceUnavailable, reply, "") }
            switch security {
            case .none: return awaitUser()
            case .explicit: return send(.known("AUTH", "TLS"), .auth)
            case .implicit: return send(.known("PBSZ", "0"), .bufferSize)
            }
        case .auth:
            // 234; some servers say 334, as RFC 2228 has it for other mechanisms.
            guard isDone || reply.code == 334 else { return close(.security, reply, "AUTH TLS") }
            state = .securing
            return .startTLS
        case .bufferSize:
            // It has no meaning for TLS, and must be sent all the same (RFC 4217 §9). The answer to PROT decides.
            return send(.known("PROT", "P"), .protection)
        case .protection: return isDone ? awaitUser() : close(.security, reply, "PROT P")
        case .user(let password):
            switch kind {
            case .completion: return askFeatures()
            case .intermediate where reply.code == 331:
                guard let password else {
                    state = .anonymous
                    return .givePassword
                }
                guard let command = try? FTPCommand("PASS", password) else { return close(.login, reply, "USER") }
                return send(command, .password)
            case .intermediate: return close(.account, reply, "USER")
            case .preliminary, .transientFailure, .permanentFailure: return refuseLogin(reply, "USER")
            }
        case .password:
            switch kind {
            case .completion: return askFeatures()
            case .intermediate: return close(.account, reply, "PASS")
            case .preliminary, .transientFailure, .permanentFailure: return refuseLogin(reply, "PASS")
            }
        case .features:
            features = FTPFeatures(reply)
            guard features.contains("UTF8") else { return becomeReady() }
            return send(.known("OPTS", "UTF8 ON"), .options)
        // Servers that always speak UTF-8 may refuse it.
        case .options: return becomeReady()
        case .form(let work):
            guard isDone else { return fail(.notImplemented, reply, "TYPE") }
            form = work.transfer.form
            return enterFolders(work)
        case .home(let work):
            guard let path = reply.quotedPath else { return close(.unexpectedReply, reply, "PWD") }
            home = path
            return goHome(work)
        case .goingHome(let work):
            guard isDone else { return close(.unexpectedReply, reply, "CWD") }
            folders = []
            return enterFolder(work, 0)
        case .folder(var work, let index):
            let wanted = work.transfer.folders
            guard !isDone else {
                folders.append(wanted[index])
                return enterFolder(work, index + 1)
            }
            guard kind == .permanentFailure, work.transfer.makesFolders, work.madeFolder != index,
                let command = try? FTPCommand("MKD", wanted[index])
            else { return fail(kind == .permanentFailure ? .noSuchFile : .notImplemented, reply, "CWD") }
            work.madeFolder = index
            return send(command, .makingFolder(work, index))
        case .makingFolder(let work, let index):
            // Another client may have made it meanwhile: whether it can be entered decides.
            guard let command = try? FTPCommand("CWD", work.transfer.folders[index]),
                isDone || reply.code == 550 || reply.code == 521
            else { return fail(.cannotWrite, reply, "MKD") }
            return send(command, .folder(work, index))
        case .size(var work):
            if isDone { work.facts.size = reply.size } else { work.sizeRefusal = reply }
            // A file of which there is no size may have a time, but to ask for both costs more than it brings.
            guard isDone || work.transfer.operation == .inspect, let command = argumentCommand("MDTM", work) else {
                return report(work)
            }
            return send(command, .time(work))
        case .time(var work):
            if isDone { work.facts.modificationTime = reply.modificationTime }
            guard work.transfer.operation == .inspect else { return report(work) }
            if let refusal = work.sizeRefusal, !isDone {
                return fail(refusal.means == .noSuchCommand ? .notImplemented : .noSuchFile, refusal, "SIZE")
            }
            return finish(work)
        case .extendedPassive(let work):
            if let port = reply.extendedPassivePort { return open(port, work, isExtended: true) }
            guard allowsPlainPassive else { return fail(.dataConnection, reply, "EPSV") }
            isExtendedPassiveRefused = true
            return send(.known("PASV"), .passive(work))
        case .passive(let work):
            guard let port = reply.passiveAddress?.port else { return fail(.dataConnection, reply, "PASV") }
            return open(port, work, isExtended: false)
        case .restart(var work):
            if kind != .intermediate {
                isRestartRefused = true
                guard work.transfer.operation == .retrieve else {
                    return close(.notImplemented, reply, "REST")
                }
                work.offset = 0
            }
            return sendCommand(work)
        case .command(let work): return commandReply(work, reply, kind)
        case .transferring(let work, nil):
            if kind == .preliminary { return .wait }
            // What the server says before the data is over holds when it is: the data may be on its way.
            guard kind == .completion else { return end(work, reply) }
            state = .transferring(work, reply: reply)
            return .wait
        case .transferring(_, _?): return close(.unexpectedReply, reply, commandName)
        case .ending(let work): return kind == .preliminary ? .wait : end(work, reply)
        case .probing(let work, let refusal):
            guard isDone else { return failed(refusal) }
            // Without the way back the connection is of no use for other paths.
            guard home != nil else { return close(.isDirectory, refusal.reply, refusal.command) }
            folders = [work.transfer.path.whole]
            return failed(FTPRefusal(.isDirectory, refusal.reply, to: refusal.command))
        case .making(let work): return isDone ? finish(work) : fail(reply.writeRefusal, reply, "MKD")
        // The server speaks when it was not asked.
        case .securing, .anonymous, .idle, .reported, .opening: return close(.unexpectedReply, reply, commandName)
        case .closed: return .wait
        }
    }

    private mutating func commandReply(_ work: Work, _ reply: FTPReply, _ kind: FTPReply.Kind) -> Action {
        switch kind {
        case .preliminary:
            state = .transferring(work, reply: nil)
            return .begin(beginning(work, reply))
        case .completion:
            // Some servers say no more than that a short file was sent.
            state = .transferring(work, reply: reply)
            return .begin(beginning(work, reply))
        case .intermediate: return close(.unexpectedReply, reply, commandName)
        case .transientFailure, .permanentFailure:
            return refuseCommand(work, reply)
        }
    }

    private mutating func refuseCommand(_ work: Work, _ reply: FTPReply) -> Action {
        let name = work.commandName
        switch work.transfer.operation {
        case .list:
            if !work.usesPlainListing, reply.means == .noSuchCommand {
                // The data connection that was opened for it serves the other command.
                var work = work
                work.usesPlainListing = true
                isMachineListingRefused = true
                return sendCommand(work)
            }
            return fail(reply.dataRefusal ?? .noSuchFile, reply, name)
        case .retrieve:
            if let kind = reply.dataRefusal { return fail(kind, reply, name) }
            let kind = reply.readRefusal(exists: work.facts.size != nil)
            let refusal = FTPRefusal(kind, reply, to: name)
            // A folder's path in one command shows whether it is one. From another folder it would not lead there.
            guard reply.code == 550, work.facts.size == nil, folders.isEmpty, work.transfer.folders.isEmpty,
                let command = try? FTPCommand("CWD", work.transfer.path.whole)
            else { return failed(refusal) }
            return send(command, .probing(work, refusal))
        case .store, .append: return fail(reply.dataRefusal ?? reply.writeRefusal, reply, name)
        case .inspect, .makeDirectory: return close(.unexpectedReply, reply, name)
        }
    }
}

// MARK: - Steps

extension FTPClientStateMachine {
    private mutating func send(_ command: FTPCommand, _ next: State) -> Action {
        preliminaryReplies = 0
        state = next
        return .send(command)
    }

    private mutating func awaitUser() -> Action {
        state = .anonymous
        return .logIn(nil)
    }

    private mutating func refuseLogin(_ reply: FTPReply, _ command: String) -> Action {
        state = .anonymous
        return .logIn(FTPRefusal(.login, reply, to: command))
    }

    private mutating func askFeatures() -> Action { send(.known("FEAT"), .features) }

    private mutating func becomeReady() -> Action {
        state = .idle
        return .ready
    }

    // MARK: Folders

    private mutating func enterFolders(_ work: Work) -> Action {
        let wanted = work.transfer.folders
        let isFromRoot = work.transfer.path.segments.first?.first == UInt8(ascii: "/")
        if folders == wanted || (wanted.isEmpty && isFromRoot) { return arrive(work) }
        if folders.isEmpty {
            // The way back has to be known before the folder is left.
            return home == nil ? send(.known("PWD"), .home(work)) : enterFolder(work, 0)
        }
        guard isFromRoot else { return goHome(work) }
        folders = []
        return enterFolder(work, 0)
    }

    private mutating func goHome(_ work: Work) -> Action {
        guard !folders.isEmpty else { return enterFolder(work, 0) }
        guard let home, let command = try? FTPCommand("CWD", home) else {
            return close(.unexpectedReply, nil, "PWD")
        }
        return send(command, .goingHome(work))
    }

    private mutating func enterFolder(_ work: Work, _ index: Int) -> Action {
        let wanted = work.transfer.folders
        guard index < wanted.count else { return arrive(work) }
        guard let command = try? FTPCommand("CWD", wanted[index]) else { return fail(.noSuchFile, nil, "CWD") }
        return send(command, .folder(work, index))
    }

    private mutating func arrive(_ work: Work) -> Action {
        switch work.transfer.operation {
        case .retrieve, .inspect:
            // In text form the size would be another one, which costs servers a look at all of the file.
            guard work.transfer.form == .image, let command = argumentCommand("SIZE", work) else { return report(work) }
            return send(command, .size(work))
        case .list: return openPassive(work)
        case .store, .append: return report(work)
        case .makeDirectory:
            guard let command = argumentCommand("MKD", work) else { return fail(.cannotWrite, nil, "MKD") }
            return send(command, .making(work))
        }
    }

    private mutating func report(_ work: Work) -> Action {
        guard work.transfer.operation != .inspect else { return finish(work) }
        state = .reported(work)
        return .report(work.facts)
    }

    // MARK: The data connection

    private mutating func openPassive(_ work: Work) -> Action {
        isExtendedPassiveRefused && allowsPlainPassive
            ? send(.known("PASV"), .passive(work)) : send(.known("EPSV"), .extendedPassive(work))
    }

    private mutating func open(_ port: UInt16, _ work: Work, isExtended: Bool) -> Action {
        state = .opening(work, isExtended: isExtended)
        return .openData(port: port)
    }

    private mutating func sendCommand(_ work: Work) -> Action {
        var work = work
        if work.transfer.operation == .list {
            if isMachineListingRefused || !features.hasMachineListings { work.usesPlainListing = true }
            return send(work.usesPlainListing ? .known("LIST") : .known("MLSD"), .command(work))
        }
        guard let command = argumentCommand(work.transfer.command, work) else {
            return close(.unexpectedReply, nil, work.transfer.command)
        }
        return send(command, .command(work))
    }

    private func argumentCommand(_ name: String, _ work: Work) -> FTPCommand? {
        guard let argument = work.transfer.argument, !argument.isEmpty else { return nil }
        return try? FTPCommand(name, argument)
    }

    private func beginning(_ work: Work, _ reply: FTPReply) -> Beginning {
        Beginning(
            offset: work.offset, announcedSize: reply.announcedSize,
            isMachineListing: work.transfer.operation == .list && !work.usesPlainListing)
    }

    // MARK: Ends

    private mutating func end(_ work: Work, _ reply: FTPReply) -> Action {
        guard reply.kind == .completion else {
            let kind: FTPRefusal.Kind = reply.code == 452 || reply.code == 552 ? .noSpace : .interrupted
            return fail(kind, reply, work.commandName)
        }
        return finish(work)
    }

    private mutating func finish(_ work: Work) -> Action {
        state = .idle
        return .finish(work.facts)
    }

    private mutating func fail(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, _ command: String) -> Action {
        failed(FTPRefusal(kind, reply, to: command))
    }

    private mutating func failed(_ refusal: FTPRefusal) -> Action {
        state = .idle
        return .fail(refusal)
    }

    private mutating func close(_ kind: FTPRefusal.Kind, _ reply: FTPReply?, _ command: String) -> Action {
        state = .closed
        return .close(FTPRefusal(kind, reply, to: command))
    }

    /// The name of the command whose reply is waited for; empty where none is.
    private var commandName: String {
        switch state {
        case .auth: "AUTH TLS"
        case .bufferSize: "PBSZ"
        case .protection: "PROT P"
        case .user: "USER"
        case .password: "PASS"
        case .features: "FEAT"
        case .options: "OPTS"
        case .form: "TYPE"
        case .home: "PWD"
        case .goingHome, .folder, .probing: "CWD"
        case .makingFolder, .making: "MKD"
        case .size: "SIZE"
        case .time: "MDTM"
        case .extendedPassive: "EPSV"
        case .passive: "PASV"
        case .restart: "REST"
        case .command(let work), .transferring(let work, _), .ending(let work): work.commandName
        case .greeting, .securing, .anonymous, .idle, .reported, .opening, .closed: ""
        }
    }
}

extension FTPCommand {
    fileprivate static func known(_ name: StaticString, _ argument: StaticString? = nil) -> FTPCommand {
        FTPCommand(known: name, argument)
    }

    fileprivate static func decimal(_ name: StaticString, _ number: Int64) -> FTPCommand {
        FTPCommand(known: name, digits: number)
    }
}
