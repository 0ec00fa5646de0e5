import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { computeStateRoot, openStateTree, writeStateTree } from '@ledger-state/feed'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { ABILITY, assembleModule } from '@ledger-state/move-module'
import {
  AccumulatorFrontier,
  computeWaypoint,
  DEFAULT_HASH_SALT,
  LedgerHasher,
  signedLedgerInfoToBytes,
} from '@ledger-state/proof'
import { moduleKey, parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'

export const OWNER = '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab'
export const HARBOUR = '0xcafe'
export const TABLE = '0x7ab1e3'

/** A node on a ledger of one version, and the waypoint to trust: nobody signs the first version of a ledger. */
export async function startNode() {
  const engine = createMemoryEngine()
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: makeWrites() }], { chainId: 94n })
  const folder = await mkdtemp(join(tmpdir(), 'light-client-'))
  const entries = () => [[...engine.at().scan(new Uint8Array(0))]]
  const { root: stateRoot } = await computeStateRoot(entries(), { spillFolder: folder, threads: 0 })
  const { checkpoint, waypoint } = makeCheckpoint(stateRoot)
  await writeStateTree(entries(), { folder, checkpoint, threads: 0 })
  const tree = openStateTree(folder, 0n)
  const proofs = {
    hashSalt: DEFAULT_HASH_SALT,
    versions: [0n],
    at: () => tree,
    endings: async () => [],
  }
  const server = createHttpServer({ ledger: createLedger(engine), proofs })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}/v1`, waypoint, close: () => server.close() }
}

/** A coin store, a module with a resource and a view of it, an item of a table, and the settings that views need. */
function makeWrites(): Write[] {
  const [owner, harbour, table] = [OWNER, HARBOUR, TABLE].map(parseAddress) as [Uint8Array, Uint8Array, Uint8Array]
  const framework = parseAddress('0x1')
  const u64 = { kind: 'u64' } as const
  const module = assembleModule({
    address: HARBOUR,
    name: 'harbour',
    structs: [
      {
        name: 'Berths',
        abilities: ABILITY.key,
        fields: [
          ['ships', u64],
          ['quays', u64],
        ],
      },
    ],
    functions: [
      {
        name: 'ships_at',
        parameters: [{ kind: 'address' }],
        results: [u64],
        code: [
          ['move_loc', 0],
          ['imm_borrow_global', 'Berths'],
          ['imm_borrow_field', 'Berths.ships'],
          ['read_ref'],
          ['ret'],
        ],
      },
    ],
  })
  const coinStore = new ByteWriter().u64(1_250n).bool(false)
  for (const creationNumber of [2n, 3n]) coinStore.u64(0n).u64(creationNumber).bytes(owner)
  return [
    [resourceKey(owner, parseStructTag('0x1::coin::CoinStore<0x1::aptos_coin::AptosCoin>')), coinStore.toBytes()],
    [moduleKey(harbour, 'harbour'), module],
    [resourceKey(harbour, parseStructTag(`${HARBOUR}::harbour::Berths`)), new ByteWriter().u64(3n).u64(7n).toBytes()],
    [tableItemKey(table, new ByteWriter().u64(5n).toBytes()), new ByteWriter().u64(1_843n).toBytes()],
    [
      resourceKey(framework, parseStructTag('0x1::gas_schedule::GasScheduleV2')),
      new ByteWriter().u64(45n).u8(0).toBytes(),
    ],
    [resourceKey(framework, parseStructTag('0x1::features::Features')), new ByteWriter().u8(0).toBytes()],
  ]
}

/** The ledger info of version 0, whose state has the root. Its waypoint names it. */
function makeCheckpoint(stateRoot: Uint8Array) {
  const hasher = new LedgerHasher()
  const [version, epoch, timestampUsec] = [0n, 0n, 0n]
  const zeros = new Uint8Array(32)
  const info = new ByteWriter().u8(0).u64(0n).u8(0)
  for (let hash = 0; hash < 3; hash++) info.bytes(zeros)
  const transactionInfo = info.bool(true).bytes(stateRoot).bool(false).toBytes()
  const accumulator = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  accumulator.append(hasher.hash('TransactionInfo', transactionInfo))
  const accumulatorRoot = accumulator.root()
  const message = new ByteWriter().u64(epoch).u64(0n).bytes(zeros).bytes(accumulatorRoot)
  message.u64(version).u64(timestampUsec).bool(false).bytes(zeros)
  const ledgerInfo = signedLedgerInfoToBytes({
    message: message.toBytes(),
    signers: new Uint8Array(0),
    signature: undefined,
  })
  const waypoint = computeWaypoint(hasher, { epoch, accumulatorRoot, version, timestampUsec, nextEpoch: undefined })
  return { checkpoint: { version, transactionInfo, siblings: [], ledgerInfo }, waypoint }
}
