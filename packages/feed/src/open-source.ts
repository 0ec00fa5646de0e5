import { open } from 'node:fs/promises'
import { LedgerStateError } from '@ledger-state/core'
import { openGenesis } from './genesis.js'
import { openLedgerFeed } from './ledger-feed.js'
import type { LedgerSource } from './source.js'

const GZIP_MAGIC = [0x1f, 0x8b]
const GENESIS_TAG = 0x01
const OPENING_BRACE = 0x7b

/**
 * Opens a source of ledger data, told apart by its first bytes.
 * @throws `invalid_argument` where the file is missing or nothing that is known; `invalid_feed`, `invalid_genesis`
 */
export async function openSource(path: string): Promise<LedgerSource> {
  const head = await readHead(path)
  if (GZIP_MAGIC.every((byte, at) => head[at] === byte)) return openLedgerFeed(path, true)
  if (head[0] === OPENING_BRACE) return openLedgerFeed(path, false)
  if (head[0] === GENESIS_TAG) return openGenesis(path)
  throw new LedgerStateError(
    'invalid_argument',
    `${path} is neither a genesis blob nor a ledger feed (NDJSON, plain or gzip)`,
  )
}

async function readHead(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new LedgerStateError('invalid_argument', `the source ${path} cannot be read: ${why}`, {}, { cause })
  }
}
