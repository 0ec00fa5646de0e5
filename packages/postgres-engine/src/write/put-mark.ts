import { Buffer } from 'node:buffer'
import { expectLedger, expectMark } from '@ledger-state/engine/authoring'
import type { WriterSession } from './writer-session.js'

const PUT_MARK = 'UPDATE ledger_state.head SET mark = $1, written_mark = $1, mark_number = mark_number + 1'

/** Replaces the mark. Called within `inTurn` of the session. */
export async function putMark(session: WriterSession, mark: Uint8Array): Promise<void> {
  expectMark(mark)
  const { ledger, markNumber } = session.head
  expectLedger(ledger)
  const bytes = Buffer.from(mark)
  await session.transact(
    async (client) => {
      await client.query(PUT_MARK, [bytes])
    },
    (head) => head.markNumber > markNumber,
  )
}
