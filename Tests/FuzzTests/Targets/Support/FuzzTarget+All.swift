extension FuzzTarget {
    /// All targets, the riskiest first.
    static let all: [FuzzTarget] =
        HTTP2Targets.all + HTTP1Targets.all + HPACKTargets.all + WebSocketTargets.all + ContentCodingTargets.all
        + ArchiveTargets.all + FormatTargets.all + SecurityTargets.all + FieldTargets.all + URLTargets.all
        + PeerTargets.all + LineTargets.all
}
