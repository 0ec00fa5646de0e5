import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Write } from '@ledger-state/core'
import type { ContractEngine } from './contract-engine.js'
import {
  block,
  bytes,
  CHAIN,
  type ContractCase,
  collect,
  contractCase,
  EMPTY,
  fails,
  inTurn,
  version,
} from './support.js'

const K = bytes('k')
const SHORT = Uint8Array.of(7)
const LONGEST = new Uint8Array(31).fill(0xff)

/** Values with and without annotations: short ones, large ones, and ones that end like an annotation. */
const VALUES: readonly (readonly [Uint8Array | null, Uint8Array?])[] = [
  [bytes('plain')],
  [bytes('noted'), SHORT],
  [EMPTY, LONGEST],
  [EMPTY],
  [Uint8Array.of(1, 0xe0)],
  [Uint8Array.of(0xff), SHORT],
  [Uint8Array.of(0xff, 0xff, 0xff)],
  [null],
  [new Uint8Array(3_000).fill(9), SHORT],
  [new Uint8Array(200_000).fill(0xe3), LONGEST],
  [new Uint8Array(70_000).fill(0xff)],
  [bytes('last'), SHORT],
]

function versionOf(number: bigint, value: Uint8Array | null, annotation?: Uint8Array) {
  return version(number, annotation ? [K, value, annotation] : [K, value])
}

interface Noted {
  readonly value: Uint8Array | null
  readonly annotation?: Uint8Array | undefined
}

/** A short text for bytes: `node:assert` takes 24 GB to show how arrays of 200,000 elements differ. */
function digest(bytes: Uint8Array): string {
  return `${bytes.length} bytes, ${createHash('sha256').update(bytes).digest('hex')}`
}

function plain({ value, annotation }: Noted) {
  return [value && digest(value), annotation && digest(annotation)]
}

const EXPECTED = VALUES.map(([value, annotation]) => plain({ value, annotation }))

async function expectValues(engine: ContractEngine): Promise<void> {
  for (const [at, [value, annotation]] of VALUES.entries()) {
    const view = await engine.at(BigInt(at))
    const entry = await view.getEntry(K)
    const [scanned] = await collect(view.scan(EMPTY))
    const got = [await view.get(K), await view.peek(K), (await view.getMany([K]))[0]]
    for (const one of got) assert.equal(one && digest(one), value ? digest(value) : undefined)
    for (const one of [entry, scanned])
      assert.deepEqual(one && plain(one), value ? plain({ value, annotation }) : undefined)
  }
  assert.deepEqual((await collect(engine.history(K, { order: 'asc' }))).map(plain), EXPECTED)
  const listed = await collect(engine.versions(1n, BigInt(VALUES.length - 1)))
  assert.deepEqual(
    listed.flatMap(({ writes }) => writes.map(([, value, annotation]) => plain({ value, annotation }))),
    EXPECTED.slice(1),
  )
}

export const ANNOTATION_CASES: readonly ContractCase[] = [
  contractCase('keeps the annotation of each value, in one commit and in many', async (engine, reopen) => {
    const versions = VALUES.map(([value, annotation], at) => versionOf(BigInt(at), value, annotation))
    await engine.commit(versions.slice(0, 5), CHAIN)
    for (const one of versions.slice(5)) await engine.commit([one], CHAIN)
    await expectValues(engine)
    await expectValues(await reopen())
  }),

  contractCase('keeps the annotations of an imported state, and of later commits', async (engine) => {
    const state = await engine.beginImport(0n)
    const entries = VALUES.flatMap(([value, annotation], at) => {
      return value ? [{ key: bytes(`key ${at}`), version: 0n, value, ...(annotation && { annotation }) }] : []
    })
    await state.add(entries)
    await state.finish({ ...CHAIN, block: block(0n) })
    const read = async () =>
      await inTurn(entries, async ({ key }) => plain((await (await engine.at(0n)).getEntry(key))!))
    assert.deepEqual(await read(), entries.map(plain))
    await engine.commit([version(1n, ...entries.map(({ key }): Write => [key, SHORT, LONGEST]))], CHAIN)
    assert.deepEqual(await read(), entries.map(plain))
    assert.deepEqual(plain((await (await engine.at()).getEntry(bytes('key 0')))!), [digest(SHORT), digest(LONGEST)])
  }),

  contractCase('keeps annotations through prunes and truncations', async (engine) => {
    await engine.commit(
      VALUES.map(([value, annotation], at) => versionOf(BigInt(at), value, annotation)),
      CHAIN,
    )
    await engine.prune(4n)
    await engine.truncateTo(9n)
    const entry = await (await engine.at(8n)).getEntry(K)
    assert.deepEqual(entry && plain(entry), EXPECTED[8])
    assert.deepEqual((await collect(engine.history(K, { order: 'asc' }))).map(plain), EXPECTED.slice(8, 10))
  }),

  contractCase(
    'refuses annotations of no bytes, of more than 31, of another type, and of deletions',
    async (engine) => {
      const wrong: readonly (readonly unknown[])[] = [
        [K, SHORT, EMPTY],
        [K, SHORT, new Uint8Array(32)],
        [K, SHORT, 'text'],
        [K, null, SHORT],
      ]
      for (const write of wrong) {
        await fails(
          'invalid_argument',
          () => engine.commit([version(0n, write as unknown as Write)], CHAIN),
          /annotation/,
        )
      }
      const state = await engine.beginImport(0n)
      const entry = { key: K, version: 0n, value: SHORT, annotation: EMPTY }
      await fails('invalid_argument', () => state.add([entry]), /annotation/)
    },
  ),
]
