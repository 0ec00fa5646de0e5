import type { StateWriter } from '@ledger-state/engine'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { WHOLE_TRANSACTIONS_KEY } from '@ledger-state/records'
import { TransactionGroup } from '@ledger-state/records/transaction-group'
import { sharedPath } from '@ledger-state/testing/shared-data'

/** The chain id of the ledgers that are made here. */
const CHAIN_ID = 4

/**
 * Commits the versions of a source in the shared folder, with their whole transactions.
 * @param onVersion called after each version
 */
export async function commitSource(
  engine: StateWriter,
  path: string,
  options: SourceOptions = {},
  onVersion?: (version: bigint) => Promise<void>,
): Promise<void> {
  const source = await openSource(sharedPath(path), { thread: false, unsigned: true, ...options })
  const read = async (key: Uint8Array) => engine.at().get(key)
  const held = engine.ledger
  const reading = held ? { version: held.latestVersion + 1n, read } : {}
  for await (const record of source.versions(reading)) {
    const read = record.readWhole!()
    const group = new TransactionGroup(record.version)
    const own = group.add(record.version, read, record.writes)
    const whole = [...own, ...group.toWrites().writes.get(record.version)!]
    const mark = engine.ledger ? [] : [[WHOLE_TRANSACTIONS_KEY, Buffer.from(source.hashSalt!)] as const]
    const { version, block, writes } = record
    await engine.commit([{ version, block, writes: [...writes, ...whole, ...mark] }], { chainId: CHAIN_ID })
    await onVersion?.(version)
  }
  await source.close()
}
