/// Runs tasks with the program's code that may block on the threads for such code (``BlockingPool/userCode``). Swift's
/// own threads for tasks are few, and serve the loads of all sessions.
package final class UserCodeExecutor: TaskExecutor {
    package static let shared = UserCodeExecutor()

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // If the system cannot create a thread, the task runs on Swift's own threads.
        BlockingPool.userCode.run(
            BlockingPool.Work({ job.runSynchronously(on: self.asUnownedTaskExecutor()) }) { _ in
                globalConcurrentExecutor.enqueue(job)
            })
    }
}
