import { noLedger, type StateReader } from '@ledger-state/engine'
import { timeNotReached, timePruned } from '../errors.js'

export function versionAtTime(reader: StateReader, timestampUsec: bigint, nowUsec = systemTimeUsec()): bigint {
  const { ledger } = reader
  if (!ledger) throw noLedger()
  // The clock of this machine may be behind the chain's.
  if (timestampUsec > nowUsec && timestampUsec > ledger.latestBlock.timestampUsec) throw timeNotReached(timestampUsec)
  const block = reader.blockAtTime(timestampUsec)
  if (!block) throw timePruned(timestampUsec, ledger)
  return block.lastVersion
}

function systemTimeUsec(): bigint {
  return BigInt(Date.now()) * 1_000n
}
