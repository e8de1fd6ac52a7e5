import Foundation
import LoadingKit

await Race(Course.process).run()
