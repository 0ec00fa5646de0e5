// A ledger with a state signed by validators, and the tree of that state, for answers with proofs.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByteReader, ByteWriter, parseAddress, type Write } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { computeStateRoot, openStateTree, type StateTree, writeStateTree } from '@ledger-state/feed'
import { madeCheckpoint } from '@ledger-state/feed/testing/made-checkpoint'
import {
  type MadeValidator,
  madeEndings,
  signedLedgerInfo,
  validatorsOf,
  waypointHash,
} from '@ledger-state/feed/testing/synthetic-epochs'
import { ABILITY, type StructDefinition, writeModule } from '@ledger-state/move-module'
import { readLedgerInfo } from '@ledger-state/proof'
import { noteToAnnotation } from '@ledger-state/records'
import {
  moduleKey,
  parseStructTag,
  resourceGroupKey,
  resourceKey,
  tableItemKey,
  writeStructTag,
} from '@ledger-state/type-tag'
import type { StateProofs } from '../src/operations/parts/state-proofs.ts'

export const HOME = parseAddress('0xcafe')
/** Address with resources and without an account, so that all of them can be listed. */
const LISTED = parseAddress('0xfeed')
export const TABLE = parseAddress('0x7ab1e')
/** The epoch of the signers, and the versions of the checkpoint and of its ledger info. */
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
export const GAME = writeModule({ version: 7, address: HOME, name: 'game', structs })

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

/** Features with default accounts (number 91) switched on. */
export const DEFAULT_ACCOUNTS_ON: Write = [
  resourceKey(parseAddress('0x1'), parseStructTag('0x1::features::Features')),
  new ByteWriter().byteString(Uint8Array.from({ length: 12 }, (_, at) => (at === 11 ? 8 : 0))).toBytes(),
]

const key = (number: bigint) => new ByteWriter().u64(number).toBytes()
const writes: Write[] = [
  [moduleKey(HOME, 'game'), GAME],
  [resourceKey(HOME, parseStructTag('0xcafe::game::Score')), pair(3n, 4n), annotation],
  [resourceGroupKey(HOME, parseStructTag(GROUP)), groupOf([['0xcafe::game::Member', pair(5n, 6n)]])],
  [resourceKey(HOME, parseStructTag('0x1::account::Account')), accountBytes],
  [resourceKey(LISTED, parseStructTag('0xcafe::game::Score')), pair(3n, 4n)],
  [resourceGroupKey(LISTED, parseStructTag(GROUP)), groupOf([['0xcafe::game::Member', pair(5n, 6n)]])],
  ...Array.from({ length: 20 }, (_, at): Write => {
    return [tableItemKey(TABLE, key(BigInt(at))), pair(BigInt(at), 9n), at % 2 === 0 ? annotation : undefined] as Write
  }),
]

const endings = madeEndings(EPOCH)
/** The waypoint of an epoch change. */
export function waypointOf(epoch: number): string {
  return `${endings[epoch]!.version}:${waypointHash(endings[epoch]!)}`
}

export interface ProvenLedger {
  readonly engine: ReturnType<typeof createMemoryEngine>
  readonly proofs: StateProofs
  readonly tree: StateTree
  close(): void
}

/** Signers of the epoch changes and of the checkpoint. */
export interface SignedEpochs {
  /** Signed epoch changes since genesis. */
  readonly endings: readonly Uint8Array[]
  /** The validators of the epoch after them. */
  readonly validators: readonly MadeValidator[]
  readonly signers: readonly MadeValidator[]
  readonly checkpoint: bigint
  /** Writes in addition to the writes of every such ledger. */
  readonly further: readonly Write[]
}

/** Four epochs, signed by all four validators. */
const FOUR_EPOCHS: SignedEpochs = {
  get endings() {
    return endings.map(signedLedgerInfo)
  },
  validators: VALIDATORS,
  signers: VALIDATORS,
  checkpoint: CHECKPOINT,
  further: [],
}

/**
 * Creates the ledger.
 * @param signed by default four epochs, all signed by their four validators
 */
export async function createProvenLedger(signed: Partial<SignedEpochs> = {}): Promise<ProvenLedger> {
  const { endings: signedEndings, validators, signers, checkpoint: version, further } = { ...FOUR_EPOCHS, ...signed }
  const epoch = BigInt(signedEndings.length)
  const ends = signedEndings.map((bytes) => readLedgerInfo(new ByteReader(bytes)).version)
  const block = { height: 0n, epoch, timestampUsec: 5n }
  const engine = createMemoryEngine()
  await engine.commit([{ version, block, writes: [...writes, ...further] }], { chainId: 4n })
  const folder = mkdtempSync(join(tmpdir(), 'proven-'))
  const pages = () => [[...engine.at().scan(new Uint8Array(0))]]
  const { root: stateRoot } = await computeStateRoot(pages(), { spillFolder: folder, threads: 0 })
  const checkpoint = madeCheckpoint({
    version,
    end: version + (END - CHECKPOINT),
    stateRoot,
    epoch,
    nextEpoch: undefined,
    validators,
    signers,
  })
  await writeStateTree(pages(), { folder, checkpoint, threads: 0 })
  const tree = openStateTree(folder, version)!
  const next = { ...block, height: 1n }
  await engine.commit([{ version: version + 1n, block: next, writes: [] }], { chainId: 4n })
  const proofs: StateProofs = {
    hashSalt: tree.hashSalt,
    versions: [version],
    at: (asked) => (asked === version ? tree : undefined),
    async endings({ version: first = ends[0], lastEpoch, maxBytes }) {
      const from = ends.findIndex((end, at) => end === first && at <= lastEpoch)
      let bytes = 0
      const fits = ({ length }: Uint8Array, at: number) => {
        const isFirst = at === 0
        const hasRoom = bytes <= maxBytes
        bytes += length
        return isFirst || hasRoom
      }
      return from < 0 ? undefined : signedEndings.slice(from, Number(lastEpoch) + 1).filter(fits)
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
