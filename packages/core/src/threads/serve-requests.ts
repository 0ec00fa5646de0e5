import { parentPort } from 'node:worker_threads'
import { isLedgerStateError } from '../error.js'
import type { NumberedRequest, ThreadMessage, ThreadReply } from './protocol.js'

/** How a thread sends its results. */
export interface ServeOptions<Result> {
  /** Returns the buffers of a result that are transferred. */
  readonly transferOf?: (result: Result) => readonly ArrayBuffer[]
}

/** Makes this thread answer the requests of a `RequestThread`. Each begins when it comes, even if others still run. */
export function serveRequests<Request, Result>(
  run: (request: Request) => Result | Promise<Result>,
  { transferOf = () => [] }: ServeOptions<Result> = {},
): void {
  const port = parentPort!
  port.on('message', async (message: ThreadMessage<Request>) => {
    if (message === undefined) {
      port.close()
      return
    }
    const reply = await replyTo(message, run)
    try {
      port.postMessage(reply, 'result' in reply ? transferOf(reply.result) : [])
    } catch (error) {
      // The reply cannot be cloned. Without any, its caller would wait forever.
      port.postMessage({ number: message.number, crash: String(error) } satisfies ThreadReply<Result>)
    }
  })
}

/** Makes this thread answer the requests of a `RequestThread`, one after the other. */
export function serveJobs<Job, Result>(
  run: (job: Job) => Result | Promise<Result>,
  options?: ServeOptions<Result>,
): void {
  let last: Promise<unknown> = Promise.resolve()
  serveRequests((job: Job) => {
    const running = last.then(() => run(job))
    last = running.catch(() => {})
    return running
  }, options)
}

async function replyTo<Request, Result>(
  { number, request }: NumberedRequest<Request>,
  run: (request: Request) => Result | Promise<Result>,
): Promise<ThreadReply<Result>> {
  try {
    return { number, result: await run(request) }
  } catch (error) {
    if (!isLedgerStateError(error)) return { number, crash: error }
    const { code, message, fields } = error
    return { number, failure: { code, message, fields } }
  }
}
