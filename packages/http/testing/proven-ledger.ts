// A ledger whose state validators signed, with the tree of that state: what answers with proofs are read from.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { computeStateRoot, openStateTree, type StateTree, writeStateTree } from '@ledger-state/feed'
import { madeCheckpoint } from '@ledger-state/feed/testing/made-checkpoint'
import { madeEndings, signedLedgerInfo, validatorsOf, waypointHash } from '@ledger-state/feed/testing/synthetic-epochs'
import { ABILITY, type StructDefinition, writeModule } from '@ledger-state/move-module'
import {
  moduleKey,
  noteToAnnotation,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import type { StateProofs } from '../src/operations/state-proofs.ts'

export const HOME = parseAddress('0xcafe')
export const TABLE = parseAddress('0x7ab1e')
/** The epoch that signed, and the versions of the checkpoint and of its ledger info. */
export const EPOCH = 4
export const CHECKPOINT = 41n
export const END = 44n
/** The four validators of that epoch. */
export const VALIDATORS = validatorsOf(EPOCH)

const u64 = (name: string) => ({ name, type: { kind: 'u64' } as const })

function structOf(name: string, resourceGroup?: string): StructDefinition {
  return {
    kind: 'struct',
    name,
    abilities: ABILITY.key | ABILITY.store,
    typeParameters: [],
    fields: [u64('first'), u64('second')],
    ...(resourceGroup !== undefined && { resourceGroup: parseStructTag(resourceGroup) }),
  }
}

const GROUP = '0xcafe::game::Group'
const structs = [structOf('Score'), structOf('Member', GROUP), structOf('Missing', GROUP), structOf('Group')]
const game = writeModule({ version: 7, address: HOME, name: 'game', structs })

/** BCS of a struct of the module. */
export function pair(first: bigint, second: bigint): Uint8Array {
  return new ByteWriter().u64(first).u64(second).toBytes()
}

function groupOf(members: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const writer = new ByteWriter().uleb128(members.length)
  for (const [tag, bytes] of members) {
    writeStructTag(writer, parseStructTag(tag))
    writer.byteString(bytes)
  }
  return writer.toBytes()
}

const metadata = { slotDeposit: 40_000n, bytesDeposit: undefined, creationTimeUsec: 1_700_000_000_000_000n }
const annotation = noteToAnnotation({ isCreation: true, metadata })

const account = new ByteWriter().byteString(HOME).u64(7n).u64(2n)
for (const creationNumber of [0n, 1n]) account.u64(0n).u64(creationNumber).bytes(HOME)
const accountBytes = account.bool(false).bool(false).toBytes()

const key = (number: bigint) => new ByteWriter().u64(number).toBytes()
const writes: Write[] = [
  [moduleKey(HOME, 'game'), game],
  [resourceKey(HOME, parseStructTag('0xcafe::game::Score')), pair(3n, 4n), annotation],
  [resourceGroupKey(HOME, parseStructTag(GROUP)), groupOf([['0xcafe::game::Member', pair(5n, 6n)]])],
  [resourceKey(HOME, parseStructTag('0x1::account::Account')), accountBytes],
  ...Array.from({ length: 20 }, (_, at): Write => {
    return [tableItemKey(TABLE, key(BigInt(at))), pair(BigInt(at), 9n), at % 2 === 0 ? annotation : undefined] as Write
  }),
]

const endings = madeEndings(EPOCH)
const block = { height: 0n, epoch: BigInt(EPOCH), timestampUsec: 5n }

/** The waypoint of the end of an epoch. */
export function waypointOf(epoch: number): string {
  return `${endings[epoch]!.version}:${waypointHash(endings[epoch]!)}`
}

export interface ProvenLedger {
  readonly engine: ReturnType<typeof createMemoryEngine>
  readonly proofs: StateProofs
  readonly tree: StateTree
  close(): void
}

/** @param signers those of the four validators who sign; all by default */
export async function createProvenLedger(signers: typeof VALIDATORS = VALIDATORS): Promise<ProvenLedger> {
  const engine = createMemoryEngine()
  await engine.commit([{ version: CHECKPOINT, block, writes }], { chainId: 4n })
  const folder = mkdtempSync(join(tmpdir(), 'proven-'))
  const pages = () => [[...engine.at().scan(new Uint8Array(0))]]
  const { root: stateRoot } = await computeStateRoot(pages(), { spillFolder: folder, threads: 0 })
  const checkpoint = madeCheckpoint({
    version: CHECKPOINT,
    end: END,
    stateRoot,
    epoch: BigInt(EPOCH),
    nextEpoch: undefined,
    validators: VALIDATORS,
    signers,
  })
  await writeStateTree(pages(), { folder, checkpoint, threads: 0 })
  const tree = openStateTree(folder, CHECKPOINT)!
  const next = { ...block, height: 1n }
  await engine.commit([{ version: CHECKPOINT + 1n, block: next, writes: [] }], { chainId: 4n })
  const proofs: StateProofs = {
    hashSalt: tree.hashSalt,
    versions: [CHECKPOINT],
    at: (version) => (version === CHECKPOINT ? tree : undefined),
    async endings({ version, lastEpoch }) {
      const from = endings.findIndex((ending) => ending.version === version && ending.epoch <= lastEpoch)
      return from < 0 ? undefined : endings.slice(from, Number(lastEpoch) + 1).map(signedLedgerInfo)
    },
  }
  return {
    engine,
    proofs,
    tree,
    close() {
      tree.close()
      rmSync(folder, { recursive: true })
    },
  }
}
