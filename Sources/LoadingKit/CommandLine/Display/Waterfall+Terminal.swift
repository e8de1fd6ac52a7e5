import LoadingKitCore

extension Waterfall {
    init(_ timelines: [Timeline], _ terminal: Terminal) {
        self.init(timelines, width: terminal.width) { text, part in terminal.paint(text, part.style) }
    }
}

extension Waterfall.Part {
    fileprivate var style: Terminal.Style {
        switch self {
        case .title: .bold
        case .connection: .dim
        case .bar(.resolve): .cyan
        case .bar(.connect): .yellow
        case .bar(.tls): .magenta
        case .bar(.wait): .blue
        case .bar(.request), .bar(.receive), .bar(.load): .green
        }
    }
}
