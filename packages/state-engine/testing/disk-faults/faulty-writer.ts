// Writes a store on a disk whose calls fail, retries failed calls, and kills itself. It prints each version
// acknowledged as durable, `durable VERSION`, and each failure.
import { isLedgerStateError } from '@ledger-state/core'
import { importState } from '@ledger-state/engine'
import { openStateEngine, type StateEngine, type WriterOptions } from '../../src/open-state-engine.ts'
import { KNOWN_CHAIN, knownVersion } from '../known-ledger.ts'

/** A run of steps: `commit 5` versions, `bulk 40`, `merge`, `flush`, `prune 10`, `truncate 3` (to that version), `import`. */
export interface FaultyWriterRun {
  readonly options: Omit<WriterOptions, 'path'>
  readonly steps: readonly string[]
}

const MOST_TRIES = 8

const [path, text] = process.argv.slice(2) as [string, string]
const { options, steps } = JSON.parse(text) as FaultyWriterRun
let engine: StateEngine | undefined

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function attempt(step: string): Promise<void> {
  engine ??= openStateEngine({ ...options, path })
  const [kind, words = '0'] = step.split(' ')
  const count = BigInt(words)
  const next = (engine.ledger?.latestVersion ?? -1n) + 1n
  if (kind === 'commit' || kind === 'bulk') {
    const each = kind === 'bulk' ? count : 1n
    for (let version = next; version < next + count; ) {
      const batch = Array.from({ length: Number(each) }, () => knownVersion(version++))
      await engine.commit(batch, KNOWN_CHAIN)
    }
  } else if (kind === 'merge') await engine.merge()
  else if (kind === 'flush') await engine.flush()
  else if (kind === 'prune') await engine.prune(count)
  else if (kind === 'truncate' && next > count + 1n) await engine.truncateTo(count)
  else if (kind === 'import') {
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const entries = Array.from({ length: 300 }, (_, at) => ({
      key: Buffer.from(`imported ${at}`),
      version: 0n,
      value: Buffer.alloc(at % 50 === 0 ? 5_000 : 20, at),
    }))
    if (!engine.ledger) await importState(engine, { chainId: KNOWN_CHAIN.chainId, version: 0n, block }, entries)
  }
  const isDurable = options.durability === 'full' || kind === 'flush'
  if (isDurable && engine.ledger) print(`durable ${engine.ledger.latestVersion}`)
}

for (const step of steps) {
  for (let tries = 1; ; tries++) {
    try {
      await attempt(step)
      break
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
      print(`failed ${step}: ${error.code}`)
      if (tries === MOST_TRIES) throw error
      // The first try again is in the same engine. A writer that is broken has to be opened again.
      if (tries > 1) {
        await engine?.close().catch(() => {})
        engine = undefined
      }
    }
  }
}
process.kill(process.pid, 'SIGKILL')
