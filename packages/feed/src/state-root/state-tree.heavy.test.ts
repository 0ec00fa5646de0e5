import { Buffer } from 'node:buffer'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyedEntry } from '@ledger-state/core'
import { checkStateProof, LedgerHasher, type StateProof } from '@ledger-state/proof'
import { annotationToNote, STATE_ROOT_KEY } from '@ledger-state/records'
import { encodeStateValue } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { madeCheckpoint } from '../../testing/made-checkpoint.js'
import { validatorsOf } from '../../testing/synthetic-epochs.js'
import { computeStateRoot } from './state-root.js'
import { openStateTree, type StateTree } from './state-tree.js'
import { listStateTrees, removeOldTrees } from './tree-files.js'
import { writeStateTree } from './write-state-tree.js'

const hasher = new LedgerHasher()
const root = mkdtempSync(join(tmpdir(), 'trees-'))
afterAll(() => rmSync(root, { recursive: true }))

let folders = 0
function makeFolder(): string {
  const folder = join(root, String(folders++))
  mkdirSync(folder)
  return folder
}

function entryOf(text: string, length = 20): KeyedEntry {
  return { key: Buffer.from(`key ${text}`), version: 0n, value: Buffer.alloc(length, text) }
}

const manyEntries = (count: number) => Array.from({ length: count }, (_, at) => entryOf(String(at), at % 300))

const [epoch, version] = [3, 9n]
const validators = validatorsOf(epoch)

async function checkpointOf(entries: readonly KeyedEntry[], at = version) {
  const { root: stateRoot } = await computeStateRoot([entries], { spillFolder: root, threads: 0 })
  return madeCheckpoint({
    version: at,
    end: at + 4n,
    stateRoot,
    epoch: BigInt(epoch),
    nextEpoch: undefined,
    validators,
    signers: validators,
  })
}

async function treeOf(entries: readonly KeyedEntry[], folder = makeFolder(), threads = 0): Promise<StateTree> {
  const checkpoint = await checkpointOf(entries)
  const written = await writeStateTree([entries], { folder, checkpoint, threads })
  expect(written).toMatchObject({ keys: entries.length, bytes: statSync(written.path).size })
  return openStateTree(folder, version)!
}

function proofOf(tree: StateTree, key: Uint8Array, entry: KeyedEntry | undefined): StateProof {
  const stateValue =
    entry && encodeStateValue({ value: entry.value, metadata: annotationToNote(entry.annotation).metadata })
  return { stateKey: key, stateValue, path: tree.pathOf(key), checkpoint: tree.checkpoint, epochEndings: [] }
}

describe('a state tree', () => {
  it('proves each key of any state, and the absence of others', async () => {
    const names = fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(names, names, async (some, others) => {
        const entries = some.map((text) => entryOf(text, text.length))
        const tree = await treeOf(entries)
        try {
          for (const entry of entries) checkStateProof(hasher, proofOf(tree, entry.key, entry))
          for (const text of others) {
            if (!some.includes(text)) checkStateProof(hasher, proofOf(tree, Buffer.from(`key ${text}`), undefined))
          }
        } finally {
          tree.close()
        }
      }),
      { numRuns: 40 },
    )
  })

  it.each([0, 2])('has paths through its kept nodes and below them, made by %i threads', async (threads) => {
    const folder = makeFolder()
    const entries = manyEntries(20_000)
    const tree = await treeOf(entries, folder, threads)
    for (let at = 0; at < entries.length; at += 97) {
      checkStateProof(hasher, proofOf(tree, entries[at]!.key, entries[at]!))
      checkStateProof(hasher, proofOf(tree, Buffer.from(`no key ${at}`), undefined))
    }
    tree.close()
    expect(readdirSync(folder)).toEqual([`state-tree-${version}`])
  })

  it('leaves out keys of the store itself, and takes the place of the tree before', async () => {
    const folder = makeFolder()
    const entries = manyEntries(30)
    const own = { key: STATE_ROOT_KEY, version: 0n, value: Buffer.alloc(32) }
    const checkpoint = await checkpointOf(entries)
    await writeStateTree([entries], { folder, checkpoint, threads: 0 })
    const before = openStateTree(folder, version)!
    const written = await writeStateTree([[own, ...entries]], { folder, checkpoint, threads: 0 })
    expect(written.keys).toBe(30)
    checkStateProof(hasher, proofOf(before, entries[3]!.key, entries[3]))
    before.close()
    expect(listStateTrees(folder)).toEqual([version])
  })

  it('is not written of any state but its checkpoint', async () => {
    const folder = makeFolder()
    const checkpoint = await checkpointOf(manyEntries(30))
    const work = writeStateTree([manyEntries(29)], { folder, checkpoint, threads: 0 })
    await expect(work).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringMatching(
        /^the state root of version 9 is [0-9a-f]{64}, but the data hashes to [0-9a-f]{64}/,
      ),
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it('says which folder cannot be written', async () => {
    const folder = join(root, 'not there')
    const work = writeStateTree([manyEntries(3)], {
      folder,
      checkpoint: await checkpointOf(manyEntries(3)),
      threads: 0,
    })
    await expect(work).rejects.toMatchObject({ code: 'spill_failed', message: expect.stringContaining(folder) })
  })

  it('removes all but the newest trees', async () => {
    const folder = makeFolder()
    for (const at of [3n, 12n, 7n]) {
      await writeStateTree([manyEntries(5)], {
        folder,
        checkpoint: await checkpointOf(manyEntries(5), at),
        threads: 0,
      })
    }
    expect(listStateTrees(folder)).toEqual([12n, 7n, 3n])
    removeOldTrees(folder, 2)
    expect(listStateTrees(folder)).toEqual([12n, 7n])
    expect(openStateTree(folder, 3n)).toBeUndefined()
  })

  it('never answers with a path that leads elsewhere, whatever byte of its file is damaged', async () => {
    const folder = makeFolder()
    const entries = manyEntries(40)
    const tree = await treeOf(entries, folder)
    const proofs = entries.map((entry) => proofOf(tree, entry.key, entry))
    tree.close()
    const path = join(folder, `state-tree-${version}`)
    const sound = readFileSync(path)
    fc.assert(
      fc.property(fc.nat(sound.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const damaged = Buffer.from(sound)
        damaged[place]! ^= change
        writeFileSync(path, damaged)
        try {
          const opened = openStateTree(folder, version)!
          try {
            for (const [at, entry] of entries.entries()) expect(opened.pathOf(entry.key)).toEqual(proofs[at]!.path)
          } finally {
            opened.close()
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'state_tree_damaged' })
        }
      }),
      { numRuns: 300 },
    )
    writeFileSync(path, sound)
    truncateSync(path, sound.length - 1)
    expect(() => openStateTree(folder, version)).toThrow(/state-tree-9 cannot be used: its length is another/)
  })
})
