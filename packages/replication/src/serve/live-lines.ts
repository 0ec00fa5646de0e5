import { Buffer } from 'node:buffer'
import { branchOf, type StateEngineReader } from '@ledger-state/engine'
import { feedHeaderLine, headToFeedLine } from '@ledger-state/feed'
import { decodeCommitMark } from '@ledger-state/records'
import type { RecentLines } from './recent-lines.js'

/** Interval at which a feed reports its newest version, even while nothing is committed. */
const HEARTBEAT_MS = 1_000

export interface FeedPiece {
  readonly text: string
  /** Whether no further line follows for now. */
  readonly isEnd: boolean
}

/**
 * Lines of a live feed: the header, the versions since `from`, then the head; after each commit its versions and the
 * head; and the head once a second. It ends with the signal, and after a truncation: a replica that asks again from its
 * next version gets the new ones, or is told that it has versions that were cut off.
 * @throws `version_pruned` if the pruner overtakes it
 */
export async function* liveLines(
  engine: StateEngineReader,
  recent: RecentLines,
  from: bigint,
  signal: AbortSignal,
): AsyncGenerator<FeedPiece> {
  let next = from
  const branch = branchOf(engine.ledger!)
  const isCut = () => branchOf(engine.ledger!) !== branch
  const { hashSalt } = decodeCommitMark(engine.mark && Buffer.from(engine.mark))
  let text = `${feedHeaderLine({ chainId: Number(engine.ledger!.chainId), hashSalt })}\n`
  const commits = watchCommits(engine, signal)
  try {
    while (!signal.aborted) {
      const head = readHead(engine)
      if (isCut()) return
      if (next <= head.version) {
        for (const piece of recent.linesOf(next, head.version)) {
          if (isCut()) return
          yield { text: text + piece.text, isEnd: false }
          text = ''
        }
        next = head.version + 1n
      }
      yield { text: `${text}${headToFeedLine(head)}\n`, isEnd: true }
      text = ''
      await commits.next()
    }
  } catch (error) {
    // A truncation overtook the lines that were read.
    if (!isCut()) throw error
  } finally {
    commits.close()
  }
}

/** The newest version, and the hash and the mark of the same commit. */
function readHead(engine: StateEngineReader) {
  for (;;) {
    const { latestVersion: version } = engine.ledger!
    const mark = engine.mark
    if (engine.ledger!.latestVersion !== version) continue
    const { source, writesHash } = decodeCommitMark(mark && Buffer.from(mark))
    return { version, writesHash, mark: source }
  }
}

function watchCommits(engine: StateEngineReader, signal: AbortSignal) {
  let wake = () => {}
  let isNew = false
  const onCommit = () => {
    isNew = true
    wake()
  }
  const remove = engine.onCommit(onCommit)
  const heartbeat = setInterval(onCommit, HEARTBEAT_MS)
  signal.addEventListener('abort', onCommit)
  return {
    /** Resolves after a commit that followed the last call, after `HEARTBEAT_MS`, or when the signal is aborted. */
    async next(): Promise<void> {
      if (!isNew) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      isNew = false
    },
    close(): void {
      remove()
      clearInterval(heartbeat)
      signal.removeEventListener('abort', onCommit)
    },
  }
}
