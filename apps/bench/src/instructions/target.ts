// The process to count instructions of. Arguments: operation, number of operations, folder. A served operation prints
// its port, and ends when its only client disconnects. Each operation loads only necessary modules, since loading is
// slow under valgrind.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { WorkloadVersion } from '../workload/workload.ts'
import { isRequest, type OperationName } from './operations.ts'

/** Size of the map; valgrind has little address space for its program. */
const MAP_BYTES = 2 ** 33
const KEYS = 300
const WRITES_PER_VERSION = 5
const VERSIONS_PER_BATCH = 20
/** Versions after which the memtable is merged: small enough for the merge to run on the event loop. */
const VERSIONS_PER_MERGE = 100
/** Versions after which each key has been written ten times. */
const FIRST_VERSIONS = (KEYS * 10) / WRITES_PER_VERSION
const KEY_BYTES = 70
const VALUE_BYTES = 150

const [operation, countText, folder] = process.argv.slice(2) as [OperationName, string, string]
const count = Number(countText)

function keyOf(at: number): Buffer {
  const key = Buffer.alloc(KEY_BYTES, at & 0xff)
  key.writeUInt32LE(at, 1)
  return key
}

function makeVersions(first: number, versions: number): WorkloadVersion[] {
  return Array.from({ length: versions }, (_, at) => {
    const number = first + at
    const height = BigInt(number)
    const writes = Array.from({ length: WRITES_PER_VERSION }, (_, place) => {
      const key = (number * WRITES_PER_VERSION + place) % KEYS
      return [keyOf(key), Buffer.alloc(VALUE_BYTES, number & 0xff)] as const
    })
    return { version: height, block: { height, epoch: 0n, timestampUsec: height }, writes }
  })
}

function* batches(first: number, versions: number): Generator<WorkloadVersion[]> {
  for (let at = 0; at < versions; at += VERSIONS_PER_BATCH) yield makeVersions(first + at, VERSIONS_PER_BATCH)
}

async function runOnEngine(): Promise<void> {
  const { openStateEngine } = await import('@ledger-state/state-engine')
  const engine = openStateEngine({ path: folder, durability: 'none', mapBytes: MAP_BYTES })
  // Only the first commit is merged at once.
  const inTable = operation === 'look-up in the table' ? FIRST_VERSIONS - 1 : 0
  await engine.commit(makeVersions(0, FIRST_VERSIONS - inTable), { chainId: 1 })
  if (inTable > 0) await engine.commit(makeVersions(FIRST_VERSIONS - inTable, inTable), { chainId: 1 })
  if (operation === 'write') {
    let versions = 0
    for (const batch of batches(FIRST_VERSIONS, count / WRITES_PER_VERSION)) {
      await engine.commit(batch, { chainId: 1 })
      versions += batch.length
      // Merges that run during commits take the files that are there when the system calls of the log end.
      if (versions % VERSIONS_PER_MERGE === 0) await engine.merge()
    }
  } else {
    const keys = Array.from({ length: KEYS }, (_, at) => keyOf(at))
    for (let at = 0; at < count; at++) engine.at(BigInt((at * 7) % FIRST_VERSIONS)).get(keys[at % KEYS]!)
  }
  await engine.close()
}

/** Serves with the reads of a node, which compare every record with its checksum. */
async function serve(): Promise<void> {
  const { createHttpServer } = await import('@ledger-state/http')
  const { createLedger } = await import('@ledger-state/ledger')
  const { openStateEngineReader } = await import('@ledger-state/state-engine')
  const engine = openStateEngineReader({ path: folder, verifyReads: true, mapBytes: MAP_BYTES })
  const server = createHttpServer({ ledger: createLedger(engine) })
  server.on('connection', (connection) => connection.once('close', () => process.exit()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
}

// The counted work must not depend on time, unlike the slices of a merge.
if (!isRequest(operation)) performance.now = () => 0
// Nor may it depend on the secret of the engine's hashes.
crypto.randomBytes = ((size: number) => Buffer.alloc(size, 7)) as typeof crypto.randomBytes
syncBuiltinESMExports()

if (operation === 'look-up' || operation === 'look-up in the table' || operation === 'write') await runOnEngine()
else await serve()
