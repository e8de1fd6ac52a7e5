/// Changes to the folder of a transfer: one `CWD` for each folder's name (RFC 1738 §3.2.2).
extension FTPClientStateMachine {
    /// Begins a transfer on a connection that is ready.
    public mutating func begin(_ transfer: FTPTransfer) -> Action {
        guard case .idle = state else { return .wait }
        let work = Work(transfer)
        if transfer.operation == .makeDirectory || form == transfer.form { return enterFolders(work) }
        switch transfer.form {
        case .image: return send(.known("TYPE", "I"), .folder(.form, work))
        case .text: return send(.known("TYPE", "A"), .folder(.form, work))
        }
    }

    mutating func folderReply(_ reply: FTPReply, _ kind: FTPReply.Kind, _ step: FolderStep, _ work: Work) -> Action {
        let isDone = kind == .completion
        switch step {
        case .form:
            guard isDone else { return fail(.notImplemented, reply) }
            form = work.transfer.form
            return enterFolders(work)
        case .home:
            guard let path = reply.quotedPath else { return close(.unexpectedReply, reply) }
            home = path
            return goHome(work)
        case .goingHome:
            guard isDone else { return close(.unexpectedReply, reply) }
            folders = []
            return enterFolder(work, 0)
        case .folder(let index):
            guard isDone else { return makeFolder(work, index, insteadOf: reply, kind) }
            // The first folder of an absolute path is entered from any other.
            folders = Array(work.transfer.folders[...index])
            return enterFolder(work, index + 1)
        case .makingFolder(let index):
            // Another client may have made the folder in the meantime: the reply to CWD decides.
            guard let command = try? FTPCommand("CWD", work.transfer.folders[index]),
                isDone || reply.code == 550 || reply.code == 521
            else { return fail(.cannotWrite, reply) }
            return send(command, .folder(.folder(index), work))
        }
    }

    /// Makes a folder that cannot be entered, if the transfer makes folders and this one was not made already.
    private mutating func makeFolder(
        _ work: Work, _ index: Int, insteadOf reply: FTPReply, _ kind: FTPReply.Kind
    ) -> Action {
        guard kind == .permanentFailure, work.transfer.makesFolders, work.madeFolder != index,
            let command = try? FTPCommand("MKD", work.transfer.folders[index])
        else { return fail(kind == .permanentFailure ? .noSuchFile : .notImplemented, reply) }
        var work = work
        work.madeFolder = index
        return send(command, .folder(.makingFolder(index), work))
    }

    private mutating func enterFolders(_ work: Work) -> Action {
        let wanted = work.transfer.folders
        let isFromRoot = work.transfer.path.segments.first?.first == UInt8(ascii: "/")
        if folders == wanted || (wanted.isEmpty && isFromRoot) { return arrive(work) }
        if folders.isEmpty {
            // The path of the home folder must be known before another folder is entered.
            return home == nil ? send(.known("PWD"), .folder(.home, work)) : enterFolder(work, 0)
        }
        return isFromRoot ? enterFolder(work, 0) : goHome(work)
    }

    private mutating func goHome(_ work: Work) -> Action {
        guard !folders.isEmpty else { return enterFolder(work, 0) }
        guard let home, let command = try? FTPCommand("CWD", home) else {
            return close(.unexpectedReply, nil, to: "PWD")
        }
        return send(command, .folder(.goingHome, work))
    }

    private mutating func enterFolder(_ work: Work, _ index: Int) -> Action {
        let wanted = work.transfer.folders
        guard index < wanted.count else { return arrive(work) }
        guard let command = try? FTPCommand("CWD", wanted[index]) else { return fail(.noSuchFile, nil, to: "CWD") }
        return send(command, .folder(.folder(index), work))
    }
}
