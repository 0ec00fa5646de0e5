// The thread of `createThreadChanges`. It reads ranges of a store that it opens itself, since a range of merged versions
// takes a pass over all keys.
import { workerData } from 'node:worker_threads'
import { copyBytes } from '@ledger-state/core/bytes'
import { serveRequests } from '@ledger-state/core/threads'
import { type ChangeCursor, type ChangePage, createEngineChanges } from '@ledger-state/http'
import { openStateEngineReader } from '@ledger-state/state-engine'
import type { ChangesRequest } from './changes-thread.js'

const engine = openStateEngineReader({ path: (workerData as { readonly path: string }).path, verifyReads: true })
const source = createEngineChanges(engine)
const cursors = new Map<number, ChangeCursor>()

async function answer({ cursor: number, range }: ChangesRequest): Promise<ChangePage> {
  const cursor = cursors.get(number) ?? source.open()
  if (!range) {
    cursor.close()
    cursors.delete(number)
    return { versions: [], branch: 0 }
  }
  cursors.set(number, cursor)
  const { versions, branch } = await cursor.read(range.first, range.last)
  return {
    versions: versions.map(({ version, block, writes }) => ({ version, block, writes: writes.map(ownBytes) })),
    branch,
  }
}

/** A write with copied bytes. A view of a larger buffer would be sent with the whole buffer. */
function ownBytes([key, value]: ChangePage['versions'][number]['writes'][number]) {
  return [copyBytes(key), value && copyBytes(value)] as const
}

serveRequests(answer)
